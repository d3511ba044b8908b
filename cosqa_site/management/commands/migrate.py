"""Django's `migrate`, which makes the tables of a new database at once."""

from __future__ import annotations

from typing import Any

from django.core.management.commands import migrate

from cosqa_site.service.new_database import make_tables_at_once


class Command(migrate.Command):
    help = "Brings the database up to date. A start of the server, and most commands, do this by themselves."

    def handle(self, *args: Any, **options: Any) -> None:
        asked = ("app_label", "plan", "check_unapplied", "fake", "fake_initial", "prune")
        if not any(options.get(name) for name in asked):
            made = make_tables_at_once(options["database"])
            if made and options["verbosity"] > 0:
                self.stdout.write("Made all tables of a new database.")
        super().handle(*args, **options)
