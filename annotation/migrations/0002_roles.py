"""The three roles as groups, there from the start, so that an admin can assign them."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

ROLES = ("reader", "expert", "admin")


def make(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    for name in ROLES:
        apps.get_model("auth", "Group").objects.get_or_create(name=name)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_initial"), ("auth", "0012_alter_user_first_name_max_length")]

    operations = [migrations.RunPython(make, migrations.RunPython.noop)]
