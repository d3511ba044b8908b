"""Runs of an earlier version of a benchmark, scored by the labels of a later one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from django.db.models import Q, QuerySet

from retrieval.evaluation.content import Content, content_of
from retrieval.evaluation.runs.system_run import Tick, evaluate_run
from retrieval.metrics.names import UnknownMeasure, parse_measures
from retrieval.models import Benchmark, Pool, RankedList, Run, Score
from retrieval.models.benchmarks import Places

LISTS_A_READ: Final = 500
MEMBERS: Final = ("queries_until", "snippets_until", "query_aliases", "snippet_aliases")
"""Columns by which two versions have the same queries and results."""
ALIKE: Final = ("system", "text_option", "pool", "digest")
"""Runs of two versions with the same members are the same lists of one system where these are alike."""


def carry_runs_over(made: Benchmark, tick: Tick = lambda queries: None) -> list[Run]:
    """Score the runs of the version before `made` by its labels, so that its leaderboard is not empty.

    Only those that searched what `made` lets systems search. Doing it twice keeps each once.
    """
    earlier = Benchmark.objects.filter(name=made.name, version__lt=made.version).order_by("-version").first()
    if earlier is None or (earlier.queries_id, earlier.snippets_id) != (made.queries_id, made.snippets_id):
        return []
    return rescore_runs(earlier, made, tick)


def rescore_runs(old: Benchmark, new: Benchmark, tick: Tick = lambda queries: None) -> list[Run]:
    """Score every run of `old`, and of the version that `new` goes on from, by the labels of `new`.

    None of a version with fewer members, which its runs did not search, and none that searched the
    candidates of another mining. Doing it twice keeps each once.
    `tick` is called with the number of queries scored since.
    """
    content = content_of(new)
    rows = runs_to_carry(old, new.previous_version).filter(
        ~Q(pool=Pool.CANDIDATES) | Q(benchmark__mining=new.mining_id),
        **{f"benchmark__{column}": getattr(new, column) for column in MEMBERS},
    )
    alike: dict[tuple[object, ...], list[Run]] = {}
    for run in rows.exclude(benchmark=new):
        alike.setdefault(tuple(getattr(run, name) for name in ALIKE), []).append(run)
    return [_carried(runs, content, tick) for runs in alike.values()]


def runs_to_carry(old: Benchmark, base: Benchmark | None) -> QuerySet[Run]:
    """The runs that a version is to have whose holes were those of `old`, and which goes on from `base`."""
    return Run.objects.filter(benchmark__in=[old, base or old]).order_by("pk")


def _carried(runs: Sequence[Run], content: Content, tick: Tick) -> Run:
    """The run of the same lists; it gets each metric that one of the versions has it by.

    What was scored last in these versions is so in the new one.
    """
    run = max(runs, key=lambda one: one.scored_at)
    rows = RankedList.objects.filter(run=run).iterator(LISTS_A_READ)
    lists: dict[int, Places] = {row.key: row.places for row in rows}
    metrics = Score.objects.filter(run__in=runs).values_list("metric", flat=True)
    names = [name for name in dict.fromkeys(metrics.order_by("run", "pk")) if _is_known(name)]
    columns = ("system", "encoders", "options", "text_option", "pool", "source", "scored_at")
    copy = Run(benchmark=content.benchmark, **{name: getattr(run, name) for name in columns})
    return evaluate_run(copy, lists, content, parse_measures(names), tick=tick).run


def _is_known(name: str) -> bool:
    try:
        return bool(parse_measures([name]))
    except UnknownMeasure:
        return False
