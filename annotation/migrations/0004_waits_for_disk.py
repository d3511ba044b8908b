"""A build may wait for room on the disk."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("annotation", "0003_one_canary")]

    operations = [
        migrations.AlterField(
            model_name="build",
            name="waits_for",
            field=models.CharField(
                choices=[("provider", "Provider"), ("sandbox", "Sandbox"), ("disk", "Disk")],
                default="provider",
                max_length=8,
            ),
        ),
    ]
