"""The planner's rates from a small study that was made before."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Final

import numpy as np

from annotation.stats.agreement.figures import Floats
from annotation.stats.agreement.labels import Labels, majority_labels
from annotation.stats.agreement.sample import Sample
from annotation.stats.planning.planner import Assumptions, BadPlan

COINS: Final = "the pilot's raters agree no more than coins would: nothing can be planned from it"
NOTHING: Final = "the pilot has no pair that two raters, or the annotator and a rater, have judged"
HIGHEST: Final = 0.99


def from_pilot(assumed: Assumptions, sample: Sample, people: Labels, annotator: Labels) -> Assumptions:
    """The same plan with the rates of a pilot: 0/1 labels of at least two people and one annotator. Where the
    pilot has one pair a query, clustering stays as assumed. Pairs weigh 1 ÷ inclusion probability, so the
    rates are those of what the pilot was drawn from.

    Raises BadPlan where raters agree no more than coins, or have nothing in common.
    """
    twos = [(one, two) for one in range(len(people.raters)) for two in range(one)]
    met = [score_equal_labels(people.values[:, [one]], people.values[:, [two]]) for one, two in twos]
    same = mean_of(np.hstack(met), sample.weights) if met else None
    beside = mean_of(score_equal_labels(annotator.values, people.values), sample.weights)
    if same is None or beside is None:
        raise BadPlan(NOTHING)
    true = majority_labels(people)
    found = intraclass_correlation(sample, true)
    rho = assumed.clustering if found is None else found
    slip = rater_error_rate(same, rho)
    return replace(
        assumed,
        prevalence=min(mean_of(true, sample.weights) or 0.0, HIGHEST),
        rater_accuracy=1 - slip,
        annotator_accuracy=1 - annotator_error_rate(beside, slip, rho),
        clustering=rho,
    )


def rater_error_rate(same: float, rho: float) -> float:
    """How often a rater errs: two whose errors meet in hard queries differ in 2e(1 − e)(1 − ρ) of pairs.

    Raises BadPlan where they differ in as many as coins would.
    """
    half = (1 - same) / (2 * (1 - rho))
    if half >= 0.25:
        raise BadPlan(COINS)
    return (1 - sqrt(1 - 4 * half)) / 2


def annotator_error_rate(same: float, slip: float, rho: float) -> float:
    """How often the annotator errs, from how often it agrees with a rater (`planner.as_hard` turned).

    Where queries are so much alike that fewer errors would not make it agree more often (`more` is not above
    0), it errs more often than a rater.
    """
    more = 1 - 2 * (slip + rho * (1 - slip))
    if more > 0 and (fewer := (1 - slip - same) / more) <= slip:
        return max(fewer, 0.0)
    return float(np.clip(1 - (same - slip) / (2 * (1 - slip + rho * slip) - 1), 0.0, 1.0))


def score_equal_labels(one: Floats, two: Floats) -> Floats:
    """1 where both say the same, 0 where not, nan where one says nothing."""
    return 1 - np.abs(one - two)


def mean_of(values: Floats, weights: Floats) -> float | None:
    """Of rows of pairs, one or several values each; nan counts nothing."""
    known = ~np.isnan(values)
    weighing = np.broadcast_to(weights if values.ndim == 1 else weights[:, None], values.shape)[known]
    return float(np.average(values[known], weights=weighing)) if weighing.size else None


def intraclass_correlation(sample: Sample, values: Floats) -> float | None:
    """The intraclass correlation of values of one query (one-way analysis of variance), 0 to 0.9; None where
    no query has two.
    """
    known = ~np.isnan(values)
    sums = sample.sums(np.column_stack([known, np.where(known, values, 0)]).astype(np.float64))
    many, total = sums[sums[:, 0] > 0].T
    inner = float(many.sum() - len(many))
    if inner <= 0 or len(many) < 2:
        return None
    middle = total.sum() / many.sum()
    between = float((many * (total / many - middle) ** 2).sum()) / (len(many) - 1)
    within = float((total - total**2 / many).sum()) / inner
    size = float(many.sum() - (many**2).sum() / many.sum()) / (len(many) - 1)
    whole = between + (size - 1) * within
    return float(np.clip((between - within) / whole, 0.0, 0.9)) if whole > 0 else 0.0
