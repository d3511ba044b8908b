"""One query's ranked list beside its labels."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Distractors:
    """Snippets drawn to stand beside the right one: whether each rank holds one, and how many were drawn."""

    at: Sequence[bool]
    drawn: int


@dataclass(frozen=True)
class Ranking:
    """`found`: relevance at each rank, best first, None where nobody judged; `judged`: of all judged.

    A snippet is a match where its relevance is above 0. Only some measures need the rest: `groups` names at
    each rank the snippet's group of near-duplicates, `distractors` what was drawn, by seed.
    """

    found: Sequence[float | None]
    judged: Sequence[float]
    groups: Sequence[Hashable] | None = None
    distractors: Mapping[int, Distractors] = field(default_factory=dict)

    @cached_property
    def hits(self) -> list[bool]:
        return [relevance is not None and relevance > 0 for relevance in self.found]

    @cached_property
    def condensed(self) -> Ranking:
        """The list without its unjudged results, itself where there are none."""
        ranks = [rank for rank, relevance in enumerate(self.found) if relevance is not None]
        if len(ranks) == len(self.found):
            return self
        return Ranking(
            [self.found[rank] for rank in ranks],
            self.judged,
            None if self.groups is None else [self.groups[rank] for rank in ranks],
            {
                seed: Distractors([those.at[rank] for rank in ranks], those.drawn)
                for seed, those in self.distractors.items()
            },
        )

    @cached_property
    def positives(self) -> int:
        return sum(relevance > 0 for relevance in self.judged)
