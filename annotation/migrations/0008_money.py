"""The estimate that a build was launched on."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0007_limiter"),
    ]

    operations = [
        migrations.AddField(
            model_name="build",
            name="estimate",
            field=models.JSONField(
                blank=True,
                help_text="what it was expected to take when somebody confirmed its launch",
                null=True,
            ),
        ),
    ]
