"""One query's ranked list beside its labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Ranking:
    """`found`: relevance at each rank, best first, None where nobody judged; `judged`: of all judged.

    A snippet is a match where its relevance is above 0.
    """

    found: Sequence[float | None]
    judged: Sequence[float]

    @cached_property
    def hits(self) -> list[bool]:
        return [relevance is not None and relevance > 0 for relevance in self.found]

    @cached_property
    def positives(self) -> int:
        return sum(relevance > 0 for relevance in self.judged)
