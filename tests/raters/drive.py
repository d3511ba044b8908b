"""`python -m tests.raters.drive [SECONDS]`: twenty raters on one server, on SQLite and on PostgreSQL.

Prints for each database the decisions a second and the times of the answers; fails where a rating that was
answered as stored is not in the tables, or the tables don't agree. PostgreSQL is that of
COSQA_TEST_DATABASE_URL.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import psycopg

from tests.faults.services import LEASH, ROOT
from tests.ports import free_port
from tests.raters.crowd import Rater, crowd, finish

STARTS: Final = 120.0
RATERS: Final = 20
WORDS: Final = {"1": 1, "0": 0, "unsure": None}


@dataclass
class Site:
    """An installation of its own, with one server that can be killed and started again."""

    home: Path
    database: str
    port: int = 0
    server: subprocess.Popen[bytes] | None = None

    @property
    def environment(self) -> dict[str, str]:
        services = {"DATABASE_URL", "REDIS_URL", "CELERY_BROKER_URL", "ANTHROPIC_API_KEY"}
        kept = {k: v for k, v in os.environ.items() if not k.startswith("COSQA_") and k not in services}
        database = {"DATABASE_URL": self.database} if self.database else {}
        return kept | database | {"COSQA_HOME": str(self.home)}

    def run(self, *command: str) -> Any:
        """What `python -m …` prints, as JSON."""
        ended = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout.splitlines()[-1])

    def beside(self, *command: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([*LEASH, sys.executable, "-m", *command], cwd=ROOT, env=self.environment)

    def start(self) -> None:
        self.port = self.port or free_port()
        command = [sys.executable, "manage.py", "serve", "--no-workers", "--port", str(self.port)]
        self.server = subprocess.Popen(
            [*LEASH, *command], cwd=ROOT, env=self.environment, stdout=subprocess.DEVNULL
        )
        ends = time.monotonic() + STARTS
        while not self.answers():
            assert self.server.poll() is None, "the server ended"
            assert time.monotonic() < ends, "the server does not answer"
            time.sleep(0.1)

    def answers(self) -> bool:
        link = HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            link.request("GET", "/health/")
            return link.getresponse().status == 200
        except (OSError, HTTPException):
            return False
        finally:
            link.close()

    def kill(self) -> None:
        if self.server is not None:
            self.server.send_signal(signal.SIGKILL)
            self.server.wait()


@contextmanager
def site(postgres: str = "") -> Iterator[Site]:
    """On SQLite, or on a database of its own on the given server."""
    with (
        tempfile.TemporaryDirectory(prefix="cosqa-raters-", dir="/var/tmp") as home,
        scratch(postgres) as url,
    ):
        made = Site(Path(home), url)
        try:
            yield made
        finally:
            made.kill()


@contextmanager
def scratch(postgres: str) -> Iterator[str]:
    if not postgres:
        yield ""
        return
    parts, name = urlsplit(postgres), f"cosqa_raters_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(postgres, autocommit=True) as link:
        link.execute(f'CREATE DATABASE "{name}"')
        try:
            yield urlunsplit(parts._replace(path=f"/{name}"))
        finally:
            link.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def rate(where: Site, seconds: float, *, kills: int = 0, pairs: int = 300) -> dict[str, Any]:
    """Let the crowd rate; the server is killed so many times meanwhile. Fails where anything is lost."""
    prepared = where.run("tests.raters.prepare", str(pairs), str(RATERS))
    where.start()
    clock = where.beside("tests.raters.audit", str(seconds))
    raters, stop = crowd(prepared["study"], prepared["sessions"], lambda: where.port)
    began = time.monotonic()
    for _ in range(kills):
        time.sleep(seconds / (kills + 1))
        where.kill()
        where.start()
    time.sleep(max(0.0, began + seconds - time.monotonic()))
    finish(raters, stop)
    lasted = time.monotonic() - began
    clock.wait(timeout=120)
    return told(raters, where.run("tests.raters.audit"), lasted)


def told(raters: list[Rater], audit: dict[str, Any], seconds: float) -> dict[str, Any]:
    """The figures of a run. Raises AssertionError where something is lost or wrong."""
    wrong = [line for rater in raters for line in rater.wrong]
    assert audit["complaints"] + wrong == [], "\n".join([*audit["complaints"], *wrong][:20])
    stored = {(who, number, notes, value) for who, number, notes, value in audit["ratings"]}
    accepted = [one for rater in raters for one in rater.accepted]
    lost = [one for one in accepted if (one.rater, one.number, one.notes, WORDS[one.label]) not in stored]
    assert lost == [], f"{len(lost)} of {len(accepted)} are lost, such as {lost[:3]}"
    times = sorted(second for rater in raters for second in rater.seconds)
    said = sum((rater.said for rater in raters), Counter[str]())
    return {
        "decisions": len({one.notes for one in accepted}),
        "decisions_a_second": round(len({one.notes for one in accepted}) / seconds, 1),
        "p50_ms": round(1000 * times[len(times) // 2]),
        "p95_ms": round(1000 * times[int(len(times) * 0.95)]),
        "answers": dict(sorted(said.items())),
    }


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    for name, url in (("sqlite", ""), ("postgresql", os.environ.get("COSQA_TEST_DATABASE_URL", ""))):
        if name == "postgresql" and not url:
            continue
        with site(url) as where:
            print(name, json.dumps(rate(where, seconds, pairs=900)))


if __name__ == "__main__":
    main()
