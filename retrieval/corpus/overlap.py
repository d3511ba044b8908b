"""What the candidates of several encoders have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from django.db.models import BinaryField, Func, QuerySet, Value

from retrieval.corpus import SAMPLED, evenly
from retrieval.models import Benchmark, Candidate, Mining, RankedList, Run

DEPTH = 20
MOST_RUNS = 8
READ_AT_ONCE = 500
BYTES_A_PLACE = 4

Scored = tuple[int, Mapping[str, Mapping[str, float]]]
"""A candidate's pair, and by encoder what entered the mean and the raw score."""


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two lists a query: `shared` is the mean number of snippets that both have, `jaccard` the mean ratio.

    Of `queries` queries, whose lists have `depth` snippets at most.
    """

    first: str
    second: str
    queries: int
    depth: int
    shared: float
    jaccard: float


def overlap(
    first: str, second: str, depth: int, lists: Sequence[tuple[set[int], set[int]]]
) -> Overlap | None:
    """Of pairs of sets, one a query; None without a query that either found something for."""
    some = [(one, other) for one, other in lists if one or other]
    if not some:
        return None
    shared = sum(len(one & other) for one, other in some) / len(some)
    jaccard = sum(len(one & other) / len(one | other) for one, other in some) / len(some)
    return Overlap(first, second, len(some), depth, shared, jaccard)


def pairwise(names: Sequence[str], depth: int, lists: Mapping[int, Mapping[str, set[int]]]) -> list[Overlap]:
    """Every two of `names`; `lists` holds by query and name what was found."""
    made = (
        overlap(
            one, other, depth, [(found.get(one, set()), found.get(other, set())) for found in lists.values()]
        )
        for one, other in combinations(names, 2)
    )
    return [one for one in made if one is not None]


def of_mining(mining: Mining, most: int | None = SAMPLED) -> list[Overlap]:
    """Of a mining's candidates of a query, the better half by each encoder alone.

    A mining keeps the best by all encoders together: what one of them alone would have found is not there.
    """
    if len(mining.encoders) < 2:
        return []
    depth = max(1, mining.k // 2)
    lists = {
        query: {name: best(rows, name, depth) for name in mining.encoders}
        for query, rows in candidates_of(mining, most)
    }
    return pairwise(mining.encoders, depth, lists)


def candidates_of(mining: Mining, most: int | None) -> Iterator[tuple[int, list[Scored]]]:
    """Yield some queries, evenly by id, with their candidates by rank."""
    found = Candidate.objects.filter(mining=mining)
    queries = list(found.order_by("query").values_list("query", flat=True).distinct())
    chosen = [queries[place] for place in evenly(len(queries), most)]
    for start in range(0, len(chosen), READ_AT_ONCE):
        some: dict[int, list[Scored]] = {query: [] for query in chosen[start : start + READ_AT_ONCE]}
        rows = found.filter(query__in=some).order_by("query", "rank")
        for query, pair, scores in rows.values_list("query", "pair", "scores"):
            some[query].append((pair, scores))
        yield from some.items()


def best(rows: Sequence[Scored], encoder: str, depth: int) -> set[int]:
    """The pairs that an encoder scores highest; equal scores keep the order of ranks."""
    scored = sorted(rows, key=lambda row: -float(row[1].get(encoder, {}).get("raw", float("-inf"))))
    return {pair for pair, _ in scored[:depth]}


def of_benchmark(
    benchmark: Benchmark, most: int | None = SAMPLED, last_run: int | None = None
) -> list[Overlap]:
    """Of the first 20 results of every two runs, of the eight newest systems, for an even sample.

    `last_run`: runs that came after this one are left out.
    """
    rows = benchmark.runs.order_by("-id")
    runs = list(newest_of_each(rows if last_run is None else rows.filter(pk__lte=last_run)))[:MOST_RUNS]
    if len(runs) < 2:
        return []
    titles = {run.pk: run.title for run in runs}
    lists: dict[int, dict[str, set[int]]] = {}
    for query, run, places in first_places(benchmark, list(titles), most):
        lists.setdefault(query, {})[titles[run]] = places
    return pairwise(list(titles.values()), DEPTH, lists)


def newest_of_each(runs: QuerySet[Run]) -> Iterator[Run]:
    """The newest run of each title."""
    seen: set[str] = set()
    for run in runs:
        if run.title not in seen:
            seen.add(run.title)
            yield run


def first_places(
    benchmark: Benchmark, runs: Sequence[int], most: int | None
) -> Iterator[tuple[int, int, set[int]]]:
    """Yield (query, run, positions of its first results); of a list's bytes the database sends the first."""
    lists = RankedList.objects.filter(run__in=runs)
    queries = list(lists.order_by("query").values_list("query", flat=True).distinct())
    chosen = [queries[place] for place in evenly(len(queries), most)]
    head = Func("data", Value(1), Value(DEPTH * BYTES_A_PLACE), function="SUBSTR", output_field=BinaryField())
    for start in range(0, len(chosen), READ_AT_ONCE):
        rows = lists.filter(query__in=chosen[start : start + READ_AT_ONCE]).annotate(head=head)
        for query, run, data in rows.values_list("query", "run", "head"):
            whole = bytes(data)
            yield (
                query,
                run,
                {
                    int.from_bytes(whole[at : at + BYTES_A_PLACE], "little")
                    for at in range(0, len(whole), BYTES_A_PLACE)
                },
            )
