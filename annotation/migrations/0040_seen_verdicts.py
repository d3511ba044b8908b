"""Whether agents' verdicts were seen, or their test alone."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Exists, OuterRef


def tests_alone(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Whoever still rates with the agents' tests was shown nothing more: all else is closed to them."""
    handed = apps.get_model("annotation", "Assignment").objects.filter(
        rater=OuterRef("user"),
        study_pair__pair=OuterRef("pair"),
        condition__kind="agents_tests",
        enrolment__finished_at=None,
    )
    apps.get_model("annotation", "Seen").objects.filter(Exists(handed)).update(verdict=False)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0038_extension_canary")]

    operations = [
        migrations.AddField(
            model_name="seen",
            name="verdict",
            field=models.BooleanField(
                db_default=True,
                default=True,
                help_text="false: the agents' test alone, as the condition agent's tests shows it",
            ),
        ),
        migrations.RunPython(tests_alone, migrations.RunPython.noop),
    ]
