"""What of a tree of figures differs from another one. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

TOLERANCE: Final = 1e-9
"""Relative: machines differ in the last bits of a sum, and in nothing that a table prints."""


@dataclass(frozen=True, slots=True)
class Change:
    """One place of the tree, such as `figures/12/mrr/value`; None where a side has nothing there."""

    where: str
    before: Any
    now: Any


def changes(before: Any, now: Any, where: str = "") -> list[Change]:
    """Every leaf that differs, in the order of `before`; numbers within `TOLERANCE` are the same."""
    return [
        Change(place.lstrip("/"), one, other)
        for place, one, other in _leaves(before, now, where)
        if not same(one, other)
    ]


def same(one: Any, other: Any) -> bool:
    """Whether two leaves say the same. A truth value is no number."""
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in (one, other)]
    if all(numbers):
        return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=1e-12)
    return type(one) is type(other) and bool(one == other)


def _leaves(before: Any, now: Any, where: str) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for key in [*before, *(key for key in now if key not in before)]:
            yield from _leaves(before.get(key), now.get(key), f"{where}/{key}")
    elif is_row(before) and is_row(now):
        for place in range(max(len(before), len(now))):
            one, other = (side[place] if place < len(side) else None for side in (before, now))
            yield from _leaves(one, other, f"{where}/{place}")
    else:
        yield where, before, now


def is_row(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
