"""`manage.py sandbox …`: what `python -m sandbox` does, with this installation's settings."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from annotation.jobs.providers import open_configured
from retrieval.management.light import LightCommand
from sandbox.__main__ import Machine, main
from sandbox.runner import Backend, Sandbox


class Installation(Machine):
    """The settings decide; an option names the backend at most."""

    def open(self, backend: Backend) -> Sandbox:
        """The configured sandbox. Raises SandboxUnavailable."""
        return open_configured(backend if backend != "auto" else None)


class Command(LightCommand):
    help = (
        "Run a program or a call, check what protects it, build the image, clear up: see 'sandbox -- --help'."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "arguments",
            nargs=argparse.REMAINDER,
            metavar="check|run|call|images|reap …",
            help="what is done, and of what",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        machine = Installation(settings.COSQA_HOME / "sandbox", settings.DOCKER_HOST)
        words = options["arguments"]
        status = main(words[words[:1] == ["--"] :], "cosqa admin sandbox", machine)
        if status:
            sys.exit(status)
