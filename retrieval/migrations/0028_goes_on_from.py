import django.db.models.deletion
from django.db import migrations, models
from django.db.models import OuterRef, Subquery


def take_versions(apps, schema_editor):
    """So far the next version had the labels of the one whose holes were filled."""
    benchmarks, holes = (apps.get_model("retrieval", name).objects for name in ("Benchmark", "Holes"))
    old = holes.filter(pk=OuterRef("holes")).values("run__benchmark")
    benchmarks.filter(holes__isnull=False).update(goes_on_from=Subquery(old))


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0027_filled_holes_and_score_jobs")]

    operations = [
        migrations.AddField(
            model_name="benchmark",
            name="goes_on_from",
            field=models.ForeignKey(
                help_text="the version whose labels it has beside those of the holes",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="retrieval.benchmark",
            ),
        ),
        migrations.RunPython(take_versions, migrations.RunPython.noop),
    ]
