"""What the ratings of one pair come to: a strict majority, and how far they agree. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def majority(votes: Sequence[int | None], quorum: int = 0) -> int | None:
    """The value that more than half of the planned quorum gave; None where there is none.

    Where more raters than planned gave a value, more than half of those; where fewer are planned than were
    asked, `quorum` is left out, and everybody counts, the unsure among them.
    """
    counts = Counter(vote for vote in votes if vote is not None)
    if not counts:
        return None
    value, most = counts.most_common(1)[0]
    return value if 2 * most > max(quorum or len(votes), counts.total()) else None


def agreement(votes: Sequence[int | None]) -> float:
    """The share of pairs of raters that gave the same value, 0 to 1; the unsure agree with nobody."""
    pairs = len(votes) * (len(votes) - 1)
    counts = Counter(vote for vote in votes if vote is not None)
    return sum(count * (count - 1) for count in counts.values()) / pairs if pairs else 1.0
