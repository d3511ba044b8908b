"""A build at full speed against a provider that is as slow as a real one, and what it costs us.

Builds run by one worker process where few and where many cases are in the database, and, in full, by two
processes where there are many. With SQLite one process runs, as there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import connection

from annotation.models import Build, Tally
from bench.measure.scratch_database import Scratch
from bench.pipeline import admin_pages
from bench.pipeline import claims as pipeline_claims
from bench.pipeline import tokens as pipeline_tokens
from bench.pipeline.processes import (
    WORKER_NAME,
    Process,
    Provider,
    run_provider_process,
    run_worker_processes,
    used_seconds,
)
from bench.seed import database, rows
from bench.seed import plan as seeding_plan
from bench.seed.tables import bulk_insert_tables, bulk_load_transaction

MEAN_SECONDS: Final = 1.0
LOOK_SECONDS: Final = 0.25
OPEN: Final = 6_000
ONE, TWO = 50, 100
"""Calls at once of one worker process, and of two together."""
PATIENCE_SECONDS: Final = 60.0
RUNNING: Final = "running"
ALONE: Final = "SQLite has one worker process, and its connections are no server's"
WITHIN_A_MINUTE: Final = "is measured with --size full: the small one ends within a minute"


@dataclass(frozen=True)
class Length:
    """Seconds at full speed until the stages have mixed and while the bench counts; turns of pages after."""

    warm: float
    counted: float
    turns: int


LENGTHS: Final[Mapping[str, Length]] = {"small": Length(4.0, 7.0, 3), "full": Length(6.0, 12.0, 20)}


@dataclass(frozen=True)
class Speed:
    """What one build showed in its window."""

    calls_a_second: float
    mean_latency: float
    of_ideal: float
    cases: int
    cpu_seconds_a_case: float
    connections: int
    most_in_the_air: int
    load: float

    def told(self) -> dict[str, float]:
        return {name: round(value, 4) for name, value in vars(self).items()}


def measure_pipeline(size: str) -> Mapping[str, object]:
    """The figures; those that can't be had here are named in `missing`."""
    tokens_of_paper, tokens = pipeline_tokens.measure_pipeline_tokens()
    few, many = database.prepare_seeded_database("few"), database.prepare_seeded_database(size)
    on_server, length = connection.vendor == "postgresql", LENGTHS[size]
    with (
        run_provider_process(MEAN_SECONDS) as asked,
        working_copy(few, "few", "few") as copy,
        working_copy(many, "many", size) as large,
    ):
        claims = pipeline_claims.measure_claim_growth(copy, large)
        small = measure_build_speed(copy, asked, 1, ONE, length)
        one, pages = speed_and_pages(large, asked, length)
        two = measure_build_speed(large, asked, 2, TWO, length) if on_server and size == "full" else None
    return {
        "size": {"name": size, "few": database.PLANS["few"].cases, "many": database.PLANS[size].cases},
        "database": connection.vendor,
        "ratios": {
            "calls_of_ideal": round(one.of_ideal, 3),
            **({"calls_of_ideal_two_at_100": round(two.of_ideal, 3)} if two else {}),
            "cpu_seconds_per_case": round(one.cpu_seconds_a_case, 4),
            "cpu_growth": round(one.cpu_seconds_a_case / small.cpu_seconds_a_case, 3),
            "claim_growth": claims["growth"],
            "tokens_of_paper": round(tokens_of_paper, 3),
            "tokens_of_paper_quality": pipeline_tokens.describe_screener_quality(tokens["quality"]),
        },
        "tokens": tokens,
        "one_at_50": one.told(),
        "one_at_50_few_cases": small.told(),
        **({"two_at_100": two.told()} if two else {}),
        "claim_and_move": claims,
        "pages": pages,
        "missing": explain_missing_figures(size)
        if on_server
        else {"two_at_100": ALONE, "connections": ALONE},
        "load_average": os.getloadavg()[0],
    }


def explain_missing_figures(size: str) -> dict[str, str]:
    """What is not measured with a database server, and why."""
    return {} if size == "full" else {"two_at_100": WITHIN_A_MINUTE}


@contextmanager
def working_copy(seeded: Scratch, name: str, size: str) -> Iterator[Scratch]:
    """A copy with a running build besides, removed after the block; the bench spends what it holds."""
    copy = seeded.copy(f"{name}_{os.getpid()}")
    try:
        with copy.entered():
            open_build(database.PLANS[size])
        yield copy
    finally:
        copy.drop()


def open_build(plan: seeding_plan.SeedingPlan) -> int:
    """A running build with cases to be screened; gives its key."""
    admin = User.objects.get(username=database.ADMIN)
    keys = database.create_seeded_build(plan, admin, RUNNING, Build.State.RUNNING, -(-OPEN // plan.k))
    made = rows.still_open(plan, keys, OPEN)
    with bulk_load_transaction():
        bulk_insert_tables(made.rows)
        Tally.objects.filter(pk=keys.build).update(cap=10**15, **made.totals)
    return keys.build


def measure_build_speed(
    scratch: Scratch, asked: Provider, processes: int, concurrency: int, length: Length
) -> Speed:
    """One build in a window of its own."""
    with scratch.entered(), run_worker_processes(scratch, asked.url, processes, concurrency) as started:
        warm_up_pipeline(asked, concurrency, length.warm)
        return measure_speed_window(asked, started, concurrency, length.counted)


def speed_and_pages(scratch: Scratch, asked: Provider, length: Length) -> tuple[Speed, Mapping[str, object]]:
    """As `measure_build_speed`, and pages and events of that build."""
    with scratch.entered():
        build = find_running_build().pk
        with run_worker_processes(scratch, asked.url, 1, ONE) as started:
            warm_up_pipeline(asked, ONE, length.warm)
            found = measure_speed_window(asked, started, ONE, length.counted)
            share = min(found.cpu_seconds_a_case * found.cases / length.counted, 1.0)
            pages = admin_pages.measure_admin_pages(build, [*started, asked.process], length.turns, share)
            events = admin_pages.events_a_second(build)
    return found, {**pages, "loop_share": round(share, 3), "events_a_second": events}


def find_running_build() -> Build:
    return Build.objects.select_related("tally").get(name=RUNNING)


def warm_up_pipeline(asked: Provider, concurrency: int, seconds: float) -> None:
    """Wait until calls come back, and then until the stages have mixed. Raises RuntimeError if none does."""
    before, ends = asked.stats()["answered"], time.monotonic() + PATIENCE_SECONDS
    while asked.stats()["answered"] < before + concurrency:
        if time.monotonic() > ends:
            raise RuntimeError(f"the workers asked nothing: {find_running_build().reason or 'see their log'}")
        time.sleep(0.1)
    time.sleep(seconds)


def measure_speed_window(
    asked: Provider, started: Sequence[Process], concurrency: int, length: float
) -> Speed:
    """What happens in so many seconds at full speed."""
    before, cpu, began = collect_pipeline_counts(asked), used_seconds(started), time.perf_counter()
    connections = 0
    while time.perf_counter() - began < length:
        connections = max(connections, count_worker_connections())
        time.sleep(LOOK_SECONDS)
    after, cpu, seconds = (
        collect_pipeline_counts(asked),
        used_seconds(started) - cpu,
        time.perf_counter() - began,
    )
    calls = after["answered"] - before["answered"]
    cases = after["settled"] - before["settled"]
    if not calls or not cases:
        raise RuntimeError(
            f"nothing was settled while the bench watched: {find_running_build().reason or 'see the log'}"
        )
    mean = (after["seconds"] - before["seconds"]) / calls
    return Speed(
        calls_a_second=calls / seconds,
        mean_latency=mean,
        of_ideal=calls / seconds / (concurrency / mean),
        cases=cases,
        cpu_seconds_a_case=cpu / cases,
        connections=connections,
        most_in_the_air=after["most"],
        load=os.getloadavg()[0],
    )


def collect_pipeline_counts(asked: Provider) -> dict[str, Any]:
    return {**asked.stats(), "settled": find_running_build().tally.settled}


def count_worker_connections() -> int:
    """The workers' connections to the database, idle ones too; 0 where it has no server."""
    if connection.vendor != "postgresql":
        return 0
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = %s", [WORKER_NAME])
        return int(cursor.fetchone()[0])
