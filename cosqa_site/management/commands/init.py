"""`cosqa init`: a data folder with a database and an admin, and what is missing on this machine."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.core.management.base import CommandParser
from django.db.models import Q

from annotation.accounts.roles import Role
from annotation.builds.launch.provider_key import configured_key, name_key_variables
from cosqa_site.service.sandbox_advice import find_missing_sandbox
from retrieval.management.light import LightCommand

NO_KEY: Final = "No key of a model ({}): builds write requests as files, see 'cosqa exchange --help'."


class Command(LightCommand):
    help = "Make the data folder, its database and an admin, and say what is missing. Repeat it as you like."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--admin", default="admin", metavar="NAME", help="admin to make, if there is none (%(default)s)"
        )
        parser.add_argument("--json", action="store_true", help="print the result as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        name, password = ensure_admin(options["admin"])
        missing = [line for line in (find_missing_sandbox(), find_missing_key()) if line]
        found = {
            "home": str(settings.COSQA_HOME),
            "admin": name,
            "password": password,
            "missing": missing,
        }
        if options["json"]:
            self.stdout.write(json.dumps(found, ensure_ascii=False))
            return
        self.stdout.write(f"Data folder: {found['home']}")
        self.stdout.write(f"Admin: {name}, {describe_password(password)}")
        self.stdout.writelines(f"{line}\n" for line in missing)
        self.stdout.write("Next: 'cosqa serve', then log in at http://127.0.0.1:8000")


def ensure_admin(name: str) -> tuple[str, str | None]:
    """The name of an admin who can log in, and the password of one that was made here."""
    admins = User.objects.filter(Q(groups__name=Role.ADMIN) | Q(is_superuser=True), is_active=True)
    found = admins.order_by("pk").first()
    if found:
        return found.get_username(), None
    told = StringIO()
    call_command("account", name, role=Role.ADMIN.value, new_password=True, stdout=told, stderr=StringIO())
    [password] = [line.split()[1] for line in told.getvalue().splitlines() if line.startswith("password ")]
    return name, password


def describe_password(password: str | None) -> str:
    if password:
        return f"password {password} (write it down: it is not shown again)"
    return "with the password that was set before"


def find_missing_key() -> str:
    return "" if configured_key() else NO_KEY.format(name_key_variables())
