"""How alike two orders of the same systems are."""

from __future__ import annotations

from collections.abc import Sequence


def kendall_tau(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Kendall's tau-b of two sequences of values for the same things, -1 to 1; ties count for neither side.

    (concordant - discordant) ÷ √((pairs - ties in the first)(pairs - ties in the second)) (Kendall 1945).
    None for fewer than two things, or where one sequence is all ties. Raises ValueError for unequal lengths.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} values and {len(second)} values; each item needs one in both")
    if len(set(first)) < 2 or len(set(second)) < 2:
        return None
    from scipy.stats import kendalltau  # takes a second to load, so not before a figure needs it

    return float(kendalltau(first, second).statistic)
