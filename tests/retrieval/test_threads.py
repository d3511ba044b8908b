"""Spread work comes back in order, begins only a little ahead, and fails where it is taken."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator

import pytest

from retrieval.threads import count_usable_cores, prefetch_parts, spread_over_cores


def test_results_come_in_order() -> None:
    assert list(spread_over_cores(lambda number: number * 2, range(100))) == list(range(0, 200, 2))


def test_parts_are_taken_as_they_are_needed() -> None:
    taken: list[int] = []

    def parts() -> Iterator[int]:
        for number in range(1000):
            taken.append(number)
            yield number

    next(spread_over_cores(str, parts()))
    assert len(taken) <= 2 * count_usable_cores() + 1


def test_an_error_rises_where_the_result_is_taken() -> None:
    found = spread_over_cores(lambda number: 1 / number, [1, 0])
    assert next(found) == 1
    with pytest.raises(ZeroDivisionError):
        next(found)


def test_ahead_gives_the_parts_in_order() -> None:
    assert list(prefetch_parts(iter(range(50)))) == list(range(50))
    assert list(prefetch_parts(iter([]))) == []


def test_ahead_makes_no_more_than_it_was_told_to() -> None:
    made: list[int] = []
    parts = prefetch_parts((made.append(number) or number for number in range(1000)), most=2)  # type: ignore[func-returns-value]
    assert next(parts) == 0
    time.sleep(0.3)
    assert len(made) <= 4  # one taken, two waiting, one that finds no room
    parts.close()  # type: ignore[attr-defined]  # a generator


def test_what_making_a_part_raises_comes_in_its_turn() -> None:
    def broken() -> Iterator[int]:
        yield 1
        raise ValueError("no second one")

    parts = prefetch_parts(broken())
    assert next(parts) == 1
    with pytest.raises(ValueError, match="no second one"):
        next(parts)


def test_the_thread_ends_with_its_iterator() -> None:
    parts = prefetch_parts(itertools.count())
    next(parts)
    parts.close()  # type: ignore[attr-defined]  # a generator
    assert not [thread for thread in threading.enumerate() if thread.name == "ahead"]
