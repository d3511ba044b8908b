"""`manage.py token USER --name NAME`: bearer tokens for the API, printed once and stored as hashes."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from annotation.accounts.roles import role_of
from annotation.models import ApiToken
from annotation.studies.audit_log import Verb, append_audit_event
from retrieval.management.light import LightCommand

MOST_DAYS: Final = 3650


class Command(LightCommand):
    help = "Make, list or withdraw bearer tokens for the API. A token has the rights of its user."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="name of the account whose tokens are meant")
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--name", help="make a token, and call it so; it is printed once")
        what.add_argument("--list", action="store_true", help="list the user's tokens")
        what.add_argument("--revoke", metavar="NAME", help="withdraw the tokens of this name")

        parser.add_argument(
            "--scope",
            choices=ApiToken.Scope.values,
            default=ApiToken.Scope.ALL.value,
            help="what a new token may: read, also rate, also review, or all that the account may (default)",
        )
        parser.add_argument(
            "--days",
            type=int,
            help=f"how long a new token works (default COSQA_TOKEN_DAYS, {settings.TOKEN_DAYS})",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["user"]).first()
        if user is None:
            raise CommandError(f"There is no account {options['user']!r}; 'cosqa admin account' makes one.")
        if options["list"]:
            self.list(user)
        elif options["revoke"] is not None:
            self.revoke(user, options["revoke"])
        else:
            self.make(user, options["name"], options["days"], options["scope"])

    def make(self, user: User, name: str, days: int | None, scope: str) -> None:
        longest = ApiToken._meta.get_field("name").max_length or 0
        if not 0 < len(name) <= longest:
            raise CommandError(f"--name takes 1 to {longest} characters.")
        if days is not None and not 0 < days <= MOST_DAYS:
            raise CommandError(f"--days takes 1 to {MOST_DAYS}.")
        if role_of(user) is None:
            raise CommandError(
                f"{user} has no role, so the token would be refused: 'cosqa admin account {user} --role …'."
            )
        with transaction.atomic():
            token, secret = ApiToken.objects.issue(user, name, days, scope)
            append_audit_event(None, Verb.TOKEN_MADE, f"token {name} of {user}")
        self.stdout.write(secret)
        self.stderr.write("Send it as 'Authorization: Bearer …'. It is shown only this once.")
        self.stderr.write(
            f"It works until {token.expires_at:%Y-%m-%d %H:%M} UTC, or until the password changes."
        )

    def list(self, user: User) -> None:
        tokens = ApiToken.objects.filter(user=user).order_by("pk")
        if not tokens:
            self.stderr.write(f"{user} has no tokens.", str)
        for token in tokens:
            used = f"{token.last_used_at:%Y-%m-%d %H:%M}" if token.last_used_at else "never"
            ends = "expired" if token.expires_at <= timezone.now() else "works until"
            self.stdout.write(
                f"{token.name}  made {token.created_at:%Y-%m-%d %H:%M}  last used {used}  "
                f"{ends} {token.expires_at:%Y-%m-%d %H:%M}  may {token.get_scope_display()}"
            )

    def revoke(self, user: User, name: str) -> None:
        with transaction.atomic():
            gone, _ = ApiToken.objects.filter(user=user, name=name).delete()
            if gone:
                append_audit_event(None, Verb.TOKEN_WITHDRAWN, f"token {name} of {user}")
        if not gone:
            raise CommandError(f"{user} has no token called {name!r}; '--list' shows what there is.")
        self.stdout.write(f"withdrew {gone}")
