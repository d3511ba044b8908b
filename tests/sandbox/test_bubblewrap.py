"""What the bubblewrap backend says when bubblewrap or the harness in it fails."""

from pathlib import Path

import pytest

import sandbox.bubblewrap
from sandbox import confinement
from sandbox.program import Limits, Program
from sandbox.report import Outcome
from sandbox.runner import Sandbox

GOOD = Program("def f(x):\n    return x * x\n", "assert f(3) == 9\n")


@pytest.mark.parametrize(
    ("action", "told"),
    [
        ("echo 'no more user namespaces' >&2; exit 1", "no more user namespaces"),
        ("exec sleep 100", "bubblewrap did not set up in time"),
    ],
)
def test_a_bubblewrap_that_does_not_set_up_is_quoted_and_it_works_again_afterwards(
    action: str, told: str, bubblewrap: Sandbox, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    broken = home / "bwrap"
    broken.write_text(f"#!/bin/sh\n{action}\n")
    broken.chmod(0o755)
    whole = confinement.Confinement.run
    with monkeypatch.context() as patch:
        patch.setattr(confinement.Confinement, "run", lambda *given: [str(broken), *whole(*given)[1:]])
        patch.setattr(sandbox.bubblewrap, "GRACE_SECONDS", 0.5)
        report = bubblewrap.run(GOOD, Limits())
    assert report.outcome is Outcome.UNAVAILABLE
    assert report.detail.startswith("the program was not run") and told in report.detail
    assert bubblewrap.run(GOOD, Limits()).outcome is Outcome.PASSED


def test_without_bubblewrap_nothing_is_run_and_it_is_said(
    bubblewrap: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = confinement.Confinement.run
    with monkeypatch.context() as patch:
        patch.setattr(confinement.Confinement, "run", lambda *given: ["/nowhere/bwrap", *whole(*given)[1:]])
        report = bubblewrap.run(GOOD, Limits())
    assert report.outcome is Outcome.UNAVAILABLE and "could not be started" in report.detail


def test_a_harness_that_the_kernel_killed_for_memory_is_no_loss(
    bubblewrap: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not any(check.ok for check in bubblewrap.check() if check.name == "memory limit held by the kernel"):
        pytest.skip("no control group may be made here")
    monkeypatch.setattr(confinement, "ENTRY", "import sys; sys.stdin.buffer.read(9); bytearray(500 << 20)")
    report = bubblewrap.run(GOOD, Limits(memory_mb=64))
    assert report.outcome is Outcome.OUT_OF_MEMORY


def test_a_harness_that_never_reads_is_given_up(bubblewrap: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement, "ENTRY", "import time; time.sleep(100)")
    monkeypatch.setattr(sandbox.bubblewrap, "GRACE_SECONDS", 0.5)
    large = Program(GOOD.candidate, GOOD.source + "#" * (1 << 18))
    report = bubblewrap.run(large, Limits(seconds=0.1))
    assert report.outcome is Outcome.UNAVAILABLE and "did not read its request" in report.detail
