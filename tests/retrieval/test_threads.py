"""Spread work comes back in order, begins only a little ahead, and fails where it is taken."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from retrieval.threads import cores, spread


def test_results_come_in_order() -> None:
    assert list(spread(lambda number: number * 2, range(100))) == list(range(0, 200, 2))


def test_parts_are_taken_as_they_are_needed() -> None:
    taken: list[int] = []

    def parts() -> Iterator[int]:
        for number in range(1000):
            taken.append(number)
            yield number

    next(spread(str, parts()))
    assert len(taken) <= 2 * cores() + 1


def test_an_error_rises_where_the_result_is_taken() -> None:
    found = spread(lambda number: 1 / number, [1, 0])
    assert next(found) == 1
    with pytest.raises(ZeroDivisionError):
        next(found)
