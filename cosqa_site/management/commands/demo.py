"""`manage.py demo`: the sample project, from import to labels, then served."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db.models import Q
from tqdm import tqdm

from annotation.builds.control.pause_resume import abandoned_reasons
from annotation.builds.pipeline.advance import Tools
from annotation.jobs.providers import create_configured_tools
from annotation.jobs.worker import until_idle
from annotation.models import Build, Tally
from cosqa_site.demo import sample, sample_benchmark, sample_study, written_function
from cosqa_site.demo.accounts import EXPERT, RATER, Account, demo_accounts
from cosqa_site.service.applied_migrations import DatabaseNotReady
from cosqa_site.service.sandbox_advice import find_missing_sandbox
from cosqa_site.service.server import (
    AlreadyServing,
    PortTaken,
    address_of,
    only_server,
    only_worker,
    refuse_taken,
    serve_site,
    thread_counts,
)
from cosqa_site.service.startup import prepare_database
from retrieval.management.failures import PlainCommand
from retrieval.texts.plurals import count_noun

SECONDS_BETWEEN_LINES = 5.0
INTERRUPTED = 130
"""The exit status of what was stopped with Ctrl-C."""


class Command(PlainCommand):
    help = "Build the sample project (mining, agents with recorded replies, sandbox runs) and serve it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--sample", type=Path, default=settings.BASE_DIR / "sample", help="another sample folder"
        )
        parser.add_argument("--no-serve", action="store_true", help="end after the build")
        parser.add_argument("--json", action="store_true", help="print the figures as one JSON object, last")
        parser.add_argument("--host", default="127.0.0.1", help="address to serve on (default %(default)s)")
        parser.add_argument("--port", type=int, default=8000, help="port to serve on (default %(default)s)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with only_server():
                if not options["no_serve"]:
                    refuse_taken(options["host"], options["port"])
                self.run(options)
        except (AlreadyServing, DatabaseNotReady, PortTaken, sample.BadSample) as why:
            raise CommandError(str(why)) from why
        except KeyboardInterrupt:
            self.say("Stopped. Unfinished work continues at the next start.")
            sys.exit(INTERRUPTED)

    def run(self, options: dict[str, Any]) -> None:
        started = time.monotonic()
        prepare_database()
        accounts = demo_accounts()
        folder = options["sample"].resolve()
        if missing := find_missing_sandbox():
            self.say(missing)
        self.say("Importing the sample and mining candidates …")
        build = sample.ensure_sample_build(folder)
        shown: list[str] = []
        with self.workers() as work:
            work(build)
            found = self.report(build, folder, started)
            job = self.order_function(build, folder)
            if job is not None:
                work(job)
                shown.append(f"{EXPERT}: a generated function to accept or reject, in Your work")
        shown += self.describe_rooms(build, folder)
        if shown:
            self.say("What there is to see:")
        for line in shown:
            self.say(f"  {line}")
        if options["json"]:
            self.stdout.write(replace(found, seconds=round(time.monotonic() - started, 2)).json())
        if not options["no_serve"]:
            for account in accounts:
                self.say(f"  account {account.name:7} {describe_password(account)}")
            self.say(f"CoSQA Workbench on {address_of(options['host'], options['port'])} (Ctrl-C stops it)")
            serve_site(options["host"], options["port"], work=not settings.CELERY_BROKER_URL)

    def say(self, text: str) -> None:
        self.stderr.write(text, str)  # plain: these are no errors

    @contextmanager
    def workers(self) -> Iterator[Callable[[Build], None]]:
        """What has a build done: workers elsewhere, or threads of this process, which share their tools."""
        if settings.CELERY_BROKER_URL:
            yield self.wait_with_bar
            return
        shared: Tools = create_configured_tools()
        with only_worker():
            yield lambda build: self.work(build, shared)
        shared.close()

    def work(self, build: Build, shared: Tools) -> None:
        with open_settled_bar(build) as tick:
            until_idle(thread_counts(), shared, tick)

    def wait_with_bar(self, build: Build) -> None:
        with open_settled_bar(build) as tick:
            self.wait(build, tick)

    def order_function(self, build: Build, folder: Path) -> Build | None:
        """The job that writes a function; with a model's key it would cost money, so nothing is written."""
        if build.provider != Build.Provider.RECORDED:
            return None
        return written_function.launch_writing(build, folder, Build.Provider.RECORDED)

    def describe_rooms(self, build: Build, folder: Path) -> list[str]:
        """Publish the benchmark and make the studies, and say who finds what."""
        if build.state != Build.State.DONE:
            return []
        shown = []
        benchmark = sample_benchmark.ensure_sample_benchmark(build)
        if benchmark is not None:
            shown.append(f"anybody: {benchmark} with {count_noun(benchmark.runs.count(), 'system')} scored")
        for study in sample_study.ensure_sample_studies(build, folder):
            is_visited = study.enrolments.filter(user__username=RATER).exists()
            who, what = (RATER, "pairs to rate") if is_visited else (EXPERT, "a disagreement to decide")
            shown.append(f"{who}: {what}, “{study}”")
        return [*shown, f"{EXPERT}: pairs to check, in Your work"]

    def wait(self, build: Build, tick: Callable[[], None]) -> None:
        """Wait until the workers have ended the build; say how far they are where no bar is shown."""
        self.say("The Celery workers do the work …")
        said = time.monotonic()
        goes_on = Q(waits_for__in=(Build.WaitsFor.PROVIDER, Build.WaitsFor.DISK), next_probe_at__isnull=False)
        moving = Q(state=Build.State.RUNNING) | goes_on
        while Build.objects.filter(moving, pk=build.pk).exists():
            tick()
            if not self.stderr.isatty() and time.monotonic() - said > SECONDS_BETWEEN_LINES:
                said = time.monotonic()
                tally = Tally.objects.get(build=build)
                self.say(f"  {tally.settled + tally.abandoned} of {tally.total} pairs settled")
            time.sleep(0.5)

    def report(self, build: Build, folder: Path, started: float) -> sample.Result:
        build.refresh_from_db()
        if build.state == Build.State.FAILED:
            raise CommandError(build.reason)
        found = sample.measure_sample_build(build, folder, started)
        if build.state in (Build.State.WAITING, Build.State.PAUSED):
            self.say(f"The build is {build.get_state_display().lower()}: {build.reason}")
        for reason, count in abandoned_reasons(build):
            self.say(f"  abandoned {count}: {reason}")
        self.say(
            f"{found.pairs} pairs of {found.queries} queries and {found.snippets} functions: "
            f"{found.settled} settled, {found.abandoned} abandoned, {found.matches} matches, "
            f"{found.executed} test programs executed."
        )
        if build.provider == Build.Provider.RECORDED:
            self.say(
                "The agents' replies are recorded; mining, state machine, sandbox runs and traces are live."
            )
        return found


@contextmanager
def open_settled_bar(build: Build) -> Iterator[Callable[[], None]]:
    """A progress bar of the build's pairs; what it yields brings it up to date."""
    with tqdm(total=0, unit="pair", desc="settled", leave=False, disable=None) as bar:

        def tick() -> None:
            tally = Tally.objects.get(build=build)
            bar.total, bar.n = tally.total, tally.settled + tally.abandoned
            bar.refresh()

        yield tick


def describe_password(account: Account) -> str:
    """The password in words, or how to get one where nobody here knows it."""
    if account.password:
        return f"password {account.password}"
    return f"was there before; a new password: cosqa admin account {account.name} --new-password"
