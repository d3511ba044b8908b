"""How many lines of a test touch its function is a column of its run, so that lists can ask for it."""

from django.db import migrations, models

from annotation.models.executions.programs import count_touching_lines


def count(apps, schema_editor):
    count_touching_lines()


class Migration(migrations.Migration):
    dependencies = [("annotation", "0014_cause_words")]

    operations = [
        migrations.AddField(
            model_name="execution",
            name="touching_lines",
            field=models.PositiveIntegerField(
                help_text="lines of the program with an assertion that touched the candidate", null=True
            ),
        ),
        migrations.RunPython(count, migrations.RunPython.noop),
    ]
