"""Labels → a published benchmark: one relevance a pair, a hash of everything, never changed again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from django.db import transaction
from django.db.models import Max, QuerySet

from retrieval.models import Annotator, Benchmark, BenchmarkLabel, Candidate, Collection, Label, Mining, Pool

ROWS_A_READ = 2000


class NothingToPublish(ValueError):
    """No label is about these queries and snippets, or there is no mining; the message says which."""


@dataclass(frozen=True, slots=True)
class Order:
    """A benchmark to be. `merge_rule` tells people whose labels count, and which of several."""

    name: str
    queries: Collection
    snippets: Collection
    merge_rule: str
    mining: Mining | None = None

    @property
    def pool(self) -> Pool:
        return Pool.CANDIDATES if self.mining else Pool.COLLECTION


@dataclass(frozen=True, slots=True)
class _Members:
    """Texts of a collection by position, which has no gaps, as members are never deleted."""

    ids: list[int]
    digests: list[str]
    until: int

    @classmethod
    def of(cls, collection: Collection) -> _Members:
        rows = collection.members.order_by("position").values_list("text_id", "text__body_id")
        ids, digests = list[int](), list[str]()
        for text, digest in rows.iterator(ROWS_A_READ):
            ids.append(text)
            digests.append(digest)
        last: int | None = collection.members.aggregate(last=Max("position"))["last"]
        return cls(ids, digests, 0 if last is None else last + 1)


@dataclass(frozen=True, slots=True)
class _Given:
    """What was said of a pair, and the label that said it."""

    query: int
    snippet: int
    pair: int
    relevance: float
    label: int


def publish_import(name: str) -> Benchmark | None:
    """The benchmark of the labels that came with the collections called `name`; None where there are none.

    Of two labels of one pair the one that was imported later counts. Importing the same again publishes
    nothing.
    """
    pair = {kind: Collection.objects.filter(name=name, kind=kind) for kind in Collection.Kind.values}
    queries, snippets = (found.order_by("-version").first() for found in pair.values())
    if queries is None or snippets is None:
        return None
    given = Label.objects.filter(annotator__kind=Annotator.Kind.ORIGINAL, annotator__name=name)
    rule = "labels that came with the data; of several the last one, in one source the first"
    try:
        return publish(Order(name, queries, snippets, rule), given)
    except NothingToPublish:
        return None


@transaction.atomic
def publish(order: Order, labels: QuerySet[Label]) -> Benchmark:
    """Publish `labels` as the next version of a benchmark; the last version where nothing has changed.

    Of several labels of one pair the last one counts, a label that was taken back none. Labels of other
    queries and snippets are left out. Raises `NothingToPublish`.
    """
    # Whoever publishes beside us waits here: both would number their versions alike.
    Collection.objects.select_for_update().get(pk=order.queries.pk)
    queries, snippets = _Members.of(order.queries), _Members.of(order.snippets)
    given = _given(labels, set(queries.ids), set(snippets.ids))
    if not given:
        raise NothingToPublish(f"No label is about a query and a snippet of {order.name}.")
    digest = _digest(order, queries, snippets, given)
    last = Benchmark.objects.newest(order.name)
    if last is not None and last.digest == digest:
        return last
    made = _benchmark(order, queries, snippets, given, digest, last.version + 1 if last else 1)
    rows = (
        BenchmarkLabel(benchmark=made, pair_id=one.pair, relevance=one.relevance, label_id=one.label)
        for one in given
    )
    BenchmarkLabel.objects.bulk_create(rows, batch_size=1000)
    return made


def _benchmark(
    order: Order, queries: _Members, snippets: _Members, given: list[_Given], digest: str, version: int
) -> Benchmark:
    return Benchmark.objects.create(
        name=order.name,
        version=version,
        queries=order.queries,
        queries_until=queries.until,
        snippets=order.snippets,
        snippets_until=snippets.until,
        pool=order.pool,
        mining=order.mining,
        merge_rule=order.merge_rule,
        size=len(given),
        positives=sum(one.relevance > 0 for one in given),
        matches=_matches(queries, given),
        digest=digest,
    )


def _given(labels: QuerySet[Label], queries: set[int], snippets: set[int]) -> list[_Given]:
    """The last label of each pair of members, in the order of pairs."""
    columns = ("pair__query_id", "pair__snippet_id", "pair_id", "value", "pk")
    last: dict[int, _Given] = {}
    for query, snippet, pair, value, pk in labels.order_by("pk").values_list(*columns).iterator(ROWS_A_READ):
        if query not in queries or snippet not in snippets:
            continue
        last.pop(pair, None)
        if value is not None:
            last[pair] = _Given(query, snippet, pair, float(value), pk)
    return [last[pair] for pair in sorted(last)]


def _matches(queries: _Members, given: Iterable[_Given]) -> bytes:
    """Numbers of matches by position, as `Benchmark.matches` holds them."""
    place = {query: number for number, query in enumerate(queries.ids)}
    found = [place[one.query] for one in given if one.relevance > 0]
    return np.bincount(np.array(found, dtype=np.int64), minlength=len(place)).astype("<u4").tobytes()


def _digest(order: Order, queries: _Members, snippets: _Members, given: Iterable[_Given]) -> str:
    """sha256 (hex) of pool, texts in their order and labels, each by the hashes of its texts."""
    whole = hashlib.sha256(f"pool {order.pool}\n".encode())
    for line in _lines(order, queries, snippets, given):
        whole.update(f"{line}\n".encode())
    return whole.hexdigest()


def _lines(order: Order, queries: _Members, snippets: _Members, given: Iterable[_Given]) -> Iterator[str]:
    query_of = dict(zip(queries.ids, queries.digests, strict=True))
    snippet_of = dict(zip(snippets.ids, snippets.digests, strict=True))
    yield from (f"query {digest}" for digest in queries.digests)
    yield from (f"snippet {digest}" for digest in snippets.digests)
    yield from sorted(
        f"label {query_of[one.query]} {snippet_of[one.snippet]} {one.relevance!r}" for one in given
    )
    if order.mining:
        yield from _candidate_lines(order.mining, query_of, snippet_of)


def _candidate_lines(mining: Mining, query_of: Mapping[int, str], snippet_of: Mapping[int, str]) -> list[str]:
    pairs = Candidate.objects.filter(mining=mining).values_list("query_id", "pair__snippet_id")
    return sorted(
        f"candidate {query_of[query]} {snippet_of[snippet]}"
        for query, snippet in pairs.order_by().iterator(ROWS_A_READ)
        if query in query_of and snippet in snippet_of
    )
