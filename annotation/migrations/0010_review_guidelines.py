"""A build may have guidelines for its reviewers."""

from typing import ClassVar

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies: ClassVar = [("annotation", "0009_worklists")]

    operations: ClassVar = [
        migrations.AddField(
            model_name="build",
            name="guideline",
            field=models.ForeignKey(
                blank=True,
                help_text="what its reviewers read; empty: the published rule",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="builds",
                to="annotation.guideline",
            ),
        ),
    ]
