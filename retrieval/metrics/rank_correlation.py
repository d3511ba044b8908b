"""How alike two orders of the same systems are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import sqrt


def kendall_tau(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Kendall's tau-b of two sequences of values for the same things, -1 to 1; ties count for neither side.

    (concordant - discordant) ÷ √((pairs - ties in the first)(pairs - ties in the second)) (Kendall 1945).
    None for fewer than two things, or where one sequence is all ties. Raises ValueError for unequal lengths.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} values beside {len(second)}; each thing has one in both")
    agreeing = first_apart = second_apart = 0
    for one, other in combinations(range(len(first)), 2):
        a, b = _sign(first[one] - first[other]), _sign(second[one] - second[other])
        agreeing += a * b
        first_apart += a != 0
        second_apart += b != 0
    if not first_apart or not second_apart:
        return None
    return agreeing / sqrt(first_apart * second_apart)


def _sign(difference: float) -> int:
    return (difference > 0) - (difference < 0)
