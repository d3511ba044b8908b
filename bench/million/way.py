"""The way of all texts: imported, mined, opened for review, judged, published, exported.

Each size has a scratch database, in which nothing is done twice: a run that was cut off goes on. Where a
broker is configured, two Celery workers mine; else one command does.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.db import connection

from annotation.models import Build
from bench.measure.scratch_database import Scratch
from bench.million import table
from bench.million.look import digest_pairs, judge_pairs, look_at_pages
from bench.million.processes import Cost, run_command, run_until
from bench.million.steps import Journal, Step
from bench.million.texts import write_texts
from retrieval.models import Candidate, Mining

SIZES: Final[Mapping[str, tuple[int, int]]] = {"small": (1_000, 10_000), "full": (100_000, 1_000_000)}
"""So many functions, and with them a tenth as many queries."""
FUNCTIONS_A_QUERY: Final = 10
NAME: Final = "million"
K: Final = 5
WORKERS: Final = 2
FORMATS: Final = ("release", "qrels", "beir")


@dataclass(frozen=True, slots=True)
class Run:
    """What was measured at one size; `digest` is a hash of the mined pairs."""

    functions: int
    queries: int
    steps: Mapping[str, Step]
    pages: Mapping[str, Mapping[str, float]]
    digest: str


def measure_million(size: str) -> Mapping[str, Any]:
    """What each step and page takes at two sizes, of which one is ten times the other, and how it grows."""
    runs = [go_the_way(functions) for functions in SIZES[size]]
    return table.figures(runs)


def go_the_way(functions: int) -> Run:
    """Go the whole way with so many functions. Raises StepFailed."""
    queries = functions // FUNCTIONS_A_QUERY
    scratch = Scratch(f"million{functions}x{queries}")
    scratch.make(lambda: None)
    texts = scratch.home / "texts"
    if not texts.exists():
        draft = scratch.home / "texts.part"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        write_texts(draft, functions, queries)
        draft.rename(texts)
    journal = Journal(scratch.home / "steps.json")
    with scratch.entered():
        way = Way(journal, scratch, functions, queries)
        way.bring_in(texts)
        way.mine()
        way.review_and_export()
        return Run(functions, queries, journal.steps, look_at_pages(), digest_pairs())


@dataclass(frozen=True, slots=True)
class Way:
    """The steps in one scratch database, which is entered."""

    journal: Journal
    scratch: Scratch
    functions: int
    queries: int

    def take(self, name: str, items: int, *command: str) -> None:
        self.take_by(name, items, partial(run_command, command, self.scratch.environment()))

    def take_by(self, name: str, items: int, work: Callable[[], Cost]) -> None:
        """Take a step, with no connection of this process in its way."""
        connection.close()
        self.journal.take(name, items, work)

    def bring_in(self, texts: Path) -> None:
        """Each file by the command."""
        table_of = ("import", "table")
        code = ("--function", "code", "--function-id", "id", "--name", NAME)
        self.take("import functions", self.functions, *table_of, str(texts / "functions.jsonl"), *code)
        asked = ("--query", "query", "--query-id", "id", "--name", NAME)
        self.take("import queries", self.queries, *table_of, str(texts / "queries.jsonl"), *asked)

    def mine(self) -> None:
        """Launch a build, and find its candidates."""
        chosen = ("--encoders", "bm25,bow", "-k", str(K), "--provider", "exchange")
        self.take("launch", 1, "build", NAME, "--queries", NAME, "--functions", NAME, *chosen)
        looked_at = max(1, self.functions * self.queries // table.PAIRS_AN_ITEM)
        if settings.CELERY_BROKER_URL:
            work = partial(
                run_until, list_celery_commands(self.scratch), is_mined, self.scratch.environment()
            )
            self.take_by("mine", looked_at, work)
        else:
            self.take("mine", looked_at, "mine", str(Mining.objects.get().pk))

    def review_and_export(self) -> None:
        """Open the pairs for review, have them judged by a file, and export the benchmark of that."""
        pairs = Candidate.objects.count()
        worker = [["manage.py", "work", "--queues", "control"]]
        self.take_by("open cases", pairs, partial(run_until, worker, is_opened, self.scratch.environment()))
        judged = self.scratch.home / "judged.qrels"
        if "judge" not in self.journal.steps:
            judge_pairs(judged)
        collections = ("--queries", NAME, "--functions", NAME, "--name", NAME)
        self.take("judge", pairs, "import", "qrels", str(judged), *collections)
        for name in FORMATS:
            self.take(f"export {name}", pairs, "export", name, NAME, str(self.scratch.home / name))


def is_mined() -> bool:
    """Asks anew each time: others write."""
    return Mining.objects.filter(state=Mining.State.DONE).exists()


def is_opened() -> bool:
    """Whether all mined pairs are cases."""
    return Build.objects.filter(opened=True).exists()


def list_celery_commands(scratch: Scratch) -> list[list[str]]:
    """Workers as on several machines, and what wakes them."""
    celery = ["-m", "celery", "-A", "cosqa_site.celery"]
    pool = ["--queues", "mining,control", "--pool", "threads", "--concurrency", "1"]
    workers = [[*celery, "worker", "--hostname", f"million{n}@%h", *pool] for n in range(WORKERS)]
    return [*workers, [*celery, "beat", "--schedule", str(scratch.home / "beat"), "--pidfile="]]
