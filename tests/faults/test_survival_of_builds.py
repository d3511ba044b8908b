"""The small forms of `make faults`: see `tests.faults.drive`. Each process is one of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.machines import create, variables
from tests.faults.services import ROOT, Postgres

SMALL = "--lease", "15", "--stall", "3", "--minutes", "4", "--storm", "5"


def drive(*options: str) -> str:
    """What the driver prints; it says itself what does not hold."""
    command = [sys.executable, "-m", "tests.faults.drive", *SMALL, *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.postgres
def test_builds_survive_four_kills_on_many_machines(servers: None) -> None:
    """One of each kind of moment, of which the database and Redis meet one each."""
    # On a busy machine a live call may outlast a lease of 15 s, and is then taken for a dead worker's.
    told = drive("--cases", "32", "--kills", "4", "--lease", "30")
    assert "4 kills" in told
    assert "the disk was full 0 times" not in told


@pytest.mark.postgres
def test_builds_survive_a_worker_whose_clock_is_minutes_ahead(servers: None) -> None:
    """Twenty leases: it would take every case from the other worker, and pay for every call again."""
    assert "0 kills" in drive("--cases", "8", "--kills", "0", "--skew=300")


def test_builds_survive_kills_of_the_only_process() -> None:
    # Who starts again frees what the dead held: a lease may be longer than a busy machine keeps a live one.
    told = drive("--one-machine", "--cases", "32", "--kills", "4", "--lease", "45")
    assert "4 kills" in told
    assert "the disk was full 0 times" not in told


@pytest.mark.postgres
def test_sixteen_threads_do_not_deadlock(cluster: Postgres, tmp_path: Path) -> None:
    create(cluster.url("postgres"))
    environment = variables(tmp_path, "http://127.0.0.1:1", lease=15) | {"DATABASE_URL": cluster.url("chaos")}
    crowd = [sys.executable, "-m", "tests.faults.crowd"]
    done = subprocess.run(
        crowd, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert "deadlock detected" not in cluster.log.read_text()
    assert "Traceback" not in done.stderr, done.stderr
    assert int(done.stdout.split()[-1]) > 20
