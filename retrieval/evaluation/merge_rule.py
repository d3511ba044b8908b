"""The merge rule: how blind votes, assisted reviews and agents' labels become one published label a pair.

A blind study's majority, adjudicated where there is none > an expert's acceptance of a written function >
agreeing assisted reviews, as many as the build's rule asks for > the agents' label > an imported label.
What none of them says is unjudged, never "no match".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from retrieval.models import Annotator, Source

FEWEST_REVIEWS: Final = 2
"""So many experts must agree before their label counts instead of the agents', unless a build says one."""
REVIEWS_TOLD: Final[Mapping[int, str]] = {
    1: "one or more assisted reviews, if they agree or are the majority",
    FEWEST_REVIEWS: "two or more assisted reviews that agree, if they are the majority",
}


def merge_rule_words(reviews_needed: int = FEWEST_REVIEWS) -> str:
    """The rule in words, as it is stored with a benchmark: a noun phrase, then a sentence."""
    steps = (
        "the majority of a blind study, or its adjudication",
        "an expert's acceptance of a written function",
        REVIEWS_TOLD[reviews_needed],
        "the agents' label",
        "an imported label",
    )
    told = "; ".join(f"{number}. {step}" for number, step in enumerate(steps, 1))
    return f"the first of these labels that the pair has: {told}. A pair that has none of these is unjudged"


def agents_told(agents: Annotator) -> str:
    """What a benchmark's merge rule says of the agents whose labels count."""
    return f"Agents: {agents.name}, version {agents.version[:8]}"


@dataclass(frozen=True, slots=True)
class AnnotatorStatement:
    """What one annotator says of a pair now, as 1 or 0: the value of its last label, by that label's id.

    `counts` is how many people stand behind it: several where it is itself a majority.
    """

    label: int
    source: Source
    value: int
    counts: int = 1


def merge_statements(
    said: Sequence[AnnotatorStatement], reviews_needed: int = FEWEST_REVIEWS
) -> AnnotatorStatement | None:
    """The one that counts of what several annotators say of a pair; None: it is unjudged.

    Of several studies the one published last counts, as of several agents or imports. Reviews that are tied,
    or fewer than `reviews_needed`, say nothing.
    """
    for found in (
        _last(said, Source.STUDY, Source.ADJUDICATED),
        _last(said, Source.ACCEPTED),
        _agreed(said, reviews_needed),
        _last(said, Source.AGENT),
        _last(said, Source.ORIGINAL),
    ):
        if found is not None:
            return found
    return None


def _last(said: Sequence[AnnotatorStatement], *sources: Source) -> AnnotatorStatement | None:
    return max(
        (statement for statement in said if statement.source in sources),
        key=lambda one: one.label,
        default=None,
    )


def _agreed(said: Sequence[AnnotatorStatement], reviews_needed: int) -> AnnotatorStatement | None:
    reviews = [statement for statement in said if statement.source is Source.REVIEWS]
    votes = Counter[int]()
    for review in reviews:
        votes[review.value] += review.counts
    ahead = votes[1] - votes[0]
    if not ahead or max(votes.values()) < reviews_needed:
        return None
    return _last([review for review in reviews if review.value == int(ahead > 0)], Source.REVIEWS)
