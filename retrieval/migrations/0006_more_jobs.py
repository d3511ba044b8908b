"""Trainings, comparisons with training data and proofs of distractors are jobs."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("retrieval", "0005_testable_by_call"),
    ]

    operations = [
        migrations.AlterField(
            model_name="job",
            name="kind",
            field=models.CharField(
                choices=[
                    ("import", "Import"),
                    ("filter", "Filter"),
                    ("export", "Export"),
                    ("run", "score a run"),
                    ("score", "search and figures"),
                    ("reproduce", "Reproduce"),
                    ("publish", "Publish"),
                    ("leaks", "compare with training data"),
                    ("train", "Train"),
                    ("bugs", "prove distractors"),
                ],
                max_length=9,
            ),
        ),
    ]
