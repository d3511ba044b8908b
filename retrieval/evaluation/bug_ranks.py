"""Whether systems rank a match above the same function with a bug, query by query."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

import numpy as np

from retrieval.evaluation.content import snippet_members
from retrieval.evaluation.leaderboard import kept_by
from retrieval.evaluation.runs.system_run import code_version
from retrieval.metrics.resampling import (
    RANKING_SEED,
    RESAMPLES,
    Interval,
    bootstrap_means,
    percentile_interval,
)
from retrieval.models import Benchmark, KeptFigures, RankedList, Run

LISTS_AT_ONCE = 500
ROWS_A_READ = 2000
Pairs: TypeAlias = Mapping[int, Sequence[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class BugRank:
    """How often a run ranks the match above its distractor.

    `share`: the mean over queries of the share of a query's distractors that are below their match, with an
    interval from resampling queries; None where no list has either of two. `unlisted` distractors are those
    of which neither the match nor the distractor is in the list: they say nothing.
    """

    run: Run
    share: float | None
    interval: Interval | None
    queries: int
    distractors: int
    unlisted: int


def rank_bugs(benchmark: Benchmark, runs: Sequence[Run]) -> list[BugRank]:
    """By run in their order; nothing for a benchmark without distractors. Kept by what decides it."""
    if not benchmark.distractors.exists():
        return []
    places = cache(lambda: place_distractors(benchmark))
    return [rank_bugs_of_run(benchmark, run, places) for run in runs]


def place_distractors(benchmark: Benchmark) -> Pairs:
    """By query the places of matches and of their distractors."""
    rows = list(benchmark.distractors.values_list("pair__query", "parent", "pair__snippet"))
    wanted = {text for _, *two in rows for text in two}
    members = snippet_members(benchmark).values_list("text_id", "position").iterator(ROWS_A_READ)
    place_of = {text: place for text, place in members if text in wanted}
    pairs = defaultdict[int, list[tuple[int, int]]](list)
    for query, parent, bug in rows:
        pairs[query].append((place_of[parent], place_of[bug]))
    return dict(pairs)


def rank_bugs_of_run(benchmark: Benchmark, run: Run, places: Callable[[], Pairs]) -> BugRank:
    """The figures of one run, computed where they are not kept; `places` is asked only then."""
    key = kept_by(benchmark, bugs=run.digest, seed=RANKING_SEED, resamples=RESAMPLES)
    kept = KeptFigures.objects.once(benchmark, key, code_version(), lambda: measure_bug_ranks(run, places()))
    between = kept["interval"]
    return BugRank(
        run,
        kept["share"],
        Interval(*between) if between else None,
        kept["queries"],
        kept["distractors"],
        kept["unlisted"],
    )


def measure_bug_ranks(run: Run, pairs: Pairs) -> dict[str, object]:
    """The figures of a run, as they are kept."""
    values, number, unlisted = list[float](), 0, 0
    for query, places in read_lists(run, sorted(pairs)).items():
        rank_of = {place: rank for rank, place in enumerate(places)}
        above = [is_above(rank_of, *pair) for pair in pairs[query]]
        told = [one for one in above if one is not None]
        number, unlisted = number + len(told), unlisted + len(above) - len(told)
        if told:
            values.append(sum(told) / len(told))
    between = percentile_interval(bootstrap_means(np.array([values]))[0]) if len(values) > 1 else None
    return {
        "share": float(np.mean(values)) if values else None,
        "interval": [between.low, between.high] if between else None,
        "queries": len(values),
        "distractors": number,
        "unlisted": unlisted,
    }


def read_lists(run: Run, queries: Sequence[int]) -> dict[int, list[int]]:
    """By query the places that its list has; nothing for a query without a list."""
    found: dict[int, list[int]] = {query: [] for query in queries}
    for start in range(0, len(queries), LISTS_AT_ONCE):
        some = RankedList.objects.filter(run=run, alias=0, query__in=queries[start : start + LISTS_AT_ONCE])
        found |= {row.query_id: row.places.tolist() for row in some}
    return found


def is_above(rank_of: Mapping[int, int], match: int, bug: int) -> bool | None:
    """Whether the match stands above its distractor; None where neither is listed."""
    if match not in rank_of and bug not in rank_of:
        return None
    last = len(rank_of)
    return rank_of.get(match, last) < rank_of.get(bug, last)
