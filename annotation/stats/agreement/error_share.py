"""Which share of an annotator's labels is wrong, of its 1s and of its 0s, and how much such a share is worth.

Of pairs that weigh differently, or several of one query, a share is less sure than of as many labels drawn
one by one. It is worth as many as would leave it as unsure: share × (1 − share) ÷ its variance over the draws
(Korn and Graubard 1998, Survey Methodology 24:193).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from annotation.stats.agreement.figures import Floats
from annotation.stats.agreement.korn_graubard import effective_sample_size
from annotation.stats.agreement.page import Study
from annotation.stats.agreement.sample import Draws, Sample
from annotation.stats.agreement.statistic import divide_or_nan

NO_SPREAD: Final = 1e-9
"""Draws that differ by less are alike: they are quotients."""


@dataclass(frozen=True, slots=True)
class Wrong:
    """The weighted `share` of `of` labels that is wrong: as sure as of `worth` labels drawn one by one."""

    share: float
    of: float
    worth: float


@dataclass(frozen=True, slots=True)
class WrongLabels:
    """Of an annotator's 1s and of its 0s; None where the reference judged none of them."""

    matches: Wrong | None
    others: Wrong | None


def wrong_labels(study: Study) -> dict[str, WrongLabels]:
    """By row of the main table, over the draws of the page."""
    draws = Draws.of(study.sample)
    return {row.name: wrong_of(study.sample, draws, study.against(row).cells) for row in study.rows}


def wrong_of(sample: Sample, draws: Draws, cells: Floats) -> WrongLabels:
    """One row's, by the cells of its pairs (`Against.cells`)."""
    both, only_said, only_true, neither = cells.T
    return WrongLabels(share_of(sample, draws, only_said, both), share_of(sample, draws, only_true, neither))


def share_of(sample: Sample, draws: Draws, wrong: Floats, right: Floats) -> Wrong | None:
    """Of labels of one kind, which pairs hold as wrong and right ones; None where there are none."""
    whole = wrong + right
    if not whole.any():
        return None
    sums = sample.sums(sample.weights[:, None] * np.column_stack([wrong, whole]))
    share, of = float(sums[:, 0].sum() / sums[:, 1].sum()), float(whole.sum())
    plain = sample.alone(np.where(whole > 0, sample.weights, 0.0)) and bool(np.isin(whole, (0.0, 1.0)).all())
    return Wrong(share, of, of if plain else min(of, as_sure(share, sums, draws)))


def as_sure(share: float, sums: Floats, draws: Draws) -> float:
    """As how many labels drawn one by one; where the draws don't spread, as of none wrong, a query is one."""
    drawn = draws.sums(sums)
    found = divide_or_nan(drawn[:, 0], drawn[:, 1])
    spread = float(found[~np.isnan(found)].std())
    if spread > NO_SPREAD and 0 < share < 1:
        return share * (1 - share) / spread**2
    return effective_sample_size(sums[:, 1])
