"""Whose time it was: the program's, or that of others on a busy machine."""

import os
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.harness import clock
from sandbox.harness.clock import Clock, reaped_seconds

times = st.floats(0, 100)


def _verdict(elapsed: float, used: float, waited: float) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clock, "_processor_times", lambda: (used, waited))
        made = Clock(seconds=10, longest=80)
        patch.setattr(made, "elapsed", lambda: elapsed)
        return made.verdict()


@pytest.mark.parametrize(
    ("elapsed", "used", "waited", "verdict"),
    [
        (9.9, 50, 0, ""),
        (10, 10, 0, "deadline"),
        (10, 0, 0, "deadline"),
        (10, 2, 8, ""),
        (19, 2, 8, "deadline"),
        (40, 11, 39, "deadline"),
        (79, 1, 78, ""),
        (80, 1, 79, "busy"),
    ],
)
def test_the_time_is_up_when_the_program_had_all_of_it(
    elapsed: float, used: float, waited: float, verdict: str
) -> None:
    assert _verdict(elapsed, used, waited) == verdict


@given(elapsed=times, used=times, waited=times)
def test_every_run_ends_and_none_that_had_its_time_is_called_busy(
    elapsed: float, used: float, waited: float
) -> None:
    verdict = _verdict(elapsed, used, waited)
    assert verdict or elapsed < 80
    assert verdict != "busy" or (used < 10 and elapsed - waited < 10)
    assert verdict != "deadline" or elapsed >= 10


def test_processor_time_of_children_is_seen_while_they_run_and_afterwards() -> None:
    before = reaped_seconds()
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as child:
        while sum(used for used, _ in clock._threads(str(child.pid))) < 0.1:
            time.sleep(0.01)
        child.kill()
    assert reaped_seconds() - before >= 0.1


def test_a_process_that_is_gone_took_no_time() -> None:
    with subprocess.Popen(["true"]) as child:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert clock._threads(str(child.pid)) == []
