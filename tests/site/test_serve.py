"""`manage.py serve` as people start it: a process of its own, in a data folder of its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.packages import share
from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
STARTS, BUILDS, STOPS = 60.0, 150.0, 20.0
"""Seconds that a start, the sample build and a stop may take on a busy machine."""
LAUNCH = (
    "from pathlib import Path; from cosqa_site.demo import sample; sample.ensure_sample_build(Path({!r}))"
)
QUERIES, PAIRS = 4, 32
"""Of the part of the sample that is built here."""


def environment(home: Path, **changes: str) -> dict[str, str]:
    """This process's variables without any of the workbench's, then `changes`."""
    services = {"DATABASE_URL", "REDIS_URL", "CELERY_BROKER_URL", "ANTHROPIC_API_KEY"}
    kept = {k: v for k, v in os.environ.items() if not k.startswith("COSQA_") and k not in services}
    return kept | {"COSQA_HOME": str(home)} | changes


def manage(home: Path, *command: str, **changes: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=ROOT,
        env=environment(home, **changes),
        capture_output=True,
        text=True,
        timeout=STARTS,
        check=False,
    )


@dataclass(frozen=True)
class Server:
    process: subprocess.Popen[bytes]
    port: int

    def get(self, path: str) -> tuple[int, str, str]:
        """Status, content type and text."""
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=30)) as link:
            link.request("GET", path)
            reply = link.getresponse()
            return reply.status, reply.headers.get_content_type(), reply.read().decode()

    def answers(self) -> bool:
        assert self.process.poll() is None, f"the server ended with status {self.process.returncode}"
        try:
            return self.get("/health/")[0] == 200
        except ConnectionError:
            return False


def wait(condition: Callable[[], bool], seconds: float, what: str) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, f"waited {seconds:.0f} s in vain: {what}"
        time.sleep(0.1)


@contextmanager
def serving(home: Path) -> Iterator[Server]:
    port = free_port()
    command = [sys.executable, "manage.py", "serve", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, env=environment(home), stdout=subprocess.DEVNULL)
    server = Server(process, port)
    try:
        wait(server.answers, STARTS, "the server answers")
        yield server
    finally:
        process.kill()
        process.wait(timeout=STOPS)


@contextmanager
def folder() -> Iterator[Path]:
    """A data folder that the sandbox's user can enter, unlike pytest's own."""
    with tempfile.TemporaryDirectory(prefix="cosqa-serve-", dir="/var/tmp") as name:
        Path(name).chmod(0o755)
        share(Path(name))
        yield Path(name)


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    with folder() as made:
        yield made


@pytest.fixture(scope="module")
def server(home: Path) -> Iterator[Server]:
    with serving(home) as started:
        yield started


def test_it_answers_the_load_balancer_and_shows_the_login(server: Server) -> None:
    status, kind, text = server.get("/health/")
    assert (status, kind, json.loads(text)["status"]) == (200, "application/json", "ok")
    status, kind, text = server.get("/login/")
    assert (status, kind) == (200, "text/html")
    assert "csrfmiddlewaretoken" in text


def test_static_files_of_the_login_page_are_served(server: Server) -> None:
    page = server.get("/login/")[2]
    paths = re.findall(r'(?:href|src)="(/static/[^"]+\.(?:css|js))"', page)
    assert len(paths) > 1
    kinds = {server.get(path)[:2] for path in paths}
    assert kinds <= {(200, "text/css"), (200, "text/javascript")}


def test_without_an_account_every_page_leads_to_the_login(server: Server) -> None:
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=30)) as link:
        link.request("GET", "/builds/new/")
        reply = link.getresponse()
    assert reply.status == 302
    assert reply.headers["Location"].startswith("/login/")


def test_a_second_server_on_the_same_folder_is_refused(server: Server, home: Path) -> None:
    second = manage(home, "serve", "--port", str(free_port()))
    assert second.returncode == 1
    assert f"Another server already uses {home.resolve()}" in second.stderr
    assert "REDIS_URL" in second.stderr


def test_a_wrong_value_stops_the_start(home: Path) -> None:
    ended = manage(home, "serve", COSQA_LLM_WORKERS="many")
    assert ended.returncode == 1
    assert "COSQA_LLM_WORKERS='many': expected a whole number from 1 to 256" in ended.stderr


def test_a_signal_ends_it_soon_and_the_folder_is_free_again() -> None:
    with folder() as home:
        for stop in (signal.SIGTERM, signal.SIGINT):
            with serving(home) as server:
                server.process.send_signal(stop)
                status = server.process.wait(timeout=STOPS)
            assert status in {0, -stop}, "uvicorn ends by the signal that stopped it"
        with serving(home) as again:
            assert again.answers()


def asked(home: Path, query: str) -> tuple[int | str, ...]:
    """One row of the server's database; empty values before its tables are there."""
    path = f"file:{home / 'workbench.sqlite3'}?mode=ro"
    with closing(sqlite3.connect(path, uri=True, timeout=30)) as link:
        return tuple(link.execute(query).fetchone() or (0, 0, ""))


def progress(home: Path) -> tuple[int | str, ...]:
    return asked(
        home,
        "SELECT settled, abandoned, state FROM annotation_tally JOIN annotation_build ON id = build_id",
    )


def part_of_sample(home: Path) -> Path:
    """The shipped sample with its first queries only."""
    folder = Path(shutil.copytree(ROOT / "sample", home / "part"))
    queries = folder / "queries.jsonl"
    queries.write_text("".join(queries.read_text().splitlines(keepends=True)[:QUERIES]))
    return folder


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")
def test_a_build_survives_the_death_of_its_server_in_a_small_process() -> None:
    with folder() as home:
        with serving(home) as server:
            launched = manage(home, "shell", "-v", "0", "-c", LAUNCH.format(str(part_of_sample(home))))
            assert launched.returncode == 0, launched.stderr
            wait(lambda: int(progress(home)[0]) >= 8, BUILDS, "a part of the build is settled")
            server.process.kill()
            server.process.wait(timeout=STOPS)
        settled, _, state = progress(home)
        assert (int(settled) < PAIRS, state) == (True, "running")
        with serving(home) as server:
            wait(lambda: progress(home)[2] == "done", BUILDS, "the rest is settled")
            assert resident_mb(server.process.pid) < 200
            assert mapped(server.process.pid, "libtorch|faiss") == set()
        assert progress(home) == (PAIRS, 0, "done")
        once = "SELECT count(*), count(DISTINCT pair_id), 0 FROM retrieval_label"
        assert asked(home, once)[:2] == (PAIRS, PAIRS)
        lost = "SELECT count(*), 0, 0 FROM annotation_llmcall WHERE status = 'reserved'"
        assert asked(home, lost)[0] == 0


def resident_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    assert found
    return int(found[1]) / 1024


def mapped(pid: int, pattern: str) -> set[str]:
    """File names that `pid` has mapped and that match."""
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    names = {Path(line.split(None, 5)[5]).name for line in lines if len(line.split(None, 5)) == 6}
    return {name for name in names if re.search(pattern, name)}
