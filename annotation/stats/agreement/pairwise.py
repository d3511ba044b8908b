"""Which of two snippets answers better: the share of wins, and what the sides had to do with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from annotation.stats.agreement.differences import sign_test
from annotation.stats.agreement.figures import Figure, Flags, Floats
from annotation.stats.agreement.korn_graubard import effective_sample_size
from annotation.stats.agreement.sample import Draws, Sample
from annotation.stats.agreement.statistic import measure_statistics, share_of

NO_CHOICE: Final = "nobody has chosen yet"
ONLY_TIES: Final = "every choice is a tie"


@dataclass(frozen=True, slots=True)
class Preference:
    """The share of choices that the first of two benchmarks wins.

    `halved` counts a tie as half a win, `decided` leaves ties out; `left` is the share of decided choices for
    the snippet on the left (½ without a habit). The sign test counts queries: `for_first` and `for_second`
    are those with more wins of one, `even` the rest; `p` is None while the study is interim. Shares weigh
    a choice by 1 ÷ the inclusion probability of its pair; the sign test counts every query once.
    """

    choices: int
    ties: int
    halved: Figure
    decided: Figure
    left: Figure
    for_first: int
    for_second: int
    even: int
    p: float | None


def measure_preference(
    sample: Sample, draws: Draws, won: Floats, first_left: Flags, interim: bool = False
) -> Preference:
    """From one choice a row of the sample: 1 where the first won, 0 where the second did, ½ at a tie, nan
    where nobody chose; and whether the first stood on the left.
    """
    chosen, weights = ~np.isnan(won), sample.weights
    decided = chosen & (won != 0.5)
    left = np.where(first_left, won == 1, won == 0) & decided
    plain = sample.alone(np.where(decided, weights, 0.0))
    many, some = effective_sample_size(weights * chosen), effective_sample_size(weights * decided)
    wins = weighted_query_sums(sample, np.where(chosen, won, 0), chosen, weights)
    clear = weighted_query_sums(sample, decided & (won == 1), decided, weights)
    columns = {
        "halved": share_of(wins, NO_CHOICE, pairs=many),
        "decided": share_of(clear, ONLY_TIES, plain, pairs=some),
        "left": share_of(weighted_query_sums(sample, left, decided, weights), ONLY_TIES, plain, pairs=some),
    }
    made = measure_statistics(draws, columns)
    balance = sample.sums(np.where(chosen, won - 0.5, 0)[:, None])[:, 0]
    asked = sample.sums(chosen[:, None].astype(np.float64))[:, 0] > 0
    plus, minus = int((balance > 0).sum()), int((balance < 0).sum())
    return Preference(
        choices=int(chosen.sum()),
        ties=int((chosen & ~decided).sum()),
        **{name: statistic.figure for name, statistic in made.items()},
        for_first=plus,
        for_second=minus,
        even=int(asked.sum()) - plus - minus,
        p=None if interim else sign_test(plus, minus),
    )


def weighted_query_sums(sample: Sample, part: Floats | Flags, whole: Flags, weights: Floats) -> Floats:
    """Part and whole by query, weighted."""
    return sample.sums(weights[:, None] * np.column_stack([part, whole]).astype(np.float64))
