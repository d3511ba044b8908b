"""The installations that are put to the test: many machines in small, and one."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.faults import services
from tests.faults.services import Listening, Process, python
from tests.ports import free_port

DATABASE: Final = "chaos"
THREADS: Final = 8


@dataclass(frozen=True)
class Machine:
    """Its processes by name, in the order of their start; those whose name starts with a target are one."""

    folder: Path
    environment: Mapping[str, str]
    processes: tuple[Process, ...]

    def of(self, target: str) -> list[Process]:
        return [process for process in self.processes if process.name.startswith(target)]

    def close(self) -> None:
        for process in reversed(self.processes):
            process.kill()


def variables(folder: Path, provider: str, lease: float, skew: float = 0.0) -> dict[str, str]:
    """The environment of every process of the workbench."""
    home, orders = folder / "home", folder / "orders"
    for made in (home, orders):
        made.mkdir()
    outside = ("COSQA_", "FAULTS_", "DATABASE_URL", "REDIS_URL", "CELERY_BROKER_URL")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(outside)}
    return kept | {
        "DJANGO_SETTINGS_MODULE": "tests.faults.settings",
        "PYTHONPATH": str(services.ROOT),
        "COSQA_HOME": str(home),
        "COSQA_LLM_BASE_URL": provider,
        "ANTHROPIC_API_KEY": "fake-key",
        "NO_PROXY": "127.0.0.1",
        "FAULTS_ORDERS": str(orders),
        "FAULTS_LEASE": str(lease),
        "FAULTS_SKEW": str(skew),
    }


@contextmanager
def many(folder: Path, environment: dict[str, str], web: bool = True) -> Iterator[Machine]:
    """PostgreSQL and Redis of its own, two workers, beat and web. PostgreSQL runs; the others don't yet."""
    postgres, redis = services.postgres(folder), services.redis(folder)
    environment |= {
        "DATABASE_URL": postgres.url(DATABASE),
        "REDIS_URL": f"redis://127.0.0.1:{redis.port}/0",
    }
    postgres.start()
    try:
        postgres.ready()
        create(postgres.url("postgres"))
        yield Machine(folder, environment, (postgres, redis, *workbench(folder, environment, web)))
    finally:
        postgres.kill()


def workbench(folder: Path, environment: dict[str, str], web: bool) -> Iterator[Process]:
    celery = "-m", "celery", "--app", "cosqa_site.celery"
    queues = "llm,sandbox,interactive,files,mining,control"
    pool = "--pool", "threads", "--concurrency", str(THREADS), "--loglevel", "WARNING"
    for number in (1, 2):
        name = f"worker-{number}"
        clock = {"FAULTS_CLOCK": environment.get("FAULTS_SKEW", "0") if number == 2 else "0"}
        yield python(
            name,
            folder,
            environment | clock,
            *celery,
            "worker",
            "-n",
            f"{name}@here",
            "--queues",
            queues,
            *pool,
        )
    schedule = "--schedule", str(folder / "schedule")
    yield python("beat", folder, environment, *celery, "beat", *schedule, "--loglevel", "WARNING")
    if web:
        yield served("web", folder, environment, "--no-workers")


def served(name: str, folder: Path, environment: dict[str, str], *options: str) -> Listening:
    port = free_port()
    one = python(name, folder, environment, "manage.py", "serve", "--port", str(port), *options)
    return Listening(name, one.command, one.log, environment, port=port)


@contextmanager
def one(folder: Path, environment: dict[str, str]) -> Iterator[Machine]:
    """`manage.py serve` on SQLite, with its workers in the same process; not started."""
    yield Machine(folder, environment, (served("server", folder, environment),))


def create(url: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as link:
        link.execute(f"CREATE DATABASE {DATABASE}")
