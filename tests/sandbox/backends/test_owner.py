"""Whose something is, and whether that process still lives."""

import os
import subprocess
import sys

from sandbox.backends import owner

_ASK = "from sandbox.backends import owner; print(owner.identify_own_process(), flush=True); input()"


def test_this_process_lives() -> None:
    assert not owner.is_dead(owner.identify_own_process())


def test_another_process_is_dead_once_it_ended_even_before_it_is_waited_for() -> None:
    with subprocess.Popen([sys.executable, "-c", _ASK], stdin=-1, stdout=-1, text=True) as process:
        assert process.stdout is not None
        told = process.stdout.readline().strip()
        assert not owner.is_dead(told)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert owner.is_dead(told)


def test_a_number_that_came_back_is_another_process() -> None:
    place, _, started = owner.identify_own_process().rpartition(":")
    assert owner.is_dead(f"{place}:{int(started) - 1}")


def test_who_cannot_be_seen_from_here_is_not_judged() -> None:
    host, _, namespace, *_ = owner.identify_own_process().partition(":")
    assert not owner.is_dead(f"elsewhere:{namespace}")
    assert not owner.is_dead(f"{host}:1:999999999:1")
    assert not owner.is_dead("") and not owner.is_dead("nonsense")
