"""Is one annotator better than another: McNemar, the query bootstrap, Tango, Holm, non-inferiority."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from annotation.stats.agreement.figures import TANGO, Figure, Floats
from annotation.stats.agreement.sample import Draws, Sample
from annotation.stats.agreement.scores import Against, score_cell_agreement
from annotation.stats.agreement.statistic import Drawn, Statistic, measure_statistics, share_of
from annotation.stats.agreement.tango_interval import Apart
from annotation.stats.distributions import binomial_below
from retrieval.metrics.significance import adjust_by_holm

MCNEMAR: Final = "mid-p McNemar"
BOOTSTRAP: Final = "query bootstrap"
SCORE: Final = "Tango's score"
NO_COMMON: Final = "there is no pair that both and the reference have judged"


@dataclass(frozen=True, slots=True)
class Margin:
    """Whether the first is worse by less than the margin: the one-sided 95 % lower bound lies above −margin.

    None where there is no bound.
    """

    margin: float
    lower: float | None

    @property
    def kept(self) -> bool | None:
        return None if self.lower is None else self.lower > -self.margin


@dataclass(frozen=True, slots=True)
class AnnotatorComparison:
    """The accuracy of one minus that of another over the `n` pairs that both judged.

    `p` and `p_holm` are None while the study is interim, and where there is none.
    """

    first: str
    second: str
    n: int
    difference: Figure
    method: str
    p: float | None = None
    p_holm: float | None = None
    margin: Margin | None = None


def compare_annotators(
    sample: Sample,
    draws: Draws,
    first: Against,
    second: Against,
    weights: Floats,
    margin: float | None = None,
) -> AnnotatorComparison:
    """Two annotators on the pairs that both and the reference have judged."""
    one, two = score_correctness(first), score_correctness(second)
    common = ~(np.isnan(one) | np.isnan(two)) & (weights != 0)
    counted = np.where(common, weights, 0.0)
    drawn = measure_statistics(draws, {"difference": weighted_mean_difference(sample, one, two, counted)})[
        "difference"
    ]
    single = first.said.shape[1] == second.said.shape[1] == 1
    exact = single and sample.alone(counted) and not (first.left_out or second.left_out)
    only_one, only_two = (int((common & (a > b)).sum()) for a, b in ((one, two), (two, one)))
    return AnnotatorComparison(
        first=first.name,
        second=second.name,
        n=int(common.sum()),
        difference=drawn.figure,
        method=MCNEMAR if exact else describe_p_value_method(drawn.figure),
        p=mcnemar_mid_p(only_one, only_two) if exact and common.any() else drawn.p,
        margin=assess_noninferiority(drawn, margin),
    )


def score_correctness(against: Against) -> Floats:
    """How far each pair's labels are right, 0 to 1; nan where nothing can be compared."""
    return score_cell_agreement(against.cells)


def weighted_mean_difference(sample: Sample, one: Floats, two: Floats, weights: Floats) -> Statistic:
    """The weighted mean of `one` − `two`, over the pairs whose weight is not 0."""
    far = np.where(weights != 0, np.nan_to_num(one) - np.nan_to_num(two), 0.0)
    found = share_of(sample.sums(np.column_stack([weights * far, weights])), NO_COMMON)
    apart = Apart.of(sample, far[:, None], weights[:, None])
    return Statistic(found.columns, found.of, NO_COMMON, apart=apart)


def describe_p_value_method(found: Figure) -> str:
    """What p of a difference is made of, as its interval is."""
    return SCORE if found.method == TANGO else BOOTSTRAP


def assess_noninferiority(drawn: Drawn, margin: float | None) -> Margin | None:
    """Non-inferiority against a margin that was set before; None without one."""
    return None if margin is None else Margin(margin, drawn.at_least)


def mcnemar_mid_p(only_first: int, only_second: int) -> float:
    """Two-sided mid-p of McNemar's test from the pairs on which one alone is right (Fagerland, Lydersen and
    Laake 2013, BMC MRM 13:91): the exact binomial p less the probability of what was seen. 1 without any.
    """
    return two_sided(only_first, only_second, mid=True)


def sign_test(plus: int, minus: int) -> float:
    """Two-sided exact sign test of so many against so many; 1 without any."""
    return two_sided(plus, minus, mid=False)


def two_sided(one: int, two: int, mid: bool) -> float:
    """The binomial p of a fair coin; by `mid` what was seen counts once, not twice."""
    many, low = one + two, min(one, two)
    if abs(one - two) <= (not mid):
        return 1.0
    return min(1.0, binomial_below(low, many, 0.5) + binomial_below(low - mid, many, 0.5))


def holm_correction(found: Sequence[float | None]) -> list[float | None]:
    """The p values of one table, corrected for their number; those that are None stay so."""
    known = iter(adjust_by_holm([p for p in found if p is not None]))
    return [None if p is None else next(known) for p in found]
