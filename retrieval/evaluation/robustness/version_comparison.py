"""Two versions of a benchmark: which labels changed, and what that does to systems and their order.

Scores are compared on the queries that have a match in both: between two versions the set of those changes,
so that a mean over each one's own queries moves by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from retrieval.evaluation.content import content_of, query_keys
from retrieval.evaluation.judged_pairs import JudgedPairs
from retrieval.evaluation.leaderboard import PREFERRED, find_newest_runs, kept_by
from retrieval.evaluation.robustness import label_noise
from retrieval.evaluation.runs.system_run import code_version
from retrieval.metrics.from_ranks import is_from_ranks, per_query
from retrieval.metrics.rank_correlation import kendall_tau
from retrieval.metrics.resampling import (
    RANKING_SEED,
    RESAMPLES,
    Interval,
    bootstrap_means,
    percentile_interval,
)
from retrieval.models import Benchmark, BenchmarkLabel, KeptFigures, Pair, Pool, Run, Score

ROWS_A_READ = 5000
MOST_EXAMPLES: Final = 20
OTHER: Final = "another relevance, still a match"
Ints = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]


class NotOneVersion(ValueError):
    """The two can't be compared; the message says why."""


@dataclass(frozen=True, slots=True)
class Change:
    """One kind of change of labels, in words: how many pairs, and some of them."""

    said: str
    pairs: int
    examples: Sequence[Pair]


@dataclass(frozen=True, slots=True)
class Moved:
    """A system's means on the common queries, and their difference, second minus first, with its interval.

    `same_lists` is whether the very same lists were measured by both versions' labels.
    """

    system: str
    first: float
    second: float
    difference: float
    interval: Interval | None
    same_lists: bool


@dataclass(frozen=True, slots=True)
class BenchmarkComparison:
    """`queries`: with a match in the first, in the second, in both. `tau` None: undefined, as for one system.

    `metric` is empty where no system can be compared. `unmeasured`: there are systems, but too many labels
    for a page to wait.
    """

    first: Benchmark
    second: Benchmark
    changes: Sequence[Change]
    unchanged: int
    queries: tuple[int, int, int]
    metric: str
    metrics: Sequence[str]
    systems: Sequence[Moved]
    tau: float | None
    unmeasured: bool = False


@dataclass(frozen=True, slots=True)
class _Common:
    """Queries with a match in both versions: their numbers in the first and in the second, shape (n,)."""

    first: Ints
    second: Ints


def compare_benchmarks(
    first: Benchmark, second: Benchmark, metric: str = "", *, wait: bool = True
) -> BenchmarkComparison:
    """Compare two benchmarks, by a metric that runs on both have; what was computed is kept.

    Without `wait` many labels of many systems are measured only if they were before. Raises `NotOneVersion`.
    """
    if first.pk == second.pk:
        raise NotOneVersion(f"{first} is {second}: name two benchmarks.")
    said = KeptFigures.objects.once(
        second,
        kept_by(second, labels_since=first.digest),
        code_version(),
        lambda: _compare_labels(first, second),
    )
    runs = runs_of_versions(first, second)
    metrics = _metrics(runs)
    metric = metric if metric in metrics else next(iter(metrics), "")
    systems = _systems(first, second, runs, metric, wait=wait) if metric else []
    return _comparison(first, second, said, metric, metrics, systems)


def refuse_another(found: BenchmarkComparison, metric: str) -> None:
    """Raise `NotOneVersion` where another metric was compared than the one named, as a page would."""
    if metric not in ("", found.metric):
        there = f"there are {', '.join(found.metrics)}" if found.metrics else "there are no runs on either"
        raise NotOneVersion(f"No run of {found.first} and {found.second} has {metric} by ranks; {there}.")


def compared_again(
    first: Benchmark, second: Benchmark, runs: Mapping[str, tuple[Run, Run]], metric: str
) -> BenchmarkComparison:
    """As `compare_benchmarks`, of the given runs by their titles: all from lists and labels, and nothing is
    kept."""
    said = _compare_labels(first, second)
    known = _measured(first, second, runs, metric) if metric else []
    return _comparison(first, second, said, metric, [metric] if metric else [], known)


def _comparison(
    first: Benchmark,
    second: Benchmark,
    said: Mapping[str, Any],
    metric: str,
    metrics: Sequence[str],
    systems: Sequence[Moved] | None,
) -> BenchmarkComparison:
    """All of it, the best of the second first."""
    known = sorted(systems or [], key=lambda system: -system.second)
    return BenchmarkComparison(
        first,
        second,
        _changes(said["changes"]),
        said["unchanged"],
        (int((first.match_counts > 0).sum()), int((second.match_counts > 0).sum()), said["common"]),
        metric,
        metrics,
        known,
        kendall_tau([system.first for system in known], [system.second for system in known]),
        unmeasured=systems is None,
    )


def _systems(
    first: Benchmark, second: Benchmark, runs: Mapping[str, tuple[Run, Run]], metric: str, *, wait: bool
) -> list[Moved] | None:
    """The systems under both, kept; None where nobody waits for so many."""
    digests = {title: [run.digest for run in of] for title, of in runs.items()}
    key = kept_by(
        second,
        systems_since=first.digest,
        runs=digests,
        metric=metric,
        seed=RANKING_SEED,
        resamples=RESAMPLES,
    )
    data = KeptFigures.objects.found({key: key}).get(key)
    if data is None:
        if not wait and (first.size + second.size) * len(runs) > label_noise.MOST_AT_ONCE:
            return None
        data = [asdict(moved) for moved in _measured(first, second, runs, metric)]
        KeptFigures.objects.keep(second, key, code_version(), data)
    return [Moved(**{**row, "interval": row["interval"] and Interval(**row["interval"])}) for row in data]


def _measured(
    first: Benchmark, second: Benchmark, runs: Mapping[str, tuple[Run, Run]], metric: str
) -> list[Moved]:
    pairs = [JudgedPairs.of(content_of(one)) for one in (first, second)]
    common = _common(first, second)
    moved = (_moved(title, *of, metric, pairs, common) for title, of in runs.items())
    return [one for one in moved if one is not None]


def _compare_labels(first: Benchmark, second: Benchmark) -> dict[str, Any]:
    """What is kept of the labels: kinds of change with pairs as examples, those that are the same, and the
    number of queries with a match in both. A pair without a label is unjudged, never a 0.
    """
    before, after = _labels(first), _labels(second)
    # Both are ascending and name each pair once, so that one search finds what they share.
    places = np.searchsorted(before[0], after[0])
    there = np.zeros(len(after[0]), dtype=np.bool_)
    inside = places < len(before[0])
    there[inside] = before[0][places[inside]] == after[0][inside]
    gone = np.ones(len(before[0]), dtype=np.bool_)
    gone[places[there]] = False
    both, old, new = after[0][there], before[1][places[there]], after[1][there]
    kinds = {
        "1 → 0": both[(old > 0) & (new <= 0)],
        "0 → 1": both[(old <= 0) & (new > 0)],
        OTHER: both[(old > 0) & (new > 0) & (old != new)],
        "unjudged → 1": after[0][~there & (after[1] > 0)],
        "unjudged → 0": after[0][~there & (after[1] <= 0)],
        "1 → unjudged": before[0][gone & (before[1] > 0)],
        "0 → unjudged": before[0][gone & (before[1] <= 0)],
    }
    return {
        "changes": [[said, len(found), _spread(found)] for said, found in kinds.items()],
        "unchanged": int(((old > 0) == (new > 0)).sum() - len(kinds[OTHER])),
        "common": len(_common(first, second).first),
    }


def _spread(pairs: Ints) -> list[int]:
    """Some of the pairs from all over them, as neighbours are of one query."""
    places = np.unique(np.linspace(0, max(len(pairs) - 1, 0), MOST_EXAMPLES).astype(np.int64))
    return [int(pair) for pair in pairs[places]] if len(pairs) else []


def _changes(kept: Sequence[tuple[str, int, Sequence[int]]]) -> list[Change]:
    """Kinds of change with their examples read, all at once."""
    wanted = [pk for *_, examples in kept for pk in examples]
    found = Pair.objects.select_related("query", "snippet").in_bulk(wanted)
    return [Change(said, count, [found[pk] for pk in examples]) for said, count, examples in kept]


def _labels(benchmark: Benchmark) -> tuple[Ints, Doubles]:
    """Pairs (ids), ascending, and their relevances."""
    rows = BenchmarkLabel.objects.filter(benchmark=benchmark).order_by("pair")
    found = rows.values_list("pair_id", "relevance").iterator(ROWS_A_READ)
    kinds = [("pair", np.int64), ("relevance", np.float64)]
    table = np.fromiter(found, dtype=kinds)
    return table["pair"], table["relevance"]


def _common(first: Benchmark, second: Benchmark) -> _Common:
    with_match = [(_queries(one), one.match_counts > 0) for one in (first, second)]
    numbers = [np.flatnonzero(matched) for _, matched in with_match]
    (before, old), (after, new) = with_match
    _, at_first, at_second = np.intersect1d(before[old], after[new], assume_unique=True, return_indices=True)
    found = np.argsort(at_first)
    return _Common(numbers[0][at_first[found]], numbers[1][at_second[found]])


def _queries(benchmark: Benchmark) -> Ints:
    """The keys of its queries, by their number."""
    return np.array(query_keys(benchmark), dtype=np.int64)


def runs_of_versions(first: Benchmark, second: Benchmark) -> dict[str, tuple[Run, Run]]:
    """By title the run whose lists are measured for each version: of the pool that the second searches.

    Where both have the same members and candidates, one run serves for both.
    """
    pool = second.pool
    found = [find_newest_runs(one, pool) for one in (first, second)]
    # A title is system and text option, but for a system that is called like another with its option.
    own = [{run.title: run for run in reversed(runs)} for runs in found]
    if not _same_places(first, second, pool):
        return {title: (own[0][title], run) for title, run in own[1].items() if title in own[0]}
    return {title: (run, run) for title, run in {**own[0], **own[1]}.items()}


def _same_places(first: Benchmark, second: Benchmark, pool: str) -> bool:
    """Whether a place in a list means the same snippet in both, and the same was searched.

    Collections only grow, so places stay; a run of the smaller one did not search what was added.
    """
    columns = ("queries_id", "snippets_id", "snippets_until", "query_aliases", "snippet_aliases")
    same = all(getattr(first, column) == getattr(second, column) for column in columns)
    return same and (pool == Pool.COLLECTION or first.mining_id == second.mining_id)


def _metrics(runs: Mapping[str, tuple[Run, Run]]) -> list[str]:
    """The metrics that any of the runs has and that ranks decide: of all runs they are measured anew."""
    wanted = {run.pk for of in runs.values() for run in of}
    names = set(Score.objects.filter(run__in=wanted).values_list("metric", flat=True))
    return sorted(
        filter(is_from_ranks, names),
        key=lambda name: (PREFERRED.index(name) if name in PREFERRED else len(PREFERRED), name),
    )


def _moved(
    title: str, old: Run, new: Run, metric: str, pairs: Sequence[JudgedPairs], common: _Common
) -> Moved | None:
    """None where no query has a match in both versions."""
    if not len(common.first):
        return None
    before = per_query(metric, pairs[0].ranked(old), pairs[0].relevance)[common.first]
    after = per_query(metric, pairs[1].ranked(new), pairs[1].relevance)[common.second]
    apart = after - before
    between = percentile_interval(bootstrap_means(apart[None])[0]) if len(apart) > 1 else None
    return Moved(
        title, float(before.mean()), float(after.mean()), float(apart.mean()), between, old.pk == new.pk
    )
