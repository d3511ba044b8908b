"""What commands that come and go have in common: they start soon, and say in words what is wrong."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, Final

from django.core.management.base import CommandError

from retrieval.management.failures import PlainCommand
from retrieval.management.memory_limit import OutOfMemory, bound_import_memory

REFUSED_STATUS: Final = 3
"""The exit status of an import that refused a record and stored the others; 1: it did nothing."""


class LightCommand(PlainCommand):
    """Checks the settings alone before it starts.

    Django's other checks look at the code, and load every page and the API for that: `serve`, `work`, `demo`
    and `check` perform them.
    """

    requires_system_checks = ["cosqa"]
    refusals: tuple[type[Exception], ...] = ()
    """Errors that say what is wrong: people see their message alone."""
    reads_foreign_files = False
    """Whether the command reads files of others, and so runs within COSQA_IMPORT_MB of memory."""

    def execute_quietly(self, *args: Any, **options: Any) -> Any:
        try:
            with bound_import_memory() if self.reads_foreign_files else nullcontext():
                return super().execute_quietly(*args, **options)
        except OutOfMemory as why:
            raise CommandError(str(why)) from why
        except self.refusals as why:
            raise CommandError(str(why)) from why
