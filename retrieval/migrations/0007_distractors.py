from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models

PAIR = "the query with the function that has the bug"


class Migration(migrations.Migration):
    """A benchmark may have matches with a planted bug that a test proved."""

    dependencies: ClassVar = [("retrieval", "0006_more_jobs")]

    operations: ClassVar = [
        migrations.CreateModel(
            name="Distractor",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(max_length=20)),
                ("line", models.PositiveIntegerField()),
                ("before", models.TextField()),
                ("after", models.TextField()),
                ("program", models.PositiveBigIntegerField(help_text="id of the test program")),
                ("source", models.TextField(help_text="the test program")),
                ("run", models.PositiveBigIntegerField(help_text="id of the run in which it failed")),
                (
                    "benchmark",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="distractors",
                        to="retrieval.benchmark",
                    ),
                ),
                (
                    "pair",
                    models.ForeignKey(
                        db_index=False,
                        help_text=PAIR,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="retrieval.pair",
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        db_index=False,
                        help_text="the match",
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="retrieval.text",
                    ),
                ),
            ],
            options={"ordering": ["benchmark", "id"]},
        ),
        migrations.AddConstraint(
            model_name="distractor",
            constraint=models.UniqueConstraint(fields=("benchmark", "pair"), name="distractor_once"),
        ),
    ]
