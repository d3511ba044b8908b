"""A child process that does not outlive the worker that started it.

A mining whose worker was killed is taken up anew by another one; the orphan must not store its candidates
beside that, nor replace those that cases were made of.
"""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from django.core.management.base import CommandParser


def add_argument(parser: CommandParser) -> None:
    parser.add_argument(
        "--end-with-parent", action="store_true", help="end when the standard input is closed (for workers)"
    )


def end_with_parent(options: dict[str, Any]) -> None:
    """Where `--end-with-parent` was given, end this process at once when its standard input closes."""
    if options["end_with_parent"]:
        threading.Thread(target=_wait, args=(sys.stdin.fileno(),), name="leash", daemon=True).start()


def _wait(descriptor: int) -> None:
    while os.read(descriptor, 1024):
        pass
    os._exit(1)  # not sys.exit: an open transaction is rolled back, whatever the other threads do
