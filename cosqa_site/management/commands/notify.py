"""`manage.py notify test`: do messages arrive where they should?"""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.jobs import notifications
from retrieval.management.light import LightCommand


class Command(LightCommand):
    help = "Notifications: 'notify test' sends one on every way that is configured, and says what came of it."

    def add_arguments(self, parser: CommandParser) -> None:
        commands = parser.add_subparsers(dest="command", required=True)
        commands.add_parser(
            "test", help="send a test by e-mail and by command, as far as they are configured"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        found = notifications.send_test_notifications()
        if not found:
            raise CommandError("Nobody is notified: set COSQA_NOTIFY_EMAIL or COSQA_NOTIFY_COMMAND.")
        for way, error in found.items():
            self.stdout.write(f"{way}: {error or 'sent'}")
        if any(found.values()):
            raise CommandError("Not every way works; see above.")
