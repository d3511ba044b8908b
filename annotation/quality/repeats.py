"""How often an annotator says the same when it is asked again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from annotation.quality.answers import Answering, BenchEntry
from annotation.quality.ground import Ground, StratumAnswers
from annotation.stats.agreement.figures import Figure
from annotation.stats.agreement.statistic import measure_statistics, share_of

NOTHING_TWICE = "no pair was judged by both"


@dataclass(frozen=True, slots=True)
class Repeat:
    """Two answerings of one annotator: of `pairs` that both judged, truth or not, the share with equal
    labels.
    """

    first: str
    second: str
    stratum: str
    pairs: int
    equal: Figure


def measure_all_repeats(ground: Ground, entry: BenchEntry, strata: Sequence[str]) -> tuple[Repeat, ...]:
    """Each two answerings in each stratum; nothing for an annotator that answered once."""
    twos = combinations(entry.answerings, 2)
    return tuple(
        measure_repeat_agreement(ground, one, other, stratum) for one, other in twos for stratum in strata
    )


def measure_repeat_agreement(ground: Ground, first: Answering, second: Answering, stratum: str) -> Repeat:
    """One row."""
    both = StratumAnswers.of(ground, first.name, [first, second])
    inside = ground.together(stratum, BenchEntry("", (first, second)))
    judged = inside & ~np.isnan(both.said).any(axis=1)
    equal = judged & (both.said[:, 0] == both.said[:, 1])
    weights = judged.astype(np.float64)
    columns = ground.sample.sums(np.column_stack([equal, judged]).astype(np.float64))
    share = share_of(columns, NOTHING_TWICE, plain=ground.sample.alone(weights), pairs=float(judged.sum()))
    figure = measure_statistics(ground.draws, {"equal": share})["equal"].figure
    return Repeat(first.name, second.name, stratum, int(judged.sum()), figure)
