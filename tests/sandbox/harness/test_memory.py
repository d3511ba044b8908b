"""Whose need of memory it was that the kernel killed for: the program's, or the machine's."""

from pathlib import Path

import pytest

from sandbox.harness.memory import oom_kills, resident


@pytest.mark.parametrize(("reached", "own"), [(0, False), (3, True)])
def test_a_unified_group_counts_how_often_its_limit_was_reached(
    tmp_path: Path, reached: int, own: bool
) -> None:
    (tmp_path / "memory.events").write_text(f"low 0\nmax 9\noom {reached}\noom_kill 2\n")
    assert oom_kills(str(tmp_path)) == (2, own)


@pytest.mark.parametrize(("most", "own"), [(60 << 20, False), (63 << 20, True), (64 << 20, True)])
def test_an_old_group_tells_how_near_its_limit_it_came(tmp_path: Path, most: int, own: bool) -> None:
    (tmp_path / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 1\n")
    (tmp_path / "memory.max_usage_in_bytes").write_text(f"{most - 1}\n")
    (tmp_path / "memory.limit_in_bytes").write_text(f"{64 << 20}\n")
    assert oom_kills(str(tmp_path / "none"), str(tmp_path)) == (1, own)


def test_where_the_kernel_does_not_say_nothing_is_known(tmp_path: Path) -> None:
    assert oom_kills(str(tmp_path)) is None


def test_a_process_that_has_ended_takes_nothing() -> None:
    assert resident("0") == 0
