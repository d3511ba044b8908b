"""Pairs on which reader and arbiter differ: how many a build has, and what people's decisions bring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.db.models import Count, Exists, OuterRef, Q

from annotation.models import Basis, Build, Case, Review
from annotation.stats.intervals import clopper_pearson

NEXT: Final = 100


@dataclass(frozen=True, slots=True)
class Disputes:
    """Of `pairs` (first rounds) `disputed` are so; people labelled `decided`, and `changed` otherwise."""

    pairs: int
    disputed: int
    decided: int
    changed: int

    @property
    def left(self) -> int:
        return self.disputed - self.decided

    @property
    def kept(self) -> int:
        """Labels of agents that people upheld."""
        return self.decided - self.changed

    @property
    def interval(self) -> tuple[float, float]:
        """95 % of the share that people change (Clopper and Pearson)."""
        return clopper_pearson(self.changed, self.decided)

    @property
    def next_changes(self) -> tuple[float, float, float]:
        """How many labels the next hundred decisions may change: expected, low and high."""
        low, high = self.interval
        return NEXT * self.changed / self.decided, NEXT * low, NEXT * high


def disputes_of(build: Build) -> Disputes | None:
    """What is known of a build's disputed pairs, by one query; None where it has none."""
    if not build.tally.disputed:
        return None
    labelled = Review.objects.current().filter(pair=OuterRef("pair"), label__isnull=False)
    rows = Case.objects.filter(build=build, round=1, basis=Basis.DISPUTED)
    counts = rows.aggregate(
        disputed=Count("pk"),
        decided=Count("pk", filter=Q(Exists(labelled))),
        changed=Count("pk", filter=Q(contradicted=True) & Q(Exists(labelled))),
    )
    return Disputes(build.pair_count, **counts)
