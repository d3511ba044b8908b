from typing import ClassVar

from django.db import migrations, models

OUTCOMES = [
    "passed",
    "failed",
    "errored",
    "untested",
    "unproven",
    "not_applicable",
    "timed_out",
    "out_of_memory",
    "output_overflow",
    "dependency_refused",
    "unavailable",
]


class Migration(migrations.Migration):
    """An execution may end unproven; the column stays as it is."""

    dependencies: ClassVar = [("annotation", "0001_initial")]

    operations: ClassVar = [
        migrations.AlterField(
            model_name="execution",
            name="outcome",
            field=models.CharField(choices=[(name, name) for name in OUTCOMES], max_length=20),
        ),
    ]
