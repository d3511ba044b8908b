import django.utils.timezone
from django.db import migrations, models
from django.db.models import F


def take_creation(apps, schema_editor):
    """When lists came again was not noted so far."""
    apps.get_model("retrieval", "Run").objects.update(scored_at=F("created_at"))


class Migration(migrations.Migration):
    dependencies = [("retrieval", "0028_goes_on_from")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="scored_at",
            field=models.DateTimeField(
                default=django.utils.timezone.now,
                help_text="when its lists came last; of several runs of a system the last one stands",
            ),
        ),
        migrations.RunPython(take_creation, migrations.RunPython.noop),
    ]
