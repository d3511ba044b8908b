"""Steps in processes of their own: what they cost, and what one that fails says."""

from __future__ import annotations

import os
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import monotonic

import pytest

from bench.million.processes import Cost, StepFailed, run_command, run_until
from bench.million.steps import Journal


def test_a_process_tells_its_time_and_memory() -> None:
    work = "data = b'x' * 50_000_000\nimport time\nwhile time.process_time() < 0.5: pass"
    cpu, seconds, peak_mb = run_until([["-c", work]], None, os.environ)
    assert 0.3 <= cpu < 30 and seconds >= 0.3
    # A process begins with the peak of the one that started it.
    own_mb = getrusage(RUSAGE_SELF).ru_maxrss // 1024
    assert 50 <= peak_mb < 500 + own_mb


def test_several_processes_go_on_until_it_is_done(tmp_path: Path) -> None:
    marks = [tmp_path / "one", tmp_path / "two"]
    words = [
        ["-c", f"import pathlib, time; pathlib.Path({str(m)!r}).touch(); time.sleep(600)"] for m in marks
    ]
    began = monotonic()
    run_until(words, lambda: all(mark.exists() for mark in marks), os.environ)
    assert monotonic() - began < 300


def test_a_process_that_ends_too_early_is_told_with_what_it_said() -> None:
    with pytest.raises(StepFailed, match="no such work"):
        run_until([["-c", "raise SystemExit('no such work')"]], lambda: False, os.environ)


def test_a_command_that_fails_is_told_with_what_it_said() -> None:
    with pytest.raises(StepFailed, match=r"(?s)export nothing.*invalid choice"):
        run_command(["export", "nothing"], os.environ)


def test_a_step_is_taken_once_and_kept(tmp_path: Path) -> None:
    taken = list[str]()

    def work() -> Cost:
        taken.append("once")
        return 1.5, 2.0, 64

    for _ in range(2):
        Journal(tmp_path / "steps.json").take("import", 3_000, work)
    [step] = Journal(tmp_path / "steps.json").steps.values()
    assert taken == ["once"]
    assert step.per_item == 500  # 1.5 s of 3,000 items
