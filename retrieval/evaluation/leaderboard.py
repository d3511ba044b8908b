"""Runs of one benchmark beside each other: means with intervals, and paired differences of neighbours.

What takes long is kept by the hash of all that decides it: each run's figures by themselves, so that a new
run costs its own figures, and the differences of an order of runs.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from retrieval.evaluation.query_scores import Figure, Scored, compute_mean_figures
from retrieval.evaluation.runs.system_run import code_version
from retrieval.evaluation.systems.names import list_models_of
from retrieval.metrics.resampling import (
    RANKING_SEED,
    RESAMPLES,
    SIGN_FLIPS,
    Interval,
    bootstrap_means,
    paired_p,
    percentile_interval,
)
from retrieval.metrics.significance import adjust_by_holm
from retrieval.models import Benchmark, KeptFigures, Run, Score, filled_holes_of
from retrieval.models.benchmarks import Places

MOST_RUNS = 30
RUNS_AT_ONCE = 8
"""Drawing queries takes longer than taking means over them: 8 runs of 7 metrics share the draws, 30 MB."""
MOST_AT_ONCE: Final = 50_000
"""Queries times runs that a page may wait for, about two seconds."""
PREFERRED = ("ndcg@10", "mrr@10", "mrr")
RANGES: Final[Sequence[tuple[int, int | None]]] = ((1, None), (1, 1), (2, 4), (5, None), (2, 5))
"""Numbers of matches by which pages filter queries, all first; None: as many as there are."""
LESS_JUDGED = 0.1
"""A run whose share of judged results is lower by more than this can't be compared without a remark."""

Chosen = npt.NDArray[np.bool_]
Doubles = npt.NDArray[np.float64]
Digests = Mapping[int, Mapping[str, str]]
"""By run, by metric: the hash of its scores."""


class NotMeasured(LookupError):
    """No run has the metric that was named, or no query so many matches; the message says what there is."""


@dataclass(frozen=True, slots=True)
class Queries:
    """Which queries of a benchmark count, by their number of matches; `most` None = as many as there are."""

    fewest: int = 1
    most: int | None = None

    def chosen(self, benchmark: Benchmark) -> Chosen:
        """Shape (queries,): those that have so many matches; never one without any."""
        return self.among(benchmark.match_counts)

    def among(self, matches: Places) -> Chosen:
        """The same by the queries' numbers of matches, shape (queries,)."""
        most = matches.max(initial=0) if self.most is None else self.most
        return np.asarray((matches >= max(self.fewest, 1)) & (matches <= most))


@dataclass(frozen=True, slots=True)
class SystemStanding:
    """One run's figures by metric; those that it was not asked for are missing.

    `helped_to_mine`: an encoder of it did, at any of the minings. `was_filled`: what was unjudged of its
    results, or of another run of it, was judged for this benchmark.
    """

    run: Run
    figures: Mapping[str, Figure]
    helped_to_mine: bool
    less_judged: bool
    was_filled: bool = False


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """How much higher `better` is than `other`, with a 95 % interval and Holm's p over all differences."""

    better: Run
    other: Run
    value: float
    interval: Interval
    p: float


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Runs by falling mean of `metric`, and the difference of each to the next one.

    `ordered` are the runs that have the metric; `chosen` the queries that count, `queries` their number.
    `unmeasured`: a page can't wait for the differences of so many queries.
    """

    benchmark: Benchmark
    metric: str
    metrics: Sequence[str]
    standings: Sequence[SystemStanding]
    differences: Sequence[PairedDifference]
    chosen: Chosen
    queries: int
    unmeasured: bool = False

    @property
    def ordered(self) -> list[Run]:
        return [standing.run for standing in self.standings if self.metric in standing.figures]

    def values(self, most: int) -> list[Doubles]:
        """The metric of each query in the benchmark's order, NaN without a match, of the best runs."""
        runs = self.ordered[:most]
        rows = Score.objects.filter(run__in=runs, metric=self.metric).values_list("run_id", "values")
        found = {run: np.frombuffer(bytes(values), "<f8") for run, values in rows}
        return [found[run.pk] for run in runs]


def build_leaderboard(
    benchmark: Benchmark,
    pool: str,
    metric: str = "",
    fewest: int = 1,
    most: int | None = None,
    *,
    wait: bool = True,
) -> Leaderboard:
    """Compare the newest run of each system, text option and `pool`, by queries with some number of matches.

    A `metric` that no run has is replaced by the first of `PREFERRED` that there is. Without `wait` a large
    board shows means alone, where its intervals and differences are not kept.
    """
    runs, queries = find_newest_runs(benchmark, pool), Queries(fewest, most)
    digests = digests_of(runs)
    metrics = sorted({name for of_run in digests.values() for name in of_run}, key=_order)
    metric = metric if metric in metrics else next(iter(metrics), "")
    chosen = queries.chosen(benchmark)
    wait = wait or int(chosen.sum()) * len(runs) <= MOST_AT_ONCE
    found = figures_of(benchmark, runs, digests, queries, wait=wait)
    standings = _standings(benchmark, runs, found, metric)
    ordered = [standing.run for standing in standings if metric in standing.figures]
    apart = differences_of(benchmark, ordered, digests, metric, queries, wait=wait)
    unmeasured = apart is None
    return Leaderboard(
        benchmark, metric, metrics, standings, apart or [], chosen, int(chosen.sum()), unmeasured
    )


def refuse_another(board: Leaderboard, metric: str) -> None:
    """Raise `NotMeasured` where the board shows another metric than the one named, or no query at all.

    A page falls back to what there is; whoever cites a figure has to get the one that was asked for.
    """
    if metric not in ("", board.metric):
        raise NotMeasured(
            f"No run on {board.benchmark} has {metric}: 'cosqa evaluate {board.benchmark} … --metrics "
            f"{metric}' computes it, if it is one. There are {', '.join(board.metrics)}."
        )
    if not board.queries:
        many = "so many matches" if board.benchmark.positives else "a match"
        raise NotMeasured(f"No query of {board.benchmark} has {many}: there is no figure.")


def precompute_leaderboards(benchmark: Benchmark, pool: str, tick: Callable[[], None] = lambda: None) -> None:
    """Compute what pages show first, so that nobody waits: all queries by each metric, each range by one.

    At 20,604 queries each of these takes some seconds. `tick` is called after each.
    """
    metrics = build_leaderboard(benchmark, pool).metrics
    asked = [(metric, *RANGES[0]) for metric in metrics] + [("", *ends) for ends in RANGES[1:]]
    for metric, fewest, most in asked:
        build_leaderboard(benchmark, pool, metric, fewest, most)
        tick()


def keep_all(benchmark: Benchmark) -> None:
    """As `precompute_leaderboards`, of every pool that one of its runs searched."""
    for pool in sorted(set(Run.objects.filter(benchmark=benchmark).values_list("pool", flat=True))):
        precompute_leaderboards(benchmark, pool)


def find_newest_runs(benchmark: Benchmark, pool: str) -> list[Run]:
    """The run of each system and text option in one pool that was scored last, at most `MOST_RUNS`."""
    found: dict[tuple[str, str], Run] = {}
    runs = Run.objects.filter(benchmark=benchmark, pool=pool).order_by("-scored_at", "-pk")
    for run in runs[: 10 * MOST_RUNS]:
        found.setdefault((run.system, run.text_option), run)
    return list(found.values())[:MOST_RUNS]


def titles_of(runs: Iterable[Run]) -> dict[int, str]:
    """The title of each run, by its id; where two are alike, with the run's number."""
    rows = list(runs)
    count = Counter(run.title for run in rows)
    return {run.pk: run.title if count[run.title] == 1 else f"{run.title} (run {run.pk})" for run in rows}


def digests_of(runs: Sequence[Run]) -> dict[int, dict[str, str]]:
    """The hashes of the runs' scores. Those that were kept before there were any go by their rows."""
    found: dict[int, dict[str, str]] = {run.pk: {} for run in runs}
    rows = Score.objects.filter(run__in=runs).order_by("run", "metric")
    for run, metric, digest, pk in rows.values_list("run_id", "metric", "digest", "pk"):
        found[run][metric] = digest or f"score {pk}"
    return found


def kept_by(benchmark: Benchmark, **deciding: Any) -> str:
    """sha256 (hex) of what decides a figure: the benchmark, what is named, and the version of the code."""
    facts = {"benchmark": benchmark.digest, "code": code_version(), **deciding}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def figures_of(
    benchmark: Benchmark, runs: Sequence[Run], digests: Digests, queries: Queries, *, wait: bool = True
) -> dict[int, dict[str, Figure]]:
    """Each run's figures by metric, computed where they are not kept, a few runs at a time.

    Without `wait` those that are not kept have no interval, and are not kept then.
    """
    key = {
        str(run.pk): kept_by(
            benchmark,
            figures=digests[run.pk],
            queries=asdict(queries),
            seed=RANKING_SEED,
            resamples=RESAMPLES,
        )
        for run in runs
    }
    kept = KeptFigures.objects.found(key)
    missing = [run for run in runs if str(run.pk) not in kept]
    for start in range(0, len(missing), RUNS_AT_ONCE):
        for pk, found in _figures(
            benchmark, missing[start : start + RUNS_AT_ONCE], queries, intervals=wait
        ).items():
            data = {name: asdict(figure) for name, figure in found.items()}
            kept[str(pk)] = data
            if wait:
                KeptFigures.objects.keep(benchmark, key[str(pk)], code_version(), data)
    return {run.pk: {name: _figure(values) for name, values in kept[str(run.pk)].items()} for run in runs}


def _figures(
    benchmark: Benchmark, runs: Sequence[Run], queries: Queries, *, intervals: bool
) -> dict[int, dict[str, Figure]]:
    rows = list(Score.objects.filter(run__in=runs).order_by("run", "metric"))
    scores = [
        Scored(
            row.metric,
            *(np.frombuffer(bytes(column), "<f8") for column in (row.values, row.condensed, row.judged)),
        )
        for row in rows
    ]
    condensed, chosen = benchmark.has_judged_non_matches, queries.chosen(benchmark)
    found: dict[int, dict[str, Figure]] = {run.pk: {} for run in runs}
    for row, figure in zip(
        rows,
        compute_mean_figures(scores, condensed=condensed, chosen=chosen, intervals=intervals),
        strict=True,
    ):
        found[row.run_id][row.metric] = figure
    return found


def _figure(values: Mapping[str, Any]) -> Figure:
    between = values["interval"]
    return Figure(
        values["value"], values["condensed"], values["judged"], Interval(**between) if between else None
    )


def _standings(
    benchmark: Benchmark, runs: Sequence[Run], own: Mapping[int, Mapping[str, Figure]], metric: str
) -> list[SystemStanding]:
    """Best first; runs that lack the metric come last."""
    judged = {pk: of_run[metric].judged or 0.0 for pk, of_run in own.items() if metric in of_run}
    most = max(judged.values(), default=0.0)
    mined = {name for mining in benchmark.minings for name in mining.encoders}
    filled = {name for holes in filled_holes_of(benchmark) for name in names_of(holes.run)}
    standings = [
        SystemStanding(
            run,
            own[run.pk],
            bool(mined & names_of(run)),
            run.pk in judged and judged[run.pk] < most - LESS_JUDGED,
            bool(filled & names_of(run)),
        )
        for run in runs
    ]
    return sorted(standings, key=lambda standing: -_value(standing, metric))


def names_of(run: Run) -> set[str]:
    """What searched in it: its encoders; of a run that came as a file what its system is called by."""
    return set(run.encoders or list_models_of(run.system))


def _value(standing: SystemStanding, metric: str) -> float:
    figure = standing.figures.get(metric)
    return -1.0 if figure is None or figure.value is None else figure.value


def differences_of(
    benchmark: Benchmark,
    ordered: Sequence[Run],
    digests: Digests,
    metric: str,
    queries: Queries,
    *,
    wait: bool = True,
) -> list[PairedDifference] | None:
    """Each run against the next one; nothing is said of fewer than two queries.

    Without `wait` None where they are not kept.
    """
    chosen = queries.chosen(benchmark)
    if len(ordered) < 2 or chosen.sum() < 2:
        return []
    key = kept_by(
        benchmark,
        differences=[digests[run.pk][metric] for run in ordered],
        queries=asdict(queries),
        seed=RANKING_SEED,
        resamples=RESAMPLES,
        flips=SIGN_FLIPS,
    )
    if not wait and not KeptFigures.objects.filter(digest=key).exists():
        return None
    rows = KeptFigures.objects.once(benchmark, key, code_version(), lambda: _apart(ordered, metric, chosen))
    return [
        PairedDifference(better, other, value, Interval(low, high), p)
        for (better, other), (value, low, high, p) in zip(pairwise(ordered), rows, strict=True)
    ]


def _apart(ordered: Sequence[Run], metric: str, chosen: Chosen) -> list[tuple[float, float, float, float]]:
    """Of each neighbours: difference, ends of its interval, p after Holm."""
    rows = Score.objects.filter(run__in=ordered, metric=metric).values_list("run_id", "values")
    values = {run: np.frombuffer(bytes(data), "<f8")[chosen] for run, data in rows.iterator()}
    return neighbours_apart(np.array([values[run.pk] for run in ordered]))


def neighbours_apart(table: Doubles) -> list[tuple[float, float, float, float]]:
    """Of values of shape (runs, queries), for each neighbours: difference, its interval, p after Holm."""
    apart = table[:-1] - table[1:]
    p_values = adjust_by_holm([float(p) for p in paired_p(apart)])
    between = [percentile_interval(means) for means in bootstrap_means(apart)]
    return [
        (float(difference.mean()), ends.low, ends.high, p)
        for difference, ends, p in zip(apart, between, p_values, strict=True)
    ]


def _order(metric: str) -> tuple[int, str]:
    return (PREFERRED.index(metric) if metric in PREFERRED else len(PREFERRED)), metric
