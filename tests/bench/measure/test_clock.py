"""Rates in turns: what a ratio is made of."""

from __future__ import annotations

from bench.measure.clock import ROUNDS, Throughputs, rates_in_turns


def test_a_slow_moment_that_meets_both_changes_no_ratio() -> None:
    rates = Throughputs(
        ({"own": 8.0, "rival": 16.0}, {"own": 2.0, "rival": 4.0}, {"own": 9.0, "rival": 18.0})
    )
    assert rates.ratio("own", "rival") == 0.5
    assert rates.medians() == {"own": 8.0, "rival": 16.0}


def test_the_works_take_turns() -> None:
    done: list[str] = []
    rates_in_turns({"a": lambda: done.append("a"), "b": lambda: done.append("b")}, times=2, callers=1)
    assert done == ["a", "a", "b", "b"] * ROUNDS
