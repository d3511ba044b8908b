"""`manage.py account NAME --role ROLE`: make an account or change it."""

from __future__ import annotations

import secrets
import sys
from typing import Any, Final

from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from annotation.accounts.roles import Role, give_role
from annotation.studies.audit_log import Verb, append_audit_event
from retrieval.management.light import LightCommand

CHANGED: Final = {
    "closed": "  closed: no login and no token works any more",
    "open": "  open: log in again and make new tokens",
    "unchanged": "",
}
"""What is printed about an account's state."""


class Command(LightCommand):
    help = "Make an account with a role, or change the role, the password or the state of one."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="with which it logs in; made where there is none")
        parser.add_argument("--role", choices=[role.value for role in Role], help="its only role from now on")
        parser.add_argument(
            "--password-stdin", action="store_true", help="read the password from the standard input"
        )
        parser.add_argument("--new-password", action="store_true", help="print a new random password")
        state = parser.add_mutually_exclusive_group()
        state.add_argument("--close", action="store_true", help="no login and no token works any more")
        state.add_argument("--open", action="store_true", help="let a closed account in again")

    def handle(self, *args: Any, **options: Any) -> None:
        with transaction.atomic():
            user = self.account(options["name"], options["role"])
            if options["role"]:
                give_role(user, Role(options["role"]))
            if options["close"] or options["open"]:
                user.is_active = options["open"]
            shown = self.set_password(user, options)
            user.save()
            state = "closed" if options["close"] else "open" if options["open"] else "unchanged"
            detail = {"role": options["role"], "state": state, "new_password": bool(shown)}
            append_audit_event(None, Verb.ACCOUNT_CHANGED, f"account {user}", detail=detail)
        self.stdout.write(f"{user}  role {options['role'] or 'unchanged'}{CHANGED[state]}")
        if options["new_password"]:
            self.stderr.write("Its sessions and tokens have ended.", str)
        if shown:
            self.stdout.write(f"password {shown}")

    def account(self, name: str, role: str | None) -> User:
        """The account called `name`; a new one needs a role."""
        found = User.objects.filter(username=name).first()
        if found:
            return found
        if role is None:
            raise CommandError(f"There is no account {name!r} yet; say which --role the new one has.")
        user = User(username=name)
        user.set_unusable_password()
        try:
            user.full_clean(exclude=["password"])
        except ValidationError as wrong:
            raise CommandError(f"The name {name!r} can't be used: {' '.join(wrong.messages)}") from wrong
        user.save()
        return user

    def set_password(self, user: User, options: dict[str, Any]) -> str:
        """Set the password that was given or a random one; returns it if it has to be shown."""
        if options["password_stdin"]:
            user.set_password(given_password(user))
            return ""
        if not options["new_password"] and user.has_usable_password():
            return ""
        password = secrets.token_urlsafe(12)
        user.set_password(password)
        return password


def given_password(user: User) -> str:
    """The first line of the standard input. Raises CommandError where it is too weak."""
    password = sys.stdin.readline().rstrip("\n")
    try:
        validate_password(password, user)
    except ValidationError as weak:
        raise CommandError(f"The password was refused: {' '.join(weak.messages)}") from weak
    return password
