"""What processes use is counted with their children, and nothing of them stays."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.rivals import processes
from bench.rivals.processes import Environment
from bench.rivals.tool import CannotRun

BURN = "import time; e = time.process_time() + {}\nwhile time.process_time() < e: pass\n"
PARENT = f"""
import subprocess, sys, time
subprocess.run([sys.executable, "-c", {BURN.format(0.2)!r}])
subprocess.Popen([sys.executable, "-c", {BURN.format(0.2)!r} + "time.sleep(60)"])
open("ready", "w").close()
time.sleep(60)
"""


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    made = Environment(tmp_path, tmp_path / "venv")
    made.home.mkdir()
    return made


def wait_until(done: Callable[[], bool]) -> None:
    ends = time.monotonic() + 120
    while not done():
        assert time.monotonic() < ends
        time.sleep(0.02)


def test_children_count_whether_they_have_ended_or_not_and_all_of_them_end(environment: Environment) -> None:
    process = environment.begin([sys.executable, "-c", PARENT], {})
    try:
        wait_until((environment.home / "ready").exists)  # the one that stays has been started
        wait_until(lambda: processes.used_by([process.pid]) >= 0.4)
        family = processes.family([process.pid])
        assert len(family) == 2
        assert processes.memory_of([process.pid]) > 1
    finally:
        processes.end([process])
    # A child may be a zombie for a moment, until the one that inherits it has waited for it.
    wait_until(lambda: not any(processes.stat_of(one) and processes.stat_of(one)[0] != "Z" for one in family))


def test_a_command_that_fails_says_its_last_words(environment: Environment) -> None:
    with pytest.raises(CannotRun, match="ended with 3: no such version"):
        environment.run(
            [sys.executable, "-c", "print('x'); print('no such version'); raise SystemExit(3)"], {}
        )


def test_a_command_that_is_not_there_cannot_run(environment: Environment) -> None:
    with pytest.raises(CannotRun):
        environment.run([environment.program("label-studio")], {})


def test_a_command_is_charged_what_it_used(environment: Environment) -> None:
    found = environment.run([sys.executable, "-c", BURN.format(0.2)], {})
    assert found.cpu >= 0.2
    assert found.seconds >= 0.2


def test_tools_see_nothing_of_our_settings(environment: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    monkeypatch.setenv("DATABASE_URL", "postgres://somewhere")
    seen = environment.variables({"A": "b"})
    assert not {"ANTHROPIC_API_KEY", "DATABASE_URL"} & set(seen)
    assert (seen["A"], seen["HOME"]) == ("b", str(environment.home))
