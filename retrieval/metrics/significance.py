"""p-values of one table, corrected for their number."""

from __future__ import annotations

from collections.abc import Sequence


def adjust_by_holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values (Holm 1979): the share of false alarms among all comparisons stays below them.

    The i-th smallest of m is multiplied by m - i + 1, never below the one before it, at most 1.
    """
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for done, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, p_values[place] * (len(p_values) - done)))
        adjusted[place] = largest
    return adjusted
