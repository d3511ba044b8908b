"""Ranked lists beside labels, query by query: each measure, what it would be without unjudged results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from retrieval.metrics.names import Measure
from retrieval.metrics.ranking import Ranking
from retrieval.metrics.resampling import Interval, bootstrap_means, percentile_interval

Doubles = npt.NDArray[np.float64]
TOP = 10
"""Results of which a measure without a cut-off says how many are judged: those that people read."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One measure of one run: an array each, a value a query, NaN for a query without a match.

    `condensed` is the measure of the list without its unjudged results (Sakai 2007), `judged` the share of
    judged ones among the first `cut` that the list has.
    """

    measure: str
    values: Doubles
    condensed: Doubles
    judged: Doubles

    @property
    def cut(self) -> int:
        return cut_of(self.measure)


@dataclass(frozen=True, slots=True)
class Figure:
    """Means of a `Scored` over the queries with a match, and the interval of the first; None: undefined."""

    value: float | None
    condensed: float | None
    judged: float | None
    interval: Interval | None


def cut_of(measure: str) -> int:
    """The cut-off in a measure's name, `TOP` where it has none."""
    _, _, k = measure.partition("@")
    return int(k) if k else TOP


def score_rankings(measures: Sequence[Measure], rankings: Iterable[Ranking]) -> list[Scored]:
    """Measure every query's list."""
    rows = [[_one(measure, ranking) for measure in measures] for ranking in rankings]
    table = np.array(rows, dtype=np.float64).reshape(len(rows), len(measures), 3)
    return [
        Scored(measure.name, table[:, number, 0], table[:, number, 1], table[:, number, 2])
        for number, measure in enumerate(measures)
    ]


def _one(measure: Measure, ranking: Ranking) -> tuple[float, float, float]:
    """Value, condensed value and judged share of one list."""
    value = measure.score(ranking)
    if value is None:
        return math.nan, math.nan, math.nan
    condensed = value if ranking.condensed is ranking else measure.score(ranking.condensed)
    return value, math.nan if condensed is None else condensed, _judged(ranking, cut_of(measure.name))


def _judged(ranking: Ranking, k: int) -> float:
    """The share of judged results among the first k; NaN where there is no result."""
    top = ranking.found[:k]
    return sum(relevance is not None for relevance in top) / len(top) if top else math.nan


def compute_mean_figures(
    of: Sequence[Scored],
    *,
    condensed: bool,
    chosen: npt.NDArray[np.bool_] | None = None,
    intervals: bool = True,
) -> list[Figure]:
    """Means with 95 % intervals, or without these, which take longest. `chosen` keeps some queries.

    `condensed` is whether anything is judged to be no match: else a condensed list is perfect by itself.
    """
    if not of:
        return []
    kept = np.isfinite(of[0].values) if chosen is None else np.isfinite(of[0].values) & chosen
    if not kept.any():
        return [Figure(None, None, None, None) for _ in of]
    several = intervals and int(kept.sum()) > 1
    resampled = (
        bootstrap_means(np.array([scored.values[kept] for scored in of])) if several else [None] * len(of)
    )
    return [
        Figure(
            float(scored.values[kept].mean()),
            float(scored.condensed[kept].mean()) if condensed else None,
            _mean_of_known(scored.judged[kept]),
            None if means is None else percentile_interval(means),
        )
        for scored, means in zip(of, resampled, strict=True)
    ]


def _mean_of_known(values: Doubles) -> float | None:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else None
