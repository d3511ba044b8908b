from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def name_the_policy(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """What was withheld until now is what the careful policy withholds."""
    jobs = apps.get_model("retrieval", "ExportJob")._default_manager.using(editor.connection.alias)
    jobs.filter(by_licence=True).update(withhold="unknown")


def forget_the_policy(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    jobs = apps.get_model("retrieval", "ExportJob")._default_manager.using(editor.connection.alias)
    jobs.exclude(withhold="none").update(by_licence=True)


class Migration(migrations.Migration):
    dependencies = [
        ("retrieval", "0014_pins_of_corpora_and_what_servers_were_asked"),
    ]

    operations = [
        migrations.RenameField("exportjob", "withhold", "by_licence"),
        migrations.AddField(
            model_name="exportjob",
            name="withhold",
            field=models.CharField(
                default="none", help_text="by which policy snippets are origin and hash alone", max_length=12
            ),
        ),
        migrations.RunPython(name_the_policy, forget_the_policy),
        migrations.RemoveField("exportjob", "by_licence"),
    ]
