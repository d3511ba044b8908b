"""Each two annotators over the pairs that both judged: whose labels are right more often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from annotation.quality.answers import BenchEntry
from annotation.quality.ground import Ground, StratumAnswers
from annotation.stats.agreement.differences import (
    compare_annotators,
    holm_correction,
    score_correctness,
    sign_test,
)
from annotation.stats.agreement.figures import Figure


@dataclass(frozen=True, slots=True)
class AccuracyDifference:
    """The accuracy of the first less that of the second, over `pairs` that both judged.

    `first_alone` pairs only the first has right, `second_alone` only the second (of several answerings: the
    one that is right more often). `exact_p` is McNemar's exact test of those two counts, which takes pairs as
    independent; `p` is by `method`, and `p_holm` corrected for all comparisons of the stratum.
    """

    first: str
    second: str
    stratum: str
    pairs: int
    difference: Figure
    first_alone: int
    second_alone: int
    exact_p: float
    p: float | None
    method: str
    p_holm: float | None = None


def compare_all_annotators(ground: Ground, entries: Sequence[BenchEntry]) -> tuple[AccuracyDifference, ...]:
    """Every two annotators in every stratum in which they have pairs in common."""
    found: list[AccuracyDifference] = []
    for stratum in ground.strata(entries):
        rows = [
            compare_two_annotators(ground, one, other, stratum) for one, other in combinations(entries, 2)
        ]
        some = [row for row in rows if row.pairs]
        corrected = holm_correction([row.p for row in some])
        found += [replace(row, p_holm=p) for row, p in zip(some, corrected, strict=True)]
    return tuple(found)


def compare_two_annotators(
    ground: Ground, first: BenchEntry, second: BenchEntry, stratum: str
) -> AccuracyDifference:
    """One comparison; p is not corrected yet."""
    one, two = (
        StratumAnswers.of(ground, entry.name, entry.answerings).against(ground.truth)
        for entry in (first, second)
    )
    inside = ground.together(stratum, first, second) & ground.known
    found = compare_annotators(ground.sample, ground.draws, one, two, inside.astype(np.float64))
    mine, theirs = (
        np.where(inside, score_correctness(one), np.nan),
        np.where(inside, score_correctness(two), np.nan),
    )
    alone = int((mine > theirs).sum()), int((theirs > mine).sum())
    return AccuracyDifference(
        first=first.name,
        second=second.name,
        stratum=stratum,
        pairs=found.n,
        difference=found.difference,
        first_alone=alone[0],
        second_alone=alone[1],
        exact_p=sign_test(*alone),
        p=found.p,
        method=found.method,
    )
