"""Several machines in small: a real Celery worker and beat, PostgreSQL and Redis, one build."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
import redis
from django.utils import timezone

from annotation.builds.drift.verdict import look_after_all
from annotation.builds.pipeline.advance import Tools
from annotation.jobs import celery_tasks, worker
from annotation.models import DriftAnswer, DriftWatch, ExecutionRequest, Proposal
from tests import factories, filling
from tests.packages import share

ROOT = Path(__file__).resolve().parents[3]
QUERIES = 2
QUEUES = "llm,sandbox,interactive,files,mining,training,control,notices"


def service(name: str) -> str:
    """The URL of a service for tests; without it they skip, and fail where CI=true."""
    url = os.environ.get(name, "")
    if not url:
        reason = f"{name} is not set"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return url


@pytest.fixture
def database() -> Iterator[str]:
    """The URL of an empty database on the test server, dropped afterwards."""
    parts = urlsplit(service("COSQA_TEST_DATABASE_URL"))
    name = f"cosqa_tasks_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(urlunsplit(parts), autocommit=True) as link:
        link.execute(f'CREATE DATABASE "{name}"')
        yield urlunsplit(parts._replace(path=f"/{name}"))
        link.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.fixture
def home() -> Iterator[Path]:
    """A data folder that the sandbox's user can enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="cosqa-tasks-", dir="/var/tmp") as name:
        Path(name).chmod(0o755)
        share(Path(name))
        yield Path(name)


@pytest.fixture
def machine(database: str, home: Path) -> dict[str, str]:
    """The environment that all processes of the installation share."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("COSQA_") and k != "ANTHROPIC_API_KEY"}
    with redis.Redis.from_url(service("COSQA_TEST_REDIS_URL")) as broker:
        broker.flushdb()  # what a run that was killed has left is about a database that is gone
    return kept | {
        "COSQA_HOME": str(home),
        "DATABASE_URL": database,
        "REDIS_URL": service("COSQA_TEST_REDIS_URL"),
        "CELERY_BROKER_URL": service("COSQA_TEST_REDIS_URL"),
        "COSQA_SANDBOX": "bubblewrap",
    }


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """The shipped sample with its first queries only."""
    folder = Path(shutil.copytree(ROOT / "sample", tmp_path / "sample"))
    lines = (folder / "queries.jsonl").read_text().splitlines(keepends=True)
    (folder / "queries.jsonl").write_text("".join(lines[:QUERIES]))
    return folder


@contextmanager
def celery(machine: dict[str, str], log: Path, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A Celery process that is asked to stop at the end, and must."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "celery", "--app", "cosqa_site.celery", *command, "--loglevel", "WARNING"],
            cwd=ROOT,
            env=machine,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait(timeout=120)


def demo(machine: dict[str, str], sample: Path) -> subprocess.CompletedProcess[str]:
    """Launch the sample's build and wait until the workers have done it."""
    return subprocess.run(
        [sys.executable, "manage.py", "demo", "--no-serve", "--json", "--sample", str(sample)],
        cwd=ROOT,
        env=machine,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.postgres
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_a_worker_and_a_beat_do_a_build(machine: dict[str, str], sample: Path, tmp_path: Path) -> None:
    works = tmp_path / "worker.log", "worker", "--queues", QUEUES, "--pool", "threads", "--concurrency", "6"
    beats = tmp_path / "beat.log", "beat", "--schedule", str(tmp_path / "schedule")
    with celery(machine, *works) as working, celery(machine, *beats):
        done = demo(machine, sample)
    log = (tmp_path / "worker.log").read_text()
    assert done.returncode == 0, done.stderr + log
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert (found["pairs"], found["settled"], found["abandoned"]) == (8 * QUERIES, 8 * QUERIES, 0), log
    assert found["executed"] > 0
    assert "Celery workers do the work" in done.stderr
    assert working.returncode == 0
    assert not re.search("Traceback|ERROR", log), log


def test_a_turn_goes_on_until_nothing_waits_and_people_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = {"interactive": 2, "sandbox": 2}
    served: list[str] = []

    def drain(queue: str, tools: Tools, *, seldom: bool = True) -> int:
        done = int(waiting[queue] > 0)
        waiting[queue] -= done
        served.extend([queue] * done)
        return done

    monkeypatch.setattr(worker, "drain_queue", drain)
    celery_tasks.drain_sandbox()
    assert served == ["interactive", "interactive", "sandbox", "sandbox"]


def test_a_turn_ends_when_its_time_is_over_or_the_worker_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    turns, now = list[str](), [0.0]

    def drain(queue: str, tools: Tools, *, seldom: bool = True) -> int:
        turns.append(queue)
        now[0] += celery_tasks.TURN_SECONDS / 4
        return 1

    monkeypatch.setattr(worker, "drain_queue", drain)
    monkeypatch.setattr(celery_tasks, "time", SimpleNamespace(monotonic=lambda: now[0]))
    celery_tasks.drain_llm()
    assert len(turns) == 4
    turns.clear()
    celery_tasks.stop_turns()
    celery_tasks.drain_llm()
    celery_tasks.stopping.clear()
    assert turns == []


@pytest.mark.django_db
def test_queues_are_woken_as_often_as_there_is_work_for() -> None:
    assert (celery_tasks.handfuls("llm"), celery_tasks.handfuls("sandbox"), celery_tasks.requested()) == (
        0,
        0,
        0,
    )
    build = factories.opened()
    assert len(factories.cases(build)) == 9
    assert (celery_tasks.handfuls("llm"), celery_tasks.handfuls("sandbox")) == (3, 0)
    program = factories.program_for(factories.cases(build)[0])
    ExecutionRequest.objects.create(program=program, user=factories.erin())
    assert celery_tasks.requested() == 1


@pytest.mark.django_db
def test_a_queue_is_woken_a_bounded_number_of_times(monkeypatch: pytest.MonkeyPatch) -> None:
    factories.opened()
    monkeypatch.setattr(celery_tasks, "WAKE_UPS", 2)
    assert celery_tasks.handfuls("llm") == 2


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each queue is woken; the chores of a beat are done, nobody works."""
    count = Counter[str]()
    for queue in ("files", "mining", "llm", "sandbox", "interactive"):
        task = getattr(celery_tasks, f"drain_{queue}")
        monkeypatch.setattr(task, "apply_async", lambda queue=queue, **options: count.update([queue]))
    monkeypatch.setattr(celery_tasks, "shared_tools", lambda: None)
    monkeypatch.setattr(worker, "drain_queue", lambda queue, tools: look_after_all())
    return count


@pytest.mark.django_db
def test_functions_that_are_to_be_written_wake_a_worker_each(woken: Counter[str]) -> None:
    source = filling.source()
    celery_tasks.beat()
    assert woken["llm"] == 0
    job = filling.job(source)
    celery_tasks.beat()
    assert woken["llm"] == 3
    Proposal.objects.filter(filling=job).update(next_attempt_at=timezone.now() + timedelta(hours=1))
    celery_tasks.beat()
    assert woken["llm"] == 3, "none of them is due"


@pytest.mark.django_db
def test_the_questions_of_a_drift_check_wake_a_worker_each(woken: Counter[str]) -> None:
    build = factories.opened()
    for case in factories.cases(build):
        factories.settled(case, 0)
    DriftWatch.objects.create(build=build, seed=1, every=3)
    celery_tasks.beat()
    asked = DriftAnswer.objects.count()
    assert asked == woken["llm"] == 18


@pytest.mark.django_db
def test_what_is_asked_one_by_one_wakes_a_bounded_number(
    woken: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(celery_tasks, "WAKE_UPS", 2)
    filling.job()
    celery_tasks.beat()
    assert woken["llm"] == 2
