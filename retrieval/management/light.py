"""What commands that come and go have in common: they start soon, and say in words what is wrong."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError


class LightCommand(BaseCommand):
    """Checks the settings alone before it starts.

    Django's other checks look at the code, and load every page and the API for that: `serve`, `work`, `demo`
    and `check` perform them.
    """

    requires_system_checks = ["cosqa"]
    refusals: tuple[type[Exception], ...] = ()
    """Errors that say what is wrong: people see their message alone."""

    def execute(self, *args: Any, **options: Any) -> Any:
        try:
            return super().execute(*args, **options)
        except self.refusals as why:
            raise CommandError(str(why)) from why
