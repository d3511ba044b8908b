"""`manage.py record_sample DIR`: write a sample's replies and truth from its authored decisions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.tools import tools
from annotation.worker import until_idle
from cosqa_site.preparing import prepare
from cosqa_site.recording import Undecided, record
from cosqa_site.running import thread_counts
from cosqa_site.sample import BadSample


class Command(BaseCommand):
    help = (
        "Write replies.jsonl and truth.jsonl of a sample from its decisions.jsonl, by running its build. "
        "Use a fresh data folder: COSQA_HOME=$(mktemp -d) manage.py record_sample sample"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="of the sample")

    def handle(self, *args: Any, **options: Any) -> None:
        prepare()
        shared = tools()
        try:
            written = record(options["folder"], lambda: until_idle(thread_counts(), shared))
        except (Undecided, BadSample) as why:
            raise CommandError(str(why)) from why
        finally:
            shared.close()
        self.stdout.write(f"{written:,} replies written")
