"""Each two annotators over the pairs that both judged: whose labels are right more often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from annotation.agreement import Figure
from annotation.agreement.differences import compare, holm, right, sign_test
from annotation.quality.answers import Entry
from annotation.quality.ground import Ground, Side


@dataclass(frozen=True, slots=True)
class Difference:
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


def differences(ground: Ground, entries: Sequence[Entry]) -> tuple[Difference, ...]:
    """Every two annotators in every stratum in which they have pairs in common."""
    found: list[Difference] = []
    for stratum in ground.strata(entries):
        rows = [difference(ground, one, other, stratum) for one, other in combinations(entries, 2)]
        some = [row for row in rows if row.pairs]
        corrected = holm([row.p for row in some])
        found += [replace(row, p_holm=p) for row, p in zip(some, corrected, strict=True)]
    return tuple(found)


def difference(ground: Ground, first: Entry, second: Entry, stratum: str) -> Difference:
    """One comparison; p is not corrected yet."""
    one, two = (
        Side.of(ground, entry.name, entry.answerings).against(ground.truth) for entry in (first, second)
    )
    inside = ground.together(stratum, first, second) & ground.known
    found = compare(ground.sample, ground.draws, one, two, inside.astype(np.float64))
    mine, theirs = np.where(inside, right(one), np.nan), np.where(inside, right(two), np.nan)
    alone = int((mine > theirs).sum()), int((theirs > mine).sum())
    return Difference(
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
