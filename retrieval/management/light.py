"""What commands that come and go have in common: they start soon."""

from __future__ import annotations

from django.core.management.base import BaseCommand


class LightCommand(BaseCommand):
    """Checks the settings alone before it starts.

    Django's other checks look at the code, and load every page and the API for that: `serve`, `work`, `demo`
    and `check` perform them.
    """

    requires_system_checks = ["cosqa"]
