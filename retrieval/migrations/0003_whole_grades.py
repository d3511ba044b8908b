from typing import ClassVar

from django.db import migrations, models

SCALES = [
    ("binary", "1 match, 0 no match"),
    ("half", "50 % match"),
    ("graded", "0 to 3, as in CodeSearchNet"),
    ("whole", "whole numbers, as in TREC qrels"),
]
OF_BENCHMARK = "which relevances there are; empty: published before it was noted"


class Migration(migrations.Migration):
    """Labels may be any whole numbers, and a benchmark says which scale it has."""

    dependencies: ClassVar = [("retrieval", "0002_partial_imports")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="benchmark",
            name="scale",
            field=models.CharField(
                blank=True, choices=SCALES, db_default="", default="", help_text=OF_BENCHMARK, max_length=8
            ),
        ),
        migrations.AlterField(
            model_name="label",
            name="scale",
            field=models.CharField(choices=SCALES, default="binary", max_length=8),
        ),
    ]
