"""The estimate that a build was launched on; where shipped prices were read; the money of all live builds together, and their common cap."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models import Sum


def sum_up(apps, schema_editor):
    """Live builds have spent already: the one row begins with their sum."""
    gone = apps.get_model("annotation", "Tally").objects.filter(build__provider="live")
    sums = gone.aggregate(reserved=Sum("reserved", default=0), spent=Sum("spent", default=0))
    apps.get_model("annotation", "ProjectTally").objects.create(pk=1, **sums)


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0007_limiter"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="build",
            name="estimate",
            field=models.JSONField(
                blank=True,
                help_text="what it was expected to take when somebody confirmed its launch",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="price",
            name="source",
            field=models.CharField(
                blank=True,
                help_text="where a shipped price was read; empty = a person entered it",
                max_length=200,
            ),
        ),
        migrations.CreateModel(
            name="ProjectTally",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("cap", models.PositiveBigIntegerField(help_text="nanodollars; null = no cap", null=True)),
                ("reserved", models.PositiveBigIntegerField(default=0, help_text="nanodollars")),
                ("spent", models.PositiveBigIntegerField(default=0, help_text="nanodollars")),
            ],
        ),
        migrations.CreateModel(
            name="ProjectCapChange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("before", models.PositiveBigIntegerField(help_text="nanodollars; null = no cap", null=True)),
                ("after", models.PositiveBigIntegerField(help_text="nanodollars; null = no cap", null=True)),
                ("why", models.TextField()),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "user",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"ordering": ["-at", "-id"]},
        ),
        migrations.RunPython(sum_up, migrations.RunPython.noop),
    ]
