"""Points in a worker's life at which it can be told to stand still, to be killed there.

Installed by `tests.faults.settings` alone. A driver writes an order (a file POINT.STAGE); the worker that
comes to that point takes it, by renaming it to taken.PID.STAGE.NUMBER, and waits until that file is gone, or
until it is killed. What takes minutes in the product takes seconds here: leases, reservations, pauses.
"""

from __future__ import annotations

import itertools
import os
import random
import time
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from pathlib import Path
from typing import Any, Final

from django.apps import AppConfig
from django.db import OperationalError
from django.db.backends.signals import connection_created
from psycopg.errors import DiskFull

STAGE_OF: Final = {
    "screener": "screening",
    "single_llm": "reading",
    "neighbour_writer": "writing_test",
    "test_writer": "writing_test",
    "fixer": "fixing",
    "arbiter": "arbitrating",
    "tie_breaker": "tie_breaking",
}
LONGEST_WAIT: Final = 30.0
FULL_DISK: Final = "disk-is-full"
"""The file beside the orders that says so."""
WRITING: Final = ("INSERT", "UPDATE", "COPY")
NUMBERS = itertools.count()


def reach(point: str, stage: str) -> None:
    """Stand still here if the driver wants it."""
    folder = os.environ.get("FAULTS_ORDERS", "")
    order = Path(folder) / f"{point}.{stage}"
    if not folder or not order.exists():
        return
    taken = order.with_name(f"taken.{os.getpid()}.{stage}.{next(NUMBERS)}")
    try:
        order.rename(taken)
    except FileNotFoundError:
        return  # another worker was faster
    ends = time.monotonic() + LONGEST_WAIT
    while taken.exists() and time.monotonic() < ends:
        time.sleep(0.01)


def after(module: Any, name: str, point: str, stage: Callable[..., str]) -> None:
    """Have `module.name` reach `point` when its work is done; `stage` sees its result and arguments."""
    original = getattr(module, name)

    @wraps(original)
    def wrapped(*given: Any, **named: Any) -> Any:
        result = original(*given, **named)
        reach(point, stage(result, *given))
        return result

    setattr(module, name, wrapped)


class PointsConfig(AppConfig):
    name = "tests.faults"
    label = "faults"

    def ready(self) -> None:
        install()
        connection_created.connect(watch_disk)
        hurry(float(os.environ.get("FAULTS_LEASE", "15")))
        stand_in()
        set_clock(timedelta(seconds=float(os.environ.get("FAULTS_CLOCK", "0"))))


def install() -> None:
    """The points, from the claim of a case to the end of its move."""
    from django.db import connection

    from annotation.builds.limits import budget
    from annotation.builds.pipeline import claims, labels
    from annotation.models import Case

    def outside(stage: str) -> str:
        return "" if connection.in_atomic_block else stage

    after(claims, "lease_cases", "claimed", lambda cases, *_: cases[0].stage if cases else "")
    after(budget, "insert_call_attempt", "reserve", lambda call, *_: STAGE_OF.get(call.agent, ""))
    after(budget, "lock_call_status", "settle", lambda _, call: STAGE_OF.get(call.agent, ""))
    after(budget, "settle_call", "stored", lambda call, *_: outside(STAGE_OF.get(call.agent, "")))
    after(Case, "_advance", "move", lambda _, case, old, *__: old.value)
    after(labels, "publish_case", "publish", lambda _, case: "settled")


def watch_disk(connection: Any, **_: Any) -> None:
    """Have a new connection find its disk full while the driver says so."""
    if refuse_when_full not in connection.execute_wrappers:
        connection.execute_wrappers.append(refuse_when_full)


def refuse_when_full(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any) -> Any:
    """Refuse to write, as the database itself does where it has no room."""
    folder = os.environ.get("FAULTS_ORDERS", "")
    if folder and Path(folder).with_name(FULL_DISK).exists() and str(sql).lstrip().startswith(WRITING):
        raise OperationalError("no room") from DiskFull("could not extend file")
    return execute(sql, params, many, context)


def set_clock(off: timedelta) -> None:
    """Have this process's clock be off by so much, also as the server's would show it."""
    from django.utils import timezone

    right = timezone.now
    timezone.now = lambda: right() + off


def hurry(lease: float) -> None:
    """A lease of so many seconds; a call takes at most three quarters of it, the provider half of it."""
    from django.conf import settings

    from annotation.builds.limits import budget, circuit_breaker, full_disk, rate_limit
    from annotation.builds.pipeline import batches as batching
    from annotation.builds.pipeline import claims
    from annotation.jobs import clock_skew
    from annotation.models.builds import batches

    whole, second = timedelta(seconds=lease), timedelta(seconds=1)
    for module, name, value in (
        (claims, "LEASE", whole),
        (budget, "RESERVATION", whole),
        (clock_skew, "MOST", whole / 10),
        (clock_skew, "EVERY", 1.0),
        # What the dead have begun holds up the living for a moment only.
        (circuit_breaker, "IN_THE_AIR", 10 * second),
        (full_disk, "FIRST_PAUSE_SECONDS", 0.2),
        (full_disk, "LONGEST_PAUSE_SECONDS", 1.0),
        (full_disk, "SECONDS_BETWEEN_LOOKS", 0.2),
        (rate_limit, "LONGEST_CALL", 10 * second),
        (circuit_breaker, "FIRST_PAUSE", second),
        (circuit_breaker, "LONGEST_PAUSE", 2 * second),
        (rate_limit, "CLEAN", second),
        (batching, "LEASE", whole),
        (batching, "QUIET", second),
        (batching, "FIRST_PAUSE", second),
        (batching, "LONGEST_PAUSE", 2 * second),
        (batching, "SETTLES", second),
        (batches, "FILLS", second),
        (batching, "FILLS", second),
        (batches, "MOST_REQUESTS", 4),
        (settings, "LLM_TIMEOUT", 0.75 * lease),
    ):
        setattr(module, name, value)


def stand_in() -> None:
    """A client that says with each request which process sends it, and a sandbox that is quick."""
    from annotation.jobs import providers
    from annotation.llm.live import LiveLLM

    class NamedLLM(LiveLLM):
        def client(self) -> Any:
            return super().client().with_options(default_headers={"x-worker": str(os.getpid())})

    for name, value in (("LiveLLM", NamedLLM), ("open_configured", quick_sandbox)):
        setattr(providers, name, value)


def quick_sandbox(*_: Any, **__: Any) -> Any:
    """A sandbox that gives a recorded report after a moment, the same for the same program."""
    from sandbox.program import Program
    from sandbox.reports.report import Outcome, Report
    from tests.factories import a_report
    from tests.fakes import FakeSandbox

    def ran(program: Program) -> Report:
        reach("execution", "executing")
        time.sleep(random.uniform(0.02, 0.2))
        number = int(program.source_hash[:8], 16)
        if number % 6 == 0 and not program.dependencies:
            return a_report(Outcome.ERRORED, missing_module=("yaml", "frobnicate_it")[number // 6 % 2])
        return a_report((Outcome.PASSED, Outcome.FAILED, Outcome.TIMED_OUT)[number % 3])

    return FakeSandbox(ran)
