"""Means over queries, which leave out the queries that say nothing and count them."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Average:
    """A mean over `queries` queries; `skipped` others have no match. `value` is None without queries."""

    value: float | None
    queries: int
    skipped: int


def average_measure(values: Iterable[float | None]) -> Average:
    """The mean of one measure; None stands for a query without a match."""
    given = list(values)
    defined = [value for value in given if value is not None]
    mean = math.fsum(defined) / len(defined) if defined else None
    return Average(mean, len(defined), len(given) - len(defined))


def average_by_positives(scores: Iterable[tuple[int, float | None]]) -> dict[int, Average]:
    """The mean by number of matches, ascending, of (number of matches, value) for each query."""
    groups: dict[int, list[float | None]] = defaultdict(list)
    for positives, value in scores:
        groups[positives].append(value)
    return {positives: average_measure(groups[positives]) for positives in sorted(groups)}
