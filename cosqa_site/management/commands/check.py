"""Django's `check` with one more tag: `--tag health` looks at what is reached at run time."""

from __future__ import annotations

import logging
from contextlib import nullcontext
from typing import Any

from django.core import checks
from django.core.management.base import CommandParser
from django.core.management.commands import check

from cosqa_site import health
from retrieval.management.failures import PartlyDone, PlainCommand, add_json_option


class Command(PlainCommand, check.Command):
    help = (
        "Checks the settings; with '--tag health' also what is reached at run time: database, broker, "
        "sandbox, keys of live builds, weights of waiting minings."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.epilog = "Health checks start a sandbox and ask the database, so they run only when asked for."
        add_json_option(parser)

    def handle(self, *app_labels: Any, **options: Any) -> None:
        asked = health.TAG in (options["tags"] or ()) or options["list_tags"]
        with health.register_health_checks() if asked else nullcontext():
            super().handle(*app_labels, **options)

    def check(self, *args: Any, **options: Any) -> None:
        """As Django does; with `--json` every message is an entry. Raises SystemCheckError, or PartlyDone."""
        if not self.is_for_programs:
            super().check(*args, **options)
            return
        wanted = ("app_configs", "tags", "include_deployment_checks", "databases")
        asked: dict[str, Any] = {name: options[name] for name in wanted if options.get(name)}
        found = checks.run_checks(**asked)
        shown = [message for message in found if not message.is_silenced()]
        facts = {"messages": [message_facts(message) for message in shown]}
        serious = [
            message for message in shown if message.is_serious(options.get("fail_level", checks.ERROR))
        ]
        if serious:
            raise PartlyDone("; ".join(message.msg for message in serious), facts, 1)
        self.print_json(facts)


def message_facts(message: checks.CheckMessage) -> dict[str, Any]:
    level = logging.getLevelName(message.level).lower()
    return {"level": level, "id": message.id, "message": message.msg, "hint": message.hint}
