from typing import ClassVar

from django.db import migrations, models

KINDS = [
    ("import", "Import"),
    ("filter", "Filter"),
    ("export", "Export"),
    ("run", "score a run"),
    ("score", "search and figures"),
    ("reproduce", "Reproduce"),
    ("publish", "Publish"),
    ("leaks", "compare with training data"),
]


class Migration(migrations.Migration):
    """A benchmark may be compared with a collection that a system was trained on."""

    dependencies: ClassVar = [("retrieval", "0005_testable_by_call")]

    operations: ClassVar = [
        migrations.AlterField(
            model_name="job", name="kind", field=models.CharField(choices=KINDS, max_length=9)
        ),
    ]
