"""What the bubblewrap backend says when bubblewrap or the harness in it fails, and what it makes ahead."""

import contextlib
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import sandbox.backends.bubblewrap
import sandbox.backends.piped
from sandbox.backends import confinement
from sandbox.backends.bubblewrap import BubblewrapSandbox, Shape
from sandbox.backends.confinement import Confinement
from sandbox.backends.execution import NotStarted, Packages
from sandbox.backends.interpreter import Interpreter
from sandbox.backends.processes import build_process_mark
from sandbox.pip_install import PipSettings
from sandbox.program import Limits, Program
from sandbox.reports.canonical import canonical_text
from sandbox.reports.report import Outcome
from sandbox.runner import Sandbox
from tests.sandbox.patience import judged

GOOD = Program("def f(x):\n    return x * x\n", "assert f(3) == 9\n")
AHEAD = 2


@contextlib.contextmanager
def _opened(home: Path, pool: int) -> Iterator[BubblewrapSandbox]:
    opened = BubblewrapSandbox(home, 0, pool, 65534, PipSettings())
    yield opened
    opened.close()


@pytest.fixture
def single(bubblewrap: Sandbox, home: Path) -> Iterator[BubblewrapSandbox]:
    """Sets each one up when it is needed; in use only where bubblewrap works: `bubblewrap` says so."""
    with _opened(home, 0) as opened:
        yield opened


@pytest.fixture
def ahead(bubblewrap: Sandbox, home: Path) -> Iterator[BubblewrapSandbox]:
    """One that ran once, so that others wait now."""
    with _opened(home, AHEAD) as opened:
        opened.run(GOOD, Limits())
        assert _settles(lambda: opened._pool.waiting == AHEAD)
        yield opened


def _settles(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)
    return condition()


def _marked() -> set[int]:
    """All processes of this caller's sandboxes."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if build_process_mark().encode() in (folder / "cmdline").read_bytes():
                found.add(int(folder.name))
        except OSError:
            continue
    return found


def _end_of_refills(other: Sandbox) -> None:
    """Wait until `other` makes nothing ahead any more: what it makes has the same mark."""
    assert isinstance(other, BubblewrapSandbox)
    pool = other._pool
    pool._workers.submit(bool).result(60)
    assert _settles(lambda: not pool._making)


@pytest.mark.parametrize(
    ("action", "patience", "told"),
    [
        ("echo 'no more user namespaces' >&2; exit 1", 60.0, "no more user namespaces"),
        ("exec sleep 100", 0.5, "bubblewrap did not set up in time"),
    ],
)
def test_a_bubblewrap_that_does_not_set_up_is_quoted_and_it_works_again_afterwards(
    action: str, patience: float, told: str, single: Sandbox, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    broken = home / f"bwrap-{os.getpid()}"  # the folder is shared
    broken.write_text(f"#!/bin/sh\n{action}\n")
    broken.chmod(0o755)
    whole = Confinement.run
    with monkeypatch.context() as patch:
        patch.setattr(Confinement, "run", lambda *given: [str(broken), *whole(*given)[1:]])
        patch.setattr(sandbox.backends.piped, "GRACE_SECONDS", patience)
        report = single.run(GOOD, Limits())
    broken.unlink()
    assert report.outcome is Outcome.UNAVAILABLE
    assert report.detail.startswith("the program was not run") and told in report.detail
    assert single.run(GOOD, Limits()).outcome is Outcome.PASSED


def test_without_bubblewrap_nothing_is_run_and_it_is_said(
    single: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Confinement.run
    with monkeypatch.context() as patch:
        patch.setattr(Confinement, "run", lambda *given: ["/nowhere/bwrap", *whole(*given)[1:]])
        report = single.run(GOOD, Limits())
    assert report.outcome is Outcome.UNAVAILABLE
    assert report.detail.startswith("the program was not run") and "/nowhere/bwrap" in report.detail


def test_a_harness_that_the_kernel_killed_for_memory_is_no_loss(
    single: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not any(check.ok for check in single.check() if check.name == "memory limit held by the kernel"):
        pytest.skip("no control group may be made here")
    monkeypatch.setattr(confinement, "ENTRY", "import sys; sys.stdin.buffer.read(9); bytearray(500 << 20)")
    report = single.run(GOOD, Limits(memory_mb=64))
    assert report.outcome is Outcome.OUT_OF_MEMORY


@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        ("assert f(3) == 9\n", Outcome.PASSED),
        ("assert f(3) == 8\n", Outcome.FAILED),
        ("import os\nos.kill(os.getpid(), 9)\n", Outcome.ERRORED),
        ("import time\ntime.sleep(100)\n", Outcome.TIMED_OUT),
    ],
)
def test_a_kernel_without_descriptors_of_processes_will_do(
    source: str, outcome: Outcome, single: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = "import os\ndef missing(process):\n    raise OSError(38, 'missing')\nos.pidfd_open = missing\n"
    monkeypatch.setattr(confinement, "ENTRY", without + confinement.ENTRY)
    report = judged(single, Program(GOOD.candidate, source), Limits(seconds=1))
    assert report.outcome is outcome, canonical_text(report)
    assert report.seconds < 60


def test_a_harness_that_never_reads_is_given_up(single: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement, "ENTRY", "import time; time.sleep(100)")
    monkeypatch.setattr(sandbox.backends.bubblewrap, "GRACE_SECONDS", 0.5)
    large = Program(GOOD.candidate, GOOD.source + "# " + "a" * (1 << 18))
    report = single.run(large, Limits(seconds=0.1))
    assert report.outcome is Outcome.UNAVAILABLE and "did not read its request" in report.detail


def test_a_tool_that_is_updated_meanwhile_does_not_lose_the_harness_that_is_used(
    single: BubblewrapSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Interpreter, "edition", lambda python: "updated")
    assert single._harness() == single._confinement.harness
    assert single.run(GOOD, Limits()).outcome is Outcome.PASSED


def test_a_program_takes_one_that_waits(ahead: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Confinement, "run", lambda *given: ["/bin/false"])
        assert [ahead.run(GOOD, Limits()).outcome for _ in range(AHEAD)] == [Outcome.PASSED] * AHEAD
        assert ahead.run(GOOD, Limits()).outcome is Outcome.UNAVAILABLE
    assert ahead.run(GOOD, Limits()).outcome is Outcome.PASSED


def test_one_that_ended_while_it_waited_is_not_used(bubblewrap: Sandbox, home: Path) -> None:
    before = _marked()
    with _opened(home, AHEAD) as opened:
        opened.run(GOOD, Limits())
        assert _settles(lambda: opened._pool.waiting == AHEAD)
        for process in _marked() - before:
            with contextlib.suppress(ProcessLookupError):  # it went with its parent
                os.kill(process, signal.SIGKILL)
        assert opened.run(GOOD, Limits()).outcome is Outcome.PASSED


def test_closing_ends_those_that_wait(bubblewrap: Sandbox, home: Path) -> None:
    _end_of_refills(bubblewrap)
    before = _marked()
    with _opened(home, AHEAD) as opened:
        opened.run(GOOD, Limits())
        assert _settles(lambda: len(_marked() - before) >= 2 * AHEAD)
    assert _settles(lambda: not _marked() - before)
    assert opened.run(GOOD, Limits()).detail == "this sandbox was closed"


def test_other_limits_get_another_one(ahead: Sandbox) -> None:
    program = Program(
        GOOD.candidate, "import os\nmost = os.statvfs('/tmp')\nprint(most.f_blocks * most.f_frsize)\n"
    )
    for megabytes in (64, 8, 64):
        assert int(ahead.run(program, Limits(tmp_mb=megabytes)).stdout) == megabytes << 20


def test_folders_that_were_made_again_are_others(tmp_path: Path) -> None:
    folder = tmp_path / "packages"
    packages = Packages({"/packages": folder})
    with pytest.raises(NotStarted, match="are gone"):
        Shape.of(Limits(), packages)
    folder.mkdir()
    before = Shape.of(Limits(), packages)
    assert before == Shape.of(Limits(), packages) and before.is_usual()
    shutil.rmtree(folder)
    folder.mkdir()
    assert before != Shape.of(Limits(), packages)
    assert not Shape.of(Limits(), Packages({"/packages": folder, "/layers/own": folder})).is_usual()
