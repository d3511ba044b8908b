"""Trained systems on a benchmark that tests them: by what they learned, as means over seeds.

A query's value is the mean over the seeds of a training; then queries are resampled. What the seeds alone
change is told as their spread. Queries that any of these trainings asked are left out for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from retrieval.evaluation.leaderboard import PREFERRED
from retrieval.evaluation.memory import unpack_seen
from retrieval.metrics.resampling import Interval, bootstrap_means, paired_p, percentile_interval
from retrieval.metrics.significance import adjust_by_holm
from retrieval.models import Benchmark, Run, Score

Doubles = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
METRICS: Final = ("mrr", "ndcg@10", "mmrr")
"""Those of the papers' tables."""
FEW_SEEDS: Final = 3
"""With fewer the spread of the seeds says little."""
MOST_RUNS: Final = 300
UNTRAINED: Final = "none"


@dataclass(frozen=True, slots=True)
class SeedMean:
    """The mean over queries of what the seeds' mean is, its interval, and the seeds' own means.

    `spread` is the standard deviation of these, None of fewer than two.
    """

    value: float
    interval: Interval | None
    seeds: Sequence[float]

    @property
    def spread(self) -> float | None:
        return float(np.std(self.seeds, ddof=1)) if len(self.seeds) > 1 else None


@dataclass(frozen=True, slots=True)
class TrainedRow:
    """A system and what it learned: `learned` is a benchmark, or `UNTRAINED`; `runs` are one a seed.

    `figures` are by metric, `values` the queries' means over seeds by metric, shape (queries,).
    """

    system: str
    start: str
    learned: str
    shuffled: bool
    pairs: int | None
    text_option: str
    group: str
    runs: Sequence[Run]
    figures: Mapping[str, SeedMean] = field(default_factory=dict)
    values: Mapping[str, Doubles] = field(default_factory=dict)

    @property
    def seeds(self) -> list[int]:
        return sorted(run.options["trained"]["seed"] for run in self.runs if "trained" in run.options)

    @property
    def title(self) -> str:
        """What it learned, in words."""
        told = f"{self.learned}, shuffled labels" if self.shuffled else self.learned
        return told if self.pairs is None else f"{told}, {self.pairs:,} pairs"

    @property
    def stopped_by_time(self) -> int:
        """How many of its trainings were not complete."""
        return sum(run.options.get("trained", {}).get("stopped") == "by time" for run in self.runs)

    @property
    def functions(self) -> int:
        """The most functions of the benchmark that one of its trainings learned."""
        return max((run.options.get("trained", {}).get("functions", 0) for run in self.runs), default=0)


@dataclass(frozen=True, slots=True)
class RowDifference:
    """How much higher `second` is than `first`, of one system, with Holm's p over all differences."""

    first: TrainedRow
    second: TrainedRow
    value: float
    interval: Interval
    p: float


@dataclass(frozen=True, slots=True)
class TrainedComparison:
    """Rows by system, differences by `metric`; `left_out` of the queries with a match were in a training."""

    benchmark: Benchmark
    metric: str
    metrics: Sequence[str]
    rows: Sequence[TrainedRow]
    differences: Sequence[RowDifference]
    queries: int
    left_out: int


def compare_trained_systems(benchmark: Benchmark, pool: str, metric: str = "") -> TrainedComparison:
    """Compare the newest run of each training, and of each system before training, that searched `pool`.

    A `metric` that no row has is replaced by the first one that there is.
    """
    rows = list_trained_rows(benchmark, pool)
    seen = seen_queries(rows, len(benchmark.match_counts))
    matched: Flags = np.asarray(benchmark.match_counts > 0)
    chosen: Flags = matched & ~seen
    rows = [measure_row(row, chosen) for row in rows]
    metrics = [name for name in METRICS if any(name in row.figures for row in rows)]
    preferred = next((name for name in PREFERRED if name in metrics), next(iter(metrics), ""))
    metric = metric if metric in metrics else preferred
    return TrainedComparison(
        benchmark,
        metric,
        metrics,
        rows,
        compare_rows(rows, metric) if chosen.sum() > 1 else [],
        int(chosen.sum()),
        int((matched & seen).sum()),
    )


def list_trained_rows(benchmark: Benchmark, pool: str) -> list[TrainedRow]:
    """The rows without figures; before training first, then by what was learned, shuffled labels last."""
    found = dict[tuple[str, str], dict[str, Run]]()
    runs = list(Run.objects.filter(benchmark=benchmark, pool=pool).order_by("-scored_at", "-pk")[:MOST_RUNS])
    for run in runs:
        if trained := run.options.get("trained"):
            seeds = found.setdefault((trained["group"], run.text_option), {})
            seeds.setdefault(trained["hash"], run)
    rows = [row_of_seeds(group, list(seeds.values())) for (group, _), seeds in found.items()]
    rows += list_untrained_rows(rows, runs)
    order = {row.system: place for place, row in enumerate(sorted(rows, key=lambda row: row.system))}
    return sorted(
        rows,
        key=lambda row: (
            order[row.system],
            row.start,
            row.learned != UNTRAINED,
            row.learned,
            row.shuffled,
            row.pairs or 0,
            row.group,
        ),
    )


def row_of_seeds(group: str, runs: Sequence[Run]) -> TrainedRow:
    """The row of trainings that differ in their seed alone."""
    told: dict[str, Any] = runs[0].options["trained"]
    return TrainedRow(
        told["system"],
        told["start"],
        told["learned"],
        told["shuffled"],
        told["pairs"],
        runs[0].text_option,
        group,
        runs,
    )


def list_untrained_rows(rows: Sequence[TrainedRow], runs: Sequence[Run]) -> list[TrainedRow]:
    """The weights from which these trainings started, where they searched too."""
    found = dict[tuple[str, str], TrainedRow]()
    for row in rows:
        key = row.start, row.text_option
        run = next((run for run in runs if is_search_by(run, *key)), None)
        if run is not None and key not in found:
            found[key] = TrainedRow(row.system, row.start, UNTRAINED, False, None, row.text_option, "", [run])
    return list(found.values())


def is_search_by(run: Run, start: str, text_option: str) -> bool:
    """Whether the run's only encoder has these weights."""
    identities = run.options.get("identities") or []
    same = len(identities) == 1 and (identities[0] == start or identities[0].startswith(f"{start};"))
    return same and run.text_option == text_option


def seen_queries(rows: Sequence[TrainedRow], queries: int) -> Flags:
    """Which queries any of the trainings asked, shape (queries,)."""
    seen = np.zeros(queries, dtype=bool)
    for row in rows:
        for run in row.runs:
            if "trained" in run.options:
                seen |= unpack_seen(run.options["trained"]["seen"], queries)
    return seen


def measure_row(row: TrainedRow, chosen: Flags) -> TrainedRow:
    """The row with its figures over the chosen queries; metrics that a run lacks are left out."""
    values, figures = dict[str, Doubles](), dict[str, SeedMean]()
    found = Score.objects.filter(run__in=row.runs, metric__in=METRICS).values_list("metric", "values")
    by_metric = dict[str, list[Doubles]]()
    for metric, data in found:
        by_metric.setdefault(metric, []).append(np.frombuffer(bytes(data), "<f8")[chosen])
    for metric, of_seeds in by_metric.items():
        if len(of_seeds) == len(row.runs) and chosen.any():
            values[metric], figures[metric] = average_seeds(np.array(of_seeds))
    return replace(row, figures=figures, values=values)


def average_seeds(table: Doubles) -> tuple[Doubles, SeedMean]:
    """Of values of shape (seeds, queries): each query's mean over seeds, and the mean of these."""
    means = table.mean(axis=0)
    interval = percentile_interval(bootstrap_means(means[None])[0]) if len(means) > 1 else None
    return means, SeedMean(float(means.mean()), interval, [float(value) for value in table.mean(axis=1)])


def compare_rows(rows: Sequence[TrainedRow], metric: str) -> list[RowDifference]:
    """All pairs of rows of one system, paired by query."""
    pairs = [
        (first, second)
        for first, second in combinations([row for row in rows if metric in row.values], 2)
        if first.system == second.system
    ]
    if not pairs:
        return []
    apart = np.array([second.values[metric] - first.values[metric] for first, second in pairs])
    p_values = adjust_by_holm([float(p) for p in paired_p(apart)])
    intervals = [percentile_interval(means) for means in bootstrap_means(apart)]
    return [
        RowDifference(first, second, float(values.mean()), interval, p)
        for (first, second), values, interval, p in zip(pairs, apart, intervals, p_values, strict=True)
    ]
