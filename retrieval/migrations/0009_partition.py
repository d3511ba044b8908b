from typing import ClassVar

from django.db import migrations, models


class Migration(migrations.Migration):
    """A member keeps the partition that its source has it in."""

    dependencies: ClassVar = [("retrieval", "0008_code_similarity")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="member",
            name="partition",
            field=models.CharField(
                blank=True,
                db_default="",
                help_text="train, valid or test, where the source says one",
                max_length=5,
            ),
        ),
    ]
