"""Every protection is switched off once, and what is filed under it gets through; test_hostile.py shows that
with all of them nothing does.

The short form runs one program for each protection and backend. `make protections` sets
TESTS_WHOLE and runs the whole list without each: exactly what is filed gets through.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from sandbox.backends.bubblewrap import BubblewrapSandbox
from sandbox.backends.protections import ALL, Protection
from sandbox.pip_install import PipSettings, machine_settings
from sandbox.program import Program
from sandbox.reports.report import Report
from sandbox.runner import Sandbox
from tests.sandbox.hostile_list import (
    ALWAYS,
    CANDIDATE,
    LIMIT_OFF,
    VERDICT,
    Hostile,
    bait,
    hostile_programs,
    run_all,
)
from tests.sizes import WHOLE

# Without process 1 programs stop their harness, which is waited for: that list takes a quarter of an hour.
pytestmark = pytest.mark.timeout(3600 if WHOLE else 600)
# What one backend does by other means: bubblewrap never lets privileges grow, and bounds files by memory.
# Packages belong to another user than the one that a run has to itself.
ABSENT: dict[str, set[str]] = {
    "bubblewrap": {Protection.CPU, Protection.INODES, Protection.NEW_PRIVILEGES, Protection.PACKAGES},
    # Between bubblewrap and what it forks stands no process 1 of another kind.
    "forked": {
        Protection.CPU,
        Protection.INODES,
        Protection.NEW_PRIVILEGES,
        Protection.PACKAGES,
        Protection.PROCESS_1,
    },
    "docker": {Protection.NESTING, Protection.PACKAGES},
}
SWITCHES = [
    (backend, str(name))
    for backend, absent in ABSENT.items()
    for name in (*Protection, *LIMIT_OFF)
    if name not in absent
]
# The machine's own settings decide about these as soon as the first layer is gone.
MACHINE = {"fixed", "teardown", "nothing"}


@contextmanager
def weakened(backend: str, home: Path, without: frozenset[str]) -> Iterator[Sandbox]:
    """A sandbox that lacks protections; no setting reaches this."""
    environment, files = machine_settings(os.environ)
    pip, kept = (
        PipSettings(environment, files),
        ALL - {Protection(name) for name in without & set(Protection)},
    )
    if backend != "docker":
        forks = backend == "forked"
        sandbox: Sandbox = BubblewrapSandbox(home, 0, 0, 65534, pip, protections=kept, forks=forks)
    else:
        from sandbox.backends.docker import DockerSandbox

        sandbox = DockerSandbox(os.environ.get("DOCKER_HOST", ""), "", "", 0, 0, pip, protections=kept)
    try:
        yield sandbox
    finally:
        sandbox.close()


def filed(backend: str, names: frozenset[str]) -> list[Hostile]:
    """Programs that exactly these stop, each alone, and that may be run without them."""
    programs = (one for one in hostile_programs() if not one.header("Only contained"))
    return [one for one in programs if one.stopped_by(backend) == names and is_bait(one)]


def is_bait(program: Hostile) -> bool:
    needed = program.header("Needs")
    return not needed or Path(needed).exists()


def layers(backend: str) -> list[frozenset[str]]:
    """Sets of protections that stop the same programs."""
    found = {one.stopped_by(backend) for one in hostile_programs()}
    return sorted((one for one in found if len(one) > 1 and not one & {*ALWAYS, *VERDICT}), key=sorted)


@pytest.fixture(params=SWITCHES, ids=lambda switch: f"{switch[0]}-{switch[1].replace(' ', '_')}")
def switch(request: pytest.FixtureRequest) -> tuple[str, str]:
    backend, name = request.param
    request.getfixturevalue(backend)
    return backend, name


def test_what_is_filed_gets_through_without_its_protection(switch: tuple[str, str], home: Path) -> None:
    backend, name = switch
    without = frozenset({name})
    programs = filed(backend, without)
    beside = [one for one in layers(backend) if name in one]
    assert programs or beside, f"nothing shows what {name} is good for"
    with bait(), weakened(backend, home, without) as sandbox:
        reports = run_all(sandbox, programs if WHOLE else programs[:1], without)
    assert reports.keys() == through(reports), reports


@pytest.mark.parametrize("backend", ABSENT)
def test_two_layers_each_suffice(backend: str, home: Path, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(backend)
    for names in layers(backend):
        with bait(), weakened(backend, home, names) as sandbox:
            programs = filed(backend, names)
            reports = run_all(sandbox, programs if WHOLE else programs[:1], names)
        assert reports.keys() == through(reports), reports


@pytest.mark.whole
def test_nothing_else_gets_through(switch: tuple[str, str], home: Path) -> None:
    backend, name = switch
    without = frozenset({name})
    programs = [one for one in hostile_programs() if may_be_told(one, backend, without)]
    with bait(), weakened(backend, home, without) as sandbox:
        reports = run_all(sandbox, programs, without)
    expected = {one.name for one in programs if one.stopped_by(backend) <= without and is_bait(one)}
    assert through(reports) == expected, {name: reports[name].stdout for name in through(reports) ^ expected}


def may_be_told(program: Hostile, backend: str, without: frozenset[str]) -> bool:
    """Whether the list knows what comes of it: not where the machine's settings are all that is left."""
    stopped_by = program.stopped_by(backend)
    unknown = "nothing" in stopped_by or (stopped_by & MACHINE and stopped_by & without)
    # Outside a process namespace nobody ends the children of the other programs.
    stays = Protection.PROCESSES in without and stopped_by != without
    # With a process 1 of bubblewrap's own, the control group gets that one, and the harness is its child.
    loose = backend == "bubblewrap" and Protection.PROCESS_1 in without and "memory limit" in stopped_by
    # The writable root of what bubblewrap forks is one more place to fill, and all its children share it.
    roomy = backend == "forked" and Protection.READ_ONLY in without and "temporary space limit" in stopped_by
    return not (unknown or stays or loose or roomy or program.header("Only contained"))


def through(reports: Mapping[str, Report]) -> set[str]:
    return {
        one.name for one in hostile_programs() if one.name in reports and one.got_through(reports[one.name])
    }


NAIVE = """
import subprocess
import sys

judged = subprocess.run([sys.executable, "-c", {text!r}], capture_output=True)
print("naive verdict:", "passed" if judged.returncode == 0 else "failed")
"""
VERDICTS = [one for one in hostile_programs() if one.stopped_by("") & set(VERDICT)]


@pytest.mark.parametrize("program", VERDICTS, ids=lambda program: program.name)
def test_a_verdict_from_exit_status_would_be_forged(program: Hostile, bubblewrap: Sandbox) -> None:
    """Whoever judges by exit status takes all of them for passed; here none is."""
    text = f"{CANDIDATE}\n{program.source}"
    judged = bubblewrap.run(Program("", NAIVE.format(text=text)), program.limits)
    assert "naive verdict: passed" in judged.stdout, judged.to_json()


@pytest.mark.parametrize("program", VERDICTS, ids=lambda program: program.name)
def test_only_what_the_report_tells_keeps_it_from_passing(program: Hostile, bubblewrap: Sandbox) -> None:
    names = program.stopped_by("bubblewrap")
    report = bubblewrap.run(program.program, program.limits)
    assert report.outcome not in ("passed", "unavailable"), report.to_json()
    if "recorded verdict" not in names:
        assert all(assertion.passed for assertion in report.assertions), report.to_json()
        assert report.redefined == ("candidate's identity" in names)
        assert bool(report.suspicious) == ("signs of forging" in names)
