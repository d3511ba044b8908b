"""What was mined of the pairs that are published: the minings, their queries, where their snippets end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from annotation.models import Build, Extension
from retrieval.evaluation.publication import Order
from retrieval.mining import search_scope
from retrieval.models import Candidate, Collection, Member, Mining, PairList, Pool

LONGEST_NAME: Final = 120


def collect_minings(mining: Mining | None, build: Build | None) -> list[Mining]:
    """The mining, and those of the build's extensions; none where pairs were given."""
    if mining is None:
        return []
    if build is None:
        return [mining]
    opened = Extension.objects.filter(build=build, state__in=Extension.IN_BUILD)
    return [mining, *(row.mining for row in opened.select_related("mining"))]


def count_out_of_reach(mining: Mining | None, build: Build | None) -> int:
    """How many functions the benchmark has that none of its minings could propose; 0 of given pairs."""
    found = collect_minings(mining, build)
    return 0 if not found else search_scope.count_out_of_reach(found, snippets_until(found))


def snippets_until(found: Sequence[Mining]) -> int | None:
    """Where the snippets ended that were searched."""
    ends = [mining.until for mining in found]
    known = [end for end in ends if end is not None]
    return max(known) if len(known) == len(ends) else None


def collect_mined_queries(found: Sequence[Mining]) -> tuple[Collection, int | None]:
    """The queries that were mined: the first so many of their collection, or a collection of those alone."""
    whole = found[0].queries
    positions = set[int]().union(*(mined_query_positions(mining, whole) for mining in found))
    if len(positions) == max(positions, default=-1) + 1:
        return whole, len(positions)
    return collection_of(whole, sorted(positions), f"{whole.name}, chosen for mining {found[0].pk}"), None


def given_queries(given: PairList) -> tuple[Collection, int | None]:
    """The queries of given pairs: those of the benchmark that they came from, else those that have a pair."""
    if given.benchmark is not None:
        return given.benchmark.queries, given.benchmark.queries_until
    asked = given.candidates.order_by().values("query")
    rows = given.queries.members.filter(text__in=asked).order_by("position")
    positions = list(rows.values_list("position", flat=True))
    if len(positions) == max(positions, default=-1) + 1:
        return given.queries, len(positions)
    name = f"{given.queries.name}, those of given pairs {given.pk}"
    return collection_of(given.queries, positions, name), None


def given_order(name: str, given: PairList, rule: str) -> Order:
    """A benchmark of given pairs: nobody mined, so systems search the whole collection."""
    queries, until = given_queries(given)
    return Order(
        name,
        queries,
        given.snippets,
        rule,
        searched=Pool.COLLECTION,
        queries_until=until,
        snippets_until=given.benchmark.snippets_until if given.benchmark else None,
        given=given,
    )


def mined_query_positions(mining: Mining, whole: Collection) -> set[int]:
    """The positions of a mining's queries: those that got candidates, as each one did that was mined.

    The collection may have grown since, so neither its size nor the mining's limit says which they were.
    """
    asked = Candidate.objects.filter(mining=mining).order_by().values("query")
    members = whole.members.filter(text__in=asked).order_by()
    if mining.limit is not None and not (mining.chosen or mining.query_rule):
        members = members.filter(position__lt=mining.limit)
    found = set(members.values_list("position", flat=True))
    return found.intersection(mining.chosen) if mining.chosen else found


def collection_of(whole: Collection, positions: list[int], name: str) -> Collection:
    """A collection of some members of another; the one that is there already, if it has just these."""
    name = name[-LONGEST_NAME:]
    rows = {row.position: row for row in whole.members.all() if row.position in set(positions)}
    texts = [rows[position].text_id for position in positions if position in rows]
    before = Collection.objects.filter(name=name, kind=whole.kind).order_by("-version").first()
    if before and list(before.members.order_by("position").values_list("text_id", flat=True)) == texts:
        return before
    made = Collection.objects.create(
        name=name,
        kind=whole.kind,
        version=before.version + 1 if before else 1,
        source=str(whole)[:400],
        size=len(texts),
    )
    kept = [rows[position] for position in positions if position in rows]
    for number, row in enumerate(kept):
        row.pk, row.collection, row.position = None, made, number
    Member.objects.bulk_create(kept, batch_size=500)
    return made
