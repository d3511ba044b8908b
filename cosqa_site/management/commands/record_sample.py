"""`manage.py record_sample DIR`: write a sample's replies and truth from its authored decisions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.jobs.providers import create_configured_tools
from annotation.jobs.worker import until_idle
from cosqa_site.demo.sample import BadSample
from cosqa_site.demo.sample_recorder import Undecided, record_sample_replies
from cosqa_site.service.server import thread_counts
from cosqa_site.service.startup import prepare_database
from retrieval.management.failures import PlainCommand


class Command(PlainCommand):
    help = (
        "Write replies.jsonl and truth.jsonl of a sample from its decisions.jsonl, by running its build. "
        "Use a fresh data folder: COSQA_HOME=$(mktemp -d) manage.py record_sample sample"
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, help="of the sample")

    def handle(self, *args: Any, **options: Any) -> None:
        prepare_database()
        shared = create_configured_tools()
        try:
            written = record_sample_replies(options["folder"], lambda: until_idle(thread_counts(), shared))
        except (Undecided, BadSample) as why:
            raise CommandError(str(why)) from why
        finally:
            shared.close()
        self.stdout.write(f"{written:,} replies written")
