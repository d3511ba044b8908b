"""Django's `check` with one more tag: `--tag health` looks at what is reached at run time."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from django.core.management.base import CommandParser
from django.core.management.commands import check

from cosqa_site import health


class Command(check.Command):
    help = (
        "Checks the settings; with '--tag health' also what is reached at run time: database, broker, "
        "sandbox, keys of live builds, weights of waiting minings."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.epilog = "Health checks start a sandbox and ask the database, so they run only when asked for."

    def handle(self, *app_labels: Any, **options: Any) -> None:
        asked = health.TAG in (options["tags"] or ()) or options["list_tags"]
        with health.register_health_checks() if asked else nullcontext():
            super().handle(*app_labels, **options)
