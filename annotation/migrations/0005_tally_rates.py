"""How many programs ran, asserted and touched, in the totals of a build."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0004_sandbox_check"),
    ]

    operations = [
        migrations.AddField(
            model_name="tally",
            name="asserted",
            field=models.PositiveIntegerField(default=0, help_text="of them, those that evaluated one"),
        ),
        migrations.AddField(
            model_name="tally",
            name="touched",
            field=models.PositiveIntegerField(
                default=0, help_text="of them, those that tested the candidate"
            ),
        ),
    ]
