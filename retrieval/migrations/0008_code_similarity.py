from typing import ClassVar

from django.db import migrations, models

KINDS = [
    ("original", "original data"),
    ("agents", "test-driven agents"),
    ("single_llm", "single LLM"),
    ("person", "person"),
    ("merge", "merge"),
    ("similarity", "code similarity"),
]
JOBS = [
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
    ("similar", "compare with answers"),
]


class Migration(migrations.Migration):
    """Code similarity is an annotator, and judging by it is a job."""

    dependencies: ClassVar = [("retrieval", "0007_distractors")]

    operations: ClassVar = [
        migrations.AlterField(
            model_name="annotator",
            name="kind",
            field=models.CharField(choices=KINDS, max_length=10),
        ),
        migrations.AlterField(
            model_name="job", name="kind", field=models.CharField(choices=JOBS, max_length=9)
        ),
    ]
