"""Runs of one benchmark beside each other: means with intervals, and paired differences of neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from retrieval.evaluation.scoring import Figure, Scored, figures
from retrieval.metrics.resampling import Interval, bootstrap_means, interval
from retrieval.metrics.significance import holm, paired_p
from retrieval.models import Benchmark, Run, Score

MOST_RUNS = 30
PREFERRED = ("ndcg@10", "mrr@10", "mrr")
LESS_JUDGED = 0.1
"""A run whose share of judged results is lower by more than this can't be compared without a remark."""

Chosen = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Standing:
    """One run's figures by metric; those that it was not asked for are missing."""

    run: Run
    figures: Mapping[str, Figure]
    helped_to_mine: bool
    less_judged: bool


@dataclass(frozen=True, slots=True)
class Difference:
    """How much higher `better` is than `other`, with a 95 % interval and Holm's p over all differences."""

    better: Run
    other: Run
    value: float
    interval: Interval
    p: float


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Runs by falling mean of `metric`, and the difference of each to the next one.

    `values`: by run the metric of each query in the benchmark's order, NaN without a match. `queries` were
    scored.
    """

    metric: str
    metrics: Sequence[str]
    standings: Sequence[Standing]
    differences: Sequence[Difference]
    values: Mapping[int, npt.NDArray[np.float64]]
    chosen: Chosen
    queries: int


def leaderboard(
    benchmark: Benchmark, pool: str, metric: str = "", fewest: int = 1, most: int | None = None
) -> Leaderboard:
    """Compare the newest run of each system, text option and `pool`, by queries with some number of matches.

    A `metric` that no run has is replaced by the first of `PREFERRED` that there is.
    """
    runs = newest(benchmark, pool)
    scores = _scores(runs)
    metrics = sorted({name for _, name in scores}, key=_order)
    metric = metric if metric in metrics else next(iter(metrics), "")
    matches = benchmark.match_counts
    chosen = (matches >= max(fewest, 1)) & (matches <= (matches.max(initial=0) if most is None else most))
    standings = _standings(benchmark, runs, scores, metric, chosen)
    ordered = [standing.run for standing in standings if metric in standing.figures]
    values = {run.pk: scores[run.pk, metric].values for run in ordered}
    return Leaderboard(
        metric, metrics, standings, _differences(ordered, values, chosen), values, chosen, int(chosen.sum())
    )


def newest(benchmark: Benchmark, pool: str) -> list[Run]:
    """The newest run of each system and text option in one pool, at most `MOST_RUNS`."""
    found: dict[tuple[str, str], Run] = {}
    for run in Run.objects.filter(benchmark=benchmark, pool=pool).order_by("-pk")[: 10 * MOST_RUNS]:
        found.setdefault((run.system, run.text_option), run)
    return list(found.values())[:MOST_RUNS]


def _scores(runs: Sequence[Run]) -> dict[tuple[int, str], Scored]:
    return {
        (row.run_id, row.metric): Scored(
            row.metric,
            *(np.frombuffer(bytes(column), "<f8") for column in (row.values, row.condensed, row.judged)),
        )
        for row in Score.objects.filter(run__in=runs)
    }


def _standings(
    benchmark: Benchmark,
    runs: Sequence[Run],
    scores: Mapping[tuple[int, str], Scored],
    metric: str,
    chosen: Chosen,
) -> list[Standing]:
    """Best first; runs that lack the metric come last."""
    found = figures(list(scores.values()), condensed=benchmark.has_judged_non_matches, chosen=chosen)
    own: dict[int, dict[str, Figure]] = {run.pk: {} for run in runs}
    for (run_id, name), figure in zip(scores, found, strict=True):
        own[run_id][name] = figure
    judged = {pk: of_run[metric].judged or 0.0 for pk, of_run in own.items() if metric in of_run}
    most = max(judged.values(), default=0.0)
    mined = set(benchmark.mining.encoders) if benchmark.mining else set()
    standings = [
        Standing(
            run,
            own[run.pk],
            bool(mined & set(run.encoders)),
            run.pk in judged and judged[run.pk] < most - LESS_JUDGED,
        )
        for run in runs
    ]
    return sorted(standings, key=lambda one: -_value(one, metric))


def _value(standing: Standing, metric: str) -> float:
    figure = standing.figures.get(metric)
    return -1.0 if figure is None or figure.value is None else figure.value


def _differences(
    ordered: Sequence[Run], values: Mapping[int, npt.NDArray[np.float64]], chosen: Chosen
) -> list[Difference]:
    """Each run against the next one; nothing is said of fewer than two queries."""
    if len(ordered) < 2 or chosen.sum() < 2:
        return []
    table = np.array([values[run.pk][chosen] for run in ordered])
    apart = table[:-1] - table[1:]
    p_values = holm([float(p) for p in paired_p(apart)])
    resampled = bootstrap_means(apart)
    return [
        Difference(better, other, float(apart[row].mean()), interval(resampled[row]), p_values[row])
        for row, (better, other) in enumerate(pairwise(ordered))
    ]


def _order(metric: str) -> tuple[int, str]:
    return (PREFERRED.index(metric) if metric in PREFERRED else len(PREFERRED)), metric
