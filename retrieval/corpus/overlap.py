"""What the candidates of several encoders have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db.models import BinaryField, Func, QuerySet, Value

from retrieval.corpus import SAMPLED, sample_places_evenly
from retrieval.evaluation.leaderboard import titles_of
from retrieval.metrics.overlap import Overlap, compute_pairwise_overlaps
from retrieval.models import Benchmark, Mining, RankedList, Run
from retrieval.models.benchmarks import NOWHERE

DEPTH = 20
MOST_RUNS = 8
READ_AT_ONCE = 500
BYTES_A_PLACE = 4


def of_mining(mining: Mining) -> list[Overlap]:
    """Of the best snippets by each of its encoders alone, for a sample of the queries; as it measured it."""
    return [Overlap(**row) for row in mining.overlaps or ()]


def of_benchmark(
    benchmark: Benchmark, most: int | None = SAMPLED, last_run: int | None = None
) -> list[Overlap]:
    """Of the first 20 results of every two runs that are `find_compared_runs`, for an even sample."""
    runs = find_compared_runs(benchmark, last_run)
    if len(runs) < 2:
        return []
    titles = titles_of(runs)
    lists: dict[int, dict[str, set[int]]] = {}
    for query, run, places in first_places(benchmark, list(titles), most):
        lists.setdefault(query, {})[titles[run]] = places
    return compute_pairwise_overlaps(list(titles.values()), DEPTH, lists)


def find_compared_runs(benchmark: Benchmark, last_run: int | None = None) -> list[Run]:
    """The newest runs of the eight newest systems that searched what the benchmark says.

    A list of candidates and one of the whole collection are no comparison. `last_run`: runs that came after
    this one are left out.
    """
    rows = benchmark.runs.filter(pool=benchmark.pool).order_by("-id")
    return list(newest_of_each(rows if last_run is None else rows.filter(pk__lte=last_run)))[:MOST_RUNS]


def newest_of_each(runs: QuerySet[Run]) -> Iterator[Run]:
    """The newest run of each system and text option."""
    seen: set[tuple[str, str]] = set()
    for run in runs:
        if (run.system, run.text_option) not in seen:
            seen.add((run.system, run.text_option))
            yield run


def first_places(
    benchmark: Benchmark, runs: Sequence[int], most: int | None
) -> Iterator[tuple[int, int, set[int]]]:
    """Yield (query, run, positions of its first results); of a list's bytes the database sends the first.

    Which snippets the benchmark lacks is not known: each is another one, and has a number below 0.
    """
    lists = RankedList.objects.filter(run__in=runs)
    queries = list(lists.order_by("query").values_list("query", flat=True).distinct())
    chosen = [queries[place] for place in sample_places_evenly(len(queries), most)]
    head = Func("data", Value(1), Value(DEPTH * BYTES_A_PLACE), function="SUBSTR", output_field=BinaryField())
    for start in range(0, len(chosen), READ_AT_ONCE):
        rows = lists.filter(query__in=chosen[start : start + READ_AT_ONCE]).annotate(head=head)
        for query, run, data in rows.values_list("query", "run", "head"):
            yield query, run, set(places_of(bytes(data), run))


def places_of(whole: bytes, run: int) -> Iterator[int]:
    for at in range(0, len(whole), BYTES_A_PLACE):
        place = int.from_bytes(whole[at : at + BYTES_A_PLACE], "little")
        yield place if place != NOWHERE else -1 - at - run * DEPTH * BYTES_A_PLACE
