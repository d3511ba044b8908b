"""Whoever launches from the command line what is paid sees what it may take, and agrees."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.models import Build


def add_argument(parser: CommandParser) -> None:
    parser.add_argument("--yes", action="store_true", help="do not ask whether a paid launch is meant")


def require_launch_agreement(provider: str, options: dict[str, Any]) -> None:
    """Ask whether what was just shown shall be launched. Raises CommandError where it shall not.

    What is free is not asked about; where nobody can answer, --yes has to say it.
    """
    if provider != Build.Provider.LIVE or options["yes"]:
        return
    if not sys.stdin.isatty():
        raise CommandError("This may cost what is told above. Nothing was launched; --yes launches it.")
    if input("Launch it? [y/N] ").strip().lower() not in {"y", "yes"}:
        raise CommandError("Nothing was launched.")
