"""`manage.py serve`: the whole workbench in one process."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from cosqa_site.service.applied_migrations import DatabaseNotReady
from cosqa_site.service.sandbox_advice import find_missing_sandbox
from cosqa_site.service.server import (
    AlreadyServing,
    PortTaken,
    address_of,
    only_server,
    refuse_taken,
    serve_site,
)
from cosqa_site.service.startup import prepare_database
from retrieval.management.failures import PlainCommand, add_json_option


class Command(PlainCommand):
    help = "Serve the workbench: web server and workers in one process."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to serve on (default %(default)s)")
        parser.add_argument("--port", type=int, default=8000, help="port to serve on (default %(default)s)")
        parser.add_argument(
            "--no-workers", action="store_true", help="only the web server; workers run elsewhere"
        )

        add_json_option(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        work = not options["no_workers"] and not settings.CELERY_BROKER_URL
        try:
            with only_server():
                refuse_taken(options["host"], options["port"])
                prepare_database()
                address = address_of(options["host"], options["port"])
                self.print_json({"address": address, "home": settings.COSQA_HOME, "workers": work})
                self.tell_people(f"CoSQA Workbench on {address} (Ctrl-C stops it)")
                if work and (missing := find_missing_sandbox()):
                    self.tell_people(missing)
                if not work:
                    self.tell_people("No worker runs here: start some (docs/running.md), or nothing moves.")
                serve_site(options["host"], options["port"], work=work)
        except (AlreadyServing, DatabaseNotReady, PortTaken) as why:
            raise CommandError(str(why)) from why
