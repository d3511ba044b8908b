"""Every program in hostile/, on both backends: contained, told truly, and gone without a trace."""

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox import owner
from sandbox.containers import LABEL
from sandbox.processes import mark
from sandbox.report import Report
from sandbox.runner import Sandbox
from tests.sandbox.hostile_list import Hostile, bait, hostile_programs, run_all, unknown

PROGRAMS = hostile_programs()
Listed = Callable[[Sandbox], dict[str, Report]]


@pytest.fixture(scope="module")
def listed() -> Listed:
    """The reports of the whole list, which is run once for each backend."""
    known: dict[str, dict[str, Report]] = {}

    def reports(sandbox: Sandbox) -> dict[str, Report]:
        if sandbox.name not in known:
            with bait():
                known[sandbox.name] = run_all(sandbox)
        return known[sandbox.name]

    return reports


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_contained_and_told_truly(program: Hostile, sandbox: Sandbox, listed: Listed) -> None:
    report = listed(sandbox)[program.name]
    assert program.faults(report) == [], report.to_json()


def test_no_report_is_too_long_or_cannot_be_kept(sandbox: Sandbox, listed: Listed) -> None:
    for program in PROGRAMS:
        report = listed(sandbox)[program.name]
        assert len(report.stdout) + len(report.stderr) <= 4 * program.limits.output_bytes
        assert Report.from_json(report.to_json()) == report
        assert report.candidate_hash == program.program.candidate_hash


def test_nothing_is_left_behind(sandbox: Sandbox, listed: Listed) -> None:
    listed(sandbox)
    # What waits for its first program is no left-over: a bubblewrap and its harness each, or a container.
    assert _settles(lambda: len(_processes()), 2 * 2)
    assert sandbox.name != "docker" or _settles(lambda: len(_containers()), 2)
    for folder in ("/tmp", "/dev/shm", "/var/tmp", "/run", "/run/lock"):
        assert not list(Path(folder).glob("hostile*"))


def test_every_program_says_what_it_tries_and_what_stops_it() -> None:
    assert len(PROGRAMS) >= 60
    assert {program.name: unknown(program) for program in PROGRAMS if unknown(program)} == {}


def _processes() -> list[str]:
    """What still runs in a sandbox of this process; other runs on this machine do not count."""
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if mark().encode() in command.read_bytes().split(b"\0"):
                found.append(command.parent.name)
    return found


def _containers() -> list[str]:
    import docker

    client = docker.DockerClient(base_url=os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock")
    with contextlib.closing(client):
        filters = {"label": f"{LABEL}.owner={owner.own()}"}
        return [one["Id"] for one in client.api.containers(all=True, filters=filters)]


def _settles(count: Callable[[], int], most: int) -> bool:
    deadline = time.monotonic() + 10
    while count() > most and time.monotonic() < deadline:
        time.sleep(0.05)
    return count() <= most
