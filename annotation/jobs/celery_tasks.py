"""The worker's loop as Celery tasks, for several machines: no arguments, safe to run twice.

A beat wakes each queue as often as there is work for; a task that was woken works on until nothing waits.
"""

from __future__ import annotations

import threading
import time
from functools import cache
from typing import Any, Final

from celery import shared_task
from celery.signals import worker_shutdown, worker_shutting_down
from django.utils import timezone

from annotation.builds.control import connection_test
from annotation.builds.drift.questions import open_questions
from annotation.builds.limits import circuit_breaker
from annotation.builds.pipeline import claims
from annotation.builds.pipeline.advance import Tools
from annotation.jobs import worker
from annotation.jobs.providers import create_configured_tools
from annotation.models import Batch, Request
from annotation.stages import Queue

TURN_SECONDS: Final = 20.0
"""How long a task works on before it makes room for others of its worker."""
EXPIRES_SECONDS: Final = 10
"""Wake-ups that find all workers busy are thrown away: the next beat counts anew."""
WAKE_UPS: Final = 32
"""At most so many at each beat for a queue; workers that are still at it need none."""

stopping = threading.Event()


@cache
def shared_tools() -> Tools:
    """One set of tools a process."""
    return create_configured_tools()


@worker_shutting_down.connect
def stop_turns(**_: Any) -> None:
    """Let turns end after the case in hand, so that a stop needs no kill."""
    stopping.set()


@worker_shutdown.connect
def close_tools(**_: Any) -> None:
    """Remove the containers that were kept ready."""
    if shared_tools.cache_info().currsize:
        shared_tools().close()


def drain(*queues: str) -> None:
    """Work through `queues`, the first of them first, until nothing waits or the turn is over."""
    ends = time.monotonic() + TURN_SECONDS
    while not stopping.is_set() and time.monotonic() < ends:
        if not any(worker.drain_queue(queue, shared_tools()) for queue in queues):
            return


@shared_task(ignore_result=True)
def drain_llm() -> None:
    drain("llm")


@shared_task(ignore_result=True)
def drain_sandbox() -> None:
    drain("interactive", "sandbox")  # a person waits for the one, nobody for the other


@shared_task(ignore_result=True)
def drain_interactive() -> None:
    drain("interactive")


@shared_task(ignore_result=True)
def drain_files() -> None:
    drain("files")


@shared_task(ignore_result=True)
def drain_mining() -> None:
    drain("mining")


@shared_task(ignore_result=True)
def drain_training() -> None:
    drain("training")


@shared_task(ignore_result=True)
def notify() -> None:
    """Look for what people outside are to be told, and tell them."""
    drain("notices")


@shared_task(ignore_result=True)
def reap() -> None:
    """Remove what dead workers of this machine left, and check its sandbox when that is due."""
    shared_tools().sandbox.watch()


@shared_task(ignore_result=True)
def beat() -> None:
    """The chores, then wake-ups for what waits."""
    worker.drain_queue("control", shared_tools())
    for always in (drain_files, drain_mining, drain_training):
        always.apply_async(expires=EXPIRES_SECONDS)
    for task, count in (
        (drain_llm, handfuls("llm") + asides()),
        (drain_sandbox, handfuls("sandbox") + int(circuit_breaker.find_builds_to_probe("sandbox").exists())),
        (drain_interactive, requested()),
    ):
        for _ in range(count):
            task.apply_async(expires=EXPIRES_SECONDS)


def handfuls(queue: Queue) -> int:
    """How many workers the cases that wait could occupy, at most WAKE_UPS."""
    handful = worker.HANDFUL[queue]
    waiting = claims.find_claimable_cases(queue, timezone.now()).order_by()[: WAKE_UPS * handful].count()
    return -(-waiting // handful)


def asides() -> int:
    """What else there is to do for the workers of the models."""
    now = timezone.now()
    one_by_one = Batch.objects.due(now), claims.find_writable_proposals(now), open_questions(now)
    waiting = min(WAKE_UPS, sum(rows.order_by()[:WAKE_UPS].count() for rows in one_by_one))
    return (
        waiting
        + int(circuit_breaker.find_builds_to_probe().exists())
        + int(connection_test.has_waiting_connection_test())
    )


def requested() -> int:
    """How many people wait for a run, at most WAKE_UPS."""
    waiting = (kind._default_manager.filter(state=Request.State.WAITING) for kind in claims.REQUESTS)
    return min(WAKE_UPS, sum(rows[:WAKE_UPS].count() for rows in waiting))
