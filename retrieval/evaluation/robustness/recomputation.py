"""A leaderboard computed once more from stored lists and labels alone: no score that was kept is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from retrieval.evaluation.content import Content, content_of
from retrieval.evaluation.leaderboard import Doubles, PairedDifference, Queries, neighbours_apart
from retrieval.evaluation.query_scores import Figure, compute_mean_figures, score_rankings
from retrieval.evaluation.rankings import Rankings
from retrieval.evaluation.runs.system_run import digest_of
from retrieval.metrics.names import Measure
from retrieval.metrics.resampling import Interval
from retrieval.models import Benchmark, Run
from retrieval.models.benchmarks import Places

LISTS_A_READ = 500


@dataclass(frozen=True, slots=True)
class Again:
    """By run (id) its figures by metric, and the hash of its lists as they are; neighbours' differences."""

    figures: Mapping[int, Mapping[str, Figure]]
    digests: Mapping[int, str]
    differences: Sequence[PairedDifference]
    queries: int


def computed_again(
    benchmark: Benchmark,
    asked: Mapping[Run, Sequence[Measure]],
    metric: str,
    queries: Queries,
    tick: Callable[[], None] = lambda: None,
) -> Again:
    """Score every query of the runs anew. Differences are of `metric`, of each run that has it to the next.

    `asked` are the runs in the leaderboard's order, each with its measures; `tick` is called after each.
    Needs the memory of `content_of` and of one run's lists.
    """
    content = content_of(benchmark)
    chosen = queries.among(matches_of(content))
    own, digests, values = dict[int, dict[str, Figure]](), dict[int, str](), dict[int, Doubles]()
    for run, measures in asked.items():
        lists = lists_of(run)
        digests[run.pk] = digest_of(lists, content.queries)
        found = score_rankings(measures, Rankings(content, measures, run.pool).of(lists))
        made = compute_mean_figures(found, condensed=benchmark.has_judged_non_matches, chosen=chosen)
        own[run.pk] = {ranking.measure: figure for ranking, figure in zip(found, made, strict=True)}
        mine = next((ranking.values[chosen] for ranking in found if ranking.measure == metric), None)
        if mine is not None:
            values[run.pk] = mine
        tick()
    ordered = [run for run in asked if run.pk in values]
    enough = len(ordered) > 1 and chosen.sum() > 1
    apart = neighbours_apart(np.array([values[run.pk] for run in ordered])) if enough else []
    differences = [
        PairedDifference(better, other, value, Interval(low, high), p)
        for (better, other), (value, low, high, p) in zip(pairwise(ordered), apart, strict=bool(apart))
    ]
    return Again(own, digests, differences, int(chosen.sum()))


def matches_of(content: Content) -> Places:
    """The number of matches of each query by the labels that are there, shape (queries,)."""
    counts = (sum(value > 0 for value in content.judged(query).values()) for query in content.queries)
    return np.fromiter(counts, np.uint32, len(content.queries))


def lists_of(run: Run) -> dict[int, Places]:
    """The run's ranked lists by the keys of queries."""
    return {row.key: row.places for row in run.lists.iterator(LISTS_A_READ)}
