"""Which browser window a draft of plain review is of, as those of ratings say it."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0042_connection_test_bound")]

    operations = [
        migrations.AddField(
            model_name="draft",
            name="window",
            field=models.CharField(
                blank=True, db_default="", default="", max_length=40, help_text="of the browser that sent it"
            ),
        ),
    ]
