from django.db import migrations, models
from django.db.models import Exists, OuterRef


def take_reviews(apps, schema_editor):
    """What experts have said so far: the last revision of each, unless it took the label back."""
    reviews = apps.get_model("annotation", "Review").objects
    later = reviews.filter(supersedes=OuterRef("pk"))
    standing = reviews.filter(~Exists(later), withdrawn=False, label__isnull=False)
    other = standing.filter(pair=OuterRef("pair")).exclude(label=OuterRef("label"))
    cases = apps.get_model("annotation", "Case").objects.filter(label__isnull=False)
    cases.filter(Exists(other), pair__in=standing.order_by().values("pair")).update(contradicted=True)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0029_one_more_rater")]

    operations = [
        migrations.AddField(
            model_name="case",
            name="contradicted",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="an expert's label of the pair that stands is the other one",
            ),
        ),
        migrations.RunPython(take_reviews, migrations.RunPython.noop),
        *(
            migrations.AddIndex(
                model_name="case",
                index=models.Index(condition=models.Q(("contradicted", True)), fields=fields, name=name),
            )
            for name, fields in {
                "case_contradicted": ["build", "id"],
                "case_contradicted_by_rank": ["build", "rank", "id"],
                "case_contradicted_by_score": ["build", "score", "id"],
                "case_contradicted_by_time": ["build", "updated_at", "id"],
            }.items()
        ),
    ]
