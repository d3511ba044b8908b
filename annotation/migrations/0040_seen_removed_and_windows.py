"""Whether agents' verdicts were seen, or their test alone; which raters were removed by an admin;
which browser window a draft is of.
"""

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


def removed(apps: Apps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Until now the audit log alone told who was removed from who left; those left out of figures were."""
    enrolments = apps.get_model("annotation", "Enrolment").objects
    enrolments.filter(excluded=True).update(removed=True)
    for event in apps.get_model("annotation", "AuditEvent").objects.filter(verb="rater removed"):
        pseudonym = event.detail.get("pseudonym", "")
        gone = enrolments.filter(study=event.study, pseudonym=pseudonym, left_at__isnull=False)
        gone.update(removed=True)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0039_left_out")]

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
        migrations.AddField(
            model_name="enrolment",
            name="removed",
            field=models.BooleanField(
                db_default=False, default=False, help_text="let go by an admin: nothing more is taken"
            ),
        ),
        migrations.AddField(
            model_name="ratingdraft",
            name="window",
            field=models.CharField(
                blank=True, db_default="", default="", max_length=40, help_text="of the browser that sent it"
            ),
        ),
        migrations.RunPython(tests_alone, migrations.RunPython.noop),
        migrations.RunPython(removed, migrations.RunPython.noop),
    ]
