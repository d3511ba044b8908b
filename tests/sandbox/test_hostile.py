"""Every program in hostile/, on both backends: contained, told truly, and gone without a trace."""

import contextlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox.backends import owner
from sandbox.backends.containers import LABEL
from sandbox.backends.processes import build_process_mark
from sandbox.reports.report import Outcome, Report
from sandbox.runner import Sandbox
from tests.sandbox.hostile_list import Hostile, bait, hostile_programs, run_all, unknown
from tests.sizes import WHOLE

PROGRAMS = hostile_programs()
BACKENDS = ["bubblewrap", "docker", *(["forked"] if WHOLE else [])]


@dataclass(frozen=True)
class Run:
    """The whole list's reports, the files left by it, and this process's processes and containers before it.

    Tests before these may keep a sandbox of their own open.
    """

    reports: dict[str, Report]
    files: list[str]
    processes: set[str]
    containers: set[str]


Listed = Callable[[Sandbox], Run]


@pytest.fixture(params=BACKENDS)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    opened: Sandbox = request.getfixturevalue(request.param)
    return opened


@pytest.fixture(scope="module")
def listed() -> Listed:
    """The run of the whole list, once for each backend; its files are sought while nobody else has bait."""
    known: dict[int, Run] = {}

    def run(sandbox: Sandbox) -> Run:
        if id(sandbox) not in known:
            containers = _containers() if sandbox.name == "docker" else set[str]()
            before = _processes(), containers
            with bait():
                known[id(sandbox)] = Run(run_all(sandbox), _files(), *before)
        return known[id(sandbox)]

    return run


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_contained_and_told_truly(program: Hostile, sandbox: Sandbox, listed: Listed) -> None:
    report = listed(sandbox).reports[program.name]
    if report.outcome is Outcome.OUT_OF_MEMORY and not report.stdout:
        # Files in memory belong to no process: the kernel may have killed the harness with what it had heard.
        report = sandbox.run(program.program, program.limits)
    assert program.faults(report) == [], report.to_json()


def test_no_report_is_too_long_or_cannot_be_kept(sandbox: Sandbox, listed: Listed) -> None:
    for program in PROGRAMS:
        report = listed(sandbox).reports[program.name]
        assert len(report.stdout) + len(report.stderr) <= 4 * program.limits.output_bytes
        assert Report.from_json(report.to_json()) == report
        assert report.candidate_hash == program.program.candidate_hash


def test_nothing_is_left_behind(sandbox: Sandbox, listed: Listed) -> None:
    run = listed(sandbox)
    # What waits for its first program is no left-over: a bubblewrap and its harness each, or a container.
    assert _settles(lambda: len(_processes() - run.processes), 2 * 2)
    assert sandbox.name != "docker" or _settles(lambda: len(_containers() - run.containers), 2)
    assert run.files == []


def test_every_program_says_what_it_tries_and_what_stops_it() -> None:
    assert len(PROGRAMS) >= 60
    assert {program.name: unknown(program) for program in PROGRAMS if unknown(program)} == {}


def _files() -> list[str]:
    """What programs left where everybody may write."""
    folders = ("/tmp", "/dev/shm", "/var/tmp", "/run", "/run/lock")
    return [str(path) for folder in folders for path in Path(folder).glob("hostile*")]


def _processes() -> set[str]:
    """What still runs in a sandbox of this process; other runs on this machine do not count."""
    found = set[str]()
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if build_process_mark().encode() in command.read_bytes().split(b"\0"):
                found.add(command.parent.name)
    return found


def _containers() -> set[str]:
    import docker

    client = docker.DockerClient(base_url=os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock")
    with contextlib.closing(client):
        filters = {"label": f"{LABEL}.owner={owner.identify_own_process()}"}
        return {one["Id"] for one in client.api.containers(all=True, filters=filters)}


def _settles(count: Callable[[], int], most: int) -> bool:
    deadline = time.monotonic() + 60
    while count() > most and time.monotonic() < deadline:
        time.sleep(0.05)
    return count() <= most
