"""What the ratings of one pair come to: a strict majority, and how far they agree.

Published labels, decisions, one more rater and figures ask `settle_votes`: whether the pair is a match is
decided by a strict majority of *match or not*, whatever the scale. Votes 2, 1, 0 of *all of it, at least
half, less* are a 0: two of three say that it is no exact match.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from annotation.models import Study
from retrieval.models.labels import MATCH_FROM

VALUES: Final[Mapping[str, tuple[int, ...]]] = {
    Study.Scale.BINARY: (1, 0),
    Study.Scale.STEPS: (2, 1, 0),
    Study.Scale.GRADED: (3, 2, 1, 0),
    Study.Scale.PREFERENCE: (1, 0, -1),
}
MATCH_AT: Final[Mapping[str, int]] = {
    Study.Scale.BINARY: 1,
    Study.Scale.STEPS: 2,
    Study.Scale.GRADED: MATCH_FROM,
    Study.Scale.PREFERENCE: 1,
}
"""From which value of a scale on a rating says that the pair is a match."""


def settle_votes(votes: Sequence[int | None], scale: str, quorum: int = 0) -> int | None:
    """The value that raters come to; None where they split. `quorum` is as in `majority_vote`.

    A strict majority of match or not decides, and of the values on that side the lower middle one stands: the
    one that most gave, where most gave one. Choices between two snippets are no more and no less of anything.
    """
    if scale == Study.Scale.PREFERENCE:
        return majority_vote(votes, quorum)
    says = majority_vote([None if vote is None else says_match(vote, scale) for vote in votes], quorum)
    same = sorted(vote for vote in votes if vote is not None and says_match(vote, scale) == says)
    return None if says is None else same[(len(same) - 1) // 2]


def vote_sides_of_scale(scale: str) -> Mapping[str, tuple[int, ...]]:
    """The values between which raters split: match or not, or each choice."""
    values = VALUES[scale]
    if scale == Study.Scale.PREFERENCE:
        return {str(place): (value,) for place, value in enumerate(values)}
    match = tuple(value for value in values if says_match(value, scale))
    return {"match": match, "other": tuple(value for value in values if value not in match)}


def says_match(value: int, scale: str) -> bool:
    """Whether a value of the scale says 1 in figures and in binary labels."""
    return value >= MATCH_AT[scale]


def majority_vote(votes: Sequence[int | None], quorum: int = 0) -> int | None:
    """The value that more than half of the planned quorum gave; None where there is none.

    Where more raters than planned gave a value, more than half of those; where fewer are planned than were
    asked, `quorum` is left out, and everybody counts, the unsure among them.
    """
    counts = Counter(vote for vote in votes if vote is not None)
    if not counts:
        return None
    value, most = counts.most_common(1)[0]
    return value if 2 * most > max(quorum or len(votes), counts.total()) else None


def vote_agreement(votes: Sequence[int | None]) -> float:
    """The share of pairs of raters that gave the same value, 0 to 1; the unsure agree with nobody."""
    pairs = len(votes) * (len(votes) - 1)
    counts = Counter(vote for vote in votes if vote is not None)
    return sum(count * (count - 1) for count in counts.values()) / pairs if pairs else 1.0
