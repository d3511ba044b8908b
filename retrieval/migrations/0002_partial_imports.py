from typing import ClassVar

from django.db import migrations, models

STATES = [
    ("columns", "choose columns"),
    ("waiting", "Waiting"),
    ("running", "Running"),
    ("done", "Done"),
    ("partial", "done in part"),
    ("failed", "Failed"),
    ("cancelled", "Cancelled"),
]
NOTES = "what people must know of its labels; mostly empty"


class Migration(migrations.Migration):
    """An import may end in part, and a benchmark says which labels it may lack."""

    dependencies: ClassVar = [("retrieval", "0001_initial")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="benchmark",
            name="notes",
            field=models.TextField(blank=True, db_default="", default="", help_text=NOTES),
        ),
        migrations.AlterField(
            model_name="job",
            name="state",
            field=models.CharField(choices=STATES, default="waiting", max_length=9),
        ),
    ]
