"""`manage.py work`: run the workers in the foreground."""

from __future__ import annotations

import threading
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.jobs.providers import create_configured_tools
from annotation.jobs.worker import QUEUES, start_worker_threads, until_idle
from cosqa_site.service.server import only_worker, thread_counts
from retrieval.management.failures import PlainCommand


class Command(PlainCommand):
    help = "Run the workers' loop in the foreground; stop it with Ctrl-C."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--until-idle", action="store_true", help="end when nothing is left to do")
        parser.add_argument("--queues", default=",".join(QUEUES), help="comma-separated (default: all)")

    def handle(self, *args: Any, **options: Any) -> None:
        queues = [name for name in options["queues"].split(",") if name]
        unknown = sorted(set(queues) - set(QUEUES))
        if unknown or not queues:
            raise CommandError(f"--queues: no queue {', '.join(unknown)}; queues are {', '.join(QUEUES)}")
        counts = {queue: count for queue, count in thread_counts().items() if queue in queues}
        shared = create_configured_tools()
        try:
            with only_worker():
                if options["until_idle"]:
                    until_idle(counts, shared)
                else:
                    start_worker_threads(counts, shared, threading.Event())[0].join()
        except KeyboardInterrupt:
            self.stderr.write("stopped; unfinished work continues at the next start", str)
        finally:
            shared.close()
