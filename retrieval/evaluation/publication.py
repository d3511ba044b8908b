"""Labels → a published benchmark: one relevance a pair, a hash of everything, never changed again.

Held as arrays, some 40 bytes a member or label.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from django.db import transaction
from django.db.models import Exists, Max, OuterRef, QuerySet

from retrieval.collections.revisions import labels_that_came
from retrieval.evaluation.aliases import Side, TextPair, judge_ids
from retrieval.models import (
    Benchmark,
    BenchmarkIdLabel,
    BenchmarkLabel,
    Candidate,
    Collection,
    Holes,
    Label,
    Mining,
    PairList,
    Pool,
    statements,
)
from retrieval.models.labels import BASES
from retrieval.sources import scale_of_grades

ROWS_A_READ = 2000
ROWS_A_WRITE: Final = 5000
COLUMNS: Final = ("benchmark", "pair", "relevance", "label")
ID_COLUMNS: Final = ("benchmark", "pair", "query_alias", "snippet_alias", "relevance")
Ids = npt.NDArray[np.int64]
CHOSEN: Final = {
    "query": "i8",
    "snippet": "i8",
    "pair": "i8",
    "relevance": "f8",
    "label": "i8",
    "basis": "u1",
}


class NothingToPublish(ValueError):
    """No label is about these queries and snippets, or there is no mining; the message says which."""


@dataclass(frozen=True, slots=True)
class Order:
    """A benchmark to be. `merge_rule` tells people whose labels count, and which of several.

    With a mining its candidates are searched, unless `searched` says otherwise; `further` minings brought
    more pairs, and so do the `holes` that were filled, beside the labels of the version that it
    `previous_version`. `given` pairs were judged, in the place of a mining, or again: then the labels of the
    version before are corrected by them. Members from `queries_until` and `snippets_until` on are no part of
    it; None: all are. `notes`: what people must know of its labels.
    """

    name: str
    queries: Collection
    snippets: Collection
    merge_rule: str
    mining: Mining | None = None
    further: Sequence[Mining] = ()
    searched: Pool | None = None
    queries_until: int | None = None
    snippets_until: int | None = None
    holes: Holes | None = None
    previous_version: Benchmark | None = None
    given: PairList | None = None
    notes: str = ""

    @property
    def pool(self) -> Pool:
        return self.searched or (Pool.CANDIDATES if self.mining else Pool.COLLECTION)


class Chosen(NamedTuple):
    """What counts of a pair: texts' ids, its relevance, the label that said it (None: several did), and the
    basis of that label.
    """

    query: int
    snippet: int
    pair: int
    relevance: float
    label: int | None
    basis: str


@dataclass(frozen=True, slots=True)
class _Members:
    """Texts of a collection by position, which has no gaps, as members are never deleted.

    `digests`: the texts' hashes as four numbers of 64 bits, shape (members, 4), which sort as the hashes do.
    """

    ids: Ids
    digests: npt.NDArray[np.uint64]
    until: int

    @classmethod
    def of(cls, collection: Collection, until: int | None) -> _Members:
        members = collection.members.all()
        if until is not None:
            members = members.filter(position__lt=until)
        rows = members.order_by("position").values_list("text_id", "text__body_id")
        ids, digests = array("q"), bytearray()
        for text, digest in rows.iterator(ROWS_A_READ):
            ids.append(text)
            digests += bytes.fromhex(digest)
        last: int | None = members.aggregate(last=Max("position"))["last"]
        numbers = np.frombuffer(bytes(digests), dtype=">u8").reshape(-1, 4)
        return cls(np.array(ids, dtype=np.int64), numbers, 0 if last is None else last + 1)

    def hashes(self) -> Iterator[str]:
        """The texts' hashes in hex, by position."""
        return (row.tobytes().hex() for row in self.digests)

    def places(self, texts: Ids) -> Ids:
        """Positions of texts by their ids, -1 for those that are no members."""
        if not len(self.ids):
            return np.full(len(texts), -1, dtype=np.int64)
        order = np.argsort(self.ids)
        found = order[np.minimum(np.searchsorted(self.ids, texts, sorter=order), len(order) - 1)]
        return np.where(self.ids[found] == texts, found, -1)

    def ranks(self) -> Ids:
        """The rank of each member's hash among all, by position."""
        ranks = np.empty(len(self.ids), dtype=np.int64)
        ranks[np.lexsort(self.digests.T[::-1])] = np.arange(len(self.ids))
        return ranks


@dataclass(frozen=True, slots=True)
class _Given:
    """What was said of pairs of members, in the order of pairs; queries and snippets as positions."""

    queries: Ids
    snippets: Ids
    pairs: Ids
    relevances: npt.NDArray[np.float64]
    labels: Ids
    """Ids, 0 where several labels were merged."""
    bases: npt.NDArray[np.uint8]
    """How they came about, as places in BASES."""

    @classmethod
    def of(cls, chosen: Iterable[Chosen], queries: _Members, snippets: _Members) -> _Given:
        """Those of `chosen` that are about members."""
        told = ((*row[:4], row.label or 0, BASES.index(row.basis)) for row in chosen)
        rows = np.fromiter(told, dtype=list(CHOSEN.items()))
        asked, code, *columns = (np.ascontiguousarray(rows[name]) for name in CHOSEN)
        asked, code = queries.places(asked), snippets.places(code)
        kept = np.flatnonzero((asked >= 0) & (code >= 0))
        kept = kept[np.argsort(columns[0][kept], kind="stable")]
        return cls(asked[kept], code[kept], *(column[kept] for column in columns))

    def __len__(self) -> int:
        return len(self.pairs)

    def text_pairs(self, rows: Ids, queries: _Members, snippets: _Members) -> Iterator[TextPair]:
        """Some of the pairs by the ids of their texts."""
        columns = (
            queries.ids[self.queries[rows]],
            snippets.ids[self.snippets[rows]],
            self.pairs[rows],
            self.relevances[rows],
            self.labels[rows],
        )
        for row in zip(*(column.tolist() for column in columns), strict=True):
            yield TextPair._make((*row[:4], row[4] or None))

    def places(self, row: int) -> tuple[int, int]:
        """The positions of a pair's query and snippet."""
        return int(self.queries[row]), int(self.snippets[row])


class _IdRow(NamedTuple):
    """What is said of two ids: positions of the texts, the pair, the ids' numbers, relevance, its basis."""

    query: int
    snippet: int
    pair: int
    query_alias: int
    snippet_alias: int
    relevance: float
    basis: str

    @property
    def stored(self) -> tuple[int, int, int, float]:
        """The columns of `ID_COLUMNS` after the benchmark."""
        return self.pair, self.query_alias, self.snippet_alias, self.relevance


@dataclass(frozen=True, slots=True)
class _Ids:
    """The aliases of a benchmark that goes by ids, as the positions of their texts, and its labels by ids.

    `several`: which of the pairs have a text with aliases; `rows` are of those alone. Else all is empty.
    """

    query_places: Ids
    snippet_places: Ids
    several: npt.NDArray[np.bool_]
    rows: list[_IdRow]

    @classmethod
    def of(
        cls,
        order: Order,
        queries: _Members,
        snippets: _Members,
        given: _Given,
        said: QuerySet[Label] | None,
    ) -> _Ids:
        before = order.previous_version
        if said is None and not (before and before.goes_by_ids):
            nothing = np.zeros(0, dtype=np.int64)
            return cls(nothing, nothing, np.zeros(len(given), dtype=np.bool_), [])
        sides = (
            Side.of(order.queries, before.query_aliases if before else None),
            Side.of(order.snippets, before.snippet_aliases if before else None),
        )
        places = [
            members.places(np.array(side.texts, dtype=np.int64))
            for members, side in zip((queries, snippets), sides, strict=True)
        ]
        several = np.isin(given.queries, places[0]) | np.isin(given.snippets, places[1])
        found = np.flatnonzero(several)
        judged = judge_ids(given.text_pairs(found, queries, snippets), *sides, said, before)
        rows = [
            _IdRow(*given.places(row), pair.pair, *ids, relevance, BASES[given.bases[row]])
            for row, (pair, relevances) in zip(found.tolist(), judged, strict=True)
            for ids, relevance in sorted(relevances.items())
        ]
        return cls(places[0], places[1], several, rows)

    @property
    def queries(self) -> int:
        return len(self.query_places)

    @property
    def snippets(self) -> int:
        return len(self.snippet_places)

    def matching_queries(self, given: _Given, members: int) -> Ids:
        """For each match its query's place among members and, behind these, aliases."""
        told = given.queries[(given.relevances > 0) & ~self.several].tolist()
        asked = [row for row in self.rows if row.relevance > 0]
        told += [members + row.query_alias - 1 if row.query_alias else row.query for row in asked]
        return np.array(told, dtype=np.int64)


def publish_import(name: str, notes: str = "") -> Benchmark | None:
    """The benchmark of the labels that came with the collections called `name`; None where there are none.

    Of two labels of one pair the one that was imported later counts. Importing the same again publishes
    nothing.
    """
    pair = {kind: Collection.objects.filter(name=name, kind=kind) for kind in Collection.Kind.values}
    queries, snippets = (found.order_by("-version").first() for found in pair.values())
    if queries is None or snippets is None:
        return None
    given = labels_that_came(name)
    rule = "labels that came with the data; of several the last one, in one source the first"
    try:
        return publish_benchmark(Order(name, queries, snippets, rule, notes=notes), given, by_ids=True)
    except NothingToPublish:
        return None


def left_out(name: str, benchmark: Benchmark | None) -> int:
    """How many pairs have a label that came with the data and is not in its benchmark.

    Their query or their snippet is no member.
    """
    given = labels_that_came(name).order_by()
    pairs = given.values("pair").distinct().count()
    if benchmark is None:
        return pairs
    labelled = Exists(given.filter(pair=OuterRef("pair")))
    means = benchmark.labels.filter(~labelled, label=None).count()  # those of a release came without labels
    return pairs - (benchmark.size - means)


def publish_benchmark(order: Order, labels: QuerySet[Label], *, by_ids: bool = False) -> Benchmark:
    """Publish `labels` as the next version of a benchmark; the last version where nothing has changed.

    Of several labels of one pair the last one counts, a label that was taken back none. Labels of other
    queries and snippets are left out. With `by_ids` each id that the source gives counts by itself, also
    where several have one text. Raises `NothingToPublish`.
    """
    return publish_chosen(order, last_of(labels), labels if by_ids else None)


@transaction.atomic
def publish_chosen(
    order: Order, chosen: Iterable[Chosen], of_ids: QuerySet[Label] | None = None
) -> Benchmark:
    """As `publish_benchmark`, where it has been decided which label of a pair counts: each pair comes once.

    `of_ids`: labels of a source whose ids count. The version after one that goes by ids does so, too.
    """
    # Whoever publishes beside us waits here: both would number their versions alike.
    Collection.objects.select_for_update().get(pk=order.queries.pk)
    queries = _Members.of(order.queries, order.queries_until)
    snippets = _Members.of(order.snippets, order.snippets_until)
    given = _Given.of(chosen, queries, snippets)
    if not len(given):
        raise NothingToPublish(f"No label is about a query and a function of {order.name}.")
    ids = _Ids.of(order, queries, snippets, given, of_ids)
    digest = _digest(order, queries, snippets, given, ids)
    last = Benchmark.objects.newest(order.name)
    if last is not None and (last.digest, last.notes) == (digest, _notes(order)):
        return last
    made = _benchmark(order, queries, snippets, given, ids, digest, last.version + 1 if last else 1)
    for start in range(0, len(given), ROWS_A_WRITE):
        ends = slice(start, start + ROWS_A_WRITE)
        parts = (column[ends].tolist() for column in (given.pairs, given.relevances, given.labels))
        rows = [(made.pk, *row, label or None) for *row, label in zip(*parts, strict=True)]
        statements.insert_all(BenchmarkLabel, COLUMNS, rows)
    for start in range(0, len(ids.rows), ROWS_A_WRITE):
        rows = [(made.pk, *row.stored) for row in ids.rows[start : start + ROWS_A_WRITE]]
        statements.insert_all(BenchmarkIdLabel, ID_COLUMNS, rows)
    return made


def _notes(order: Order) -> str:
    """What is said of its labels: also what was said of those that it takes over."""
    before = order.previous_version.notes if order.previous_version else ""
    return " ".join(dict.fromkeys(note for note in (before, order.notes) if note))


def _benchmark(
    order: Order,
    queries: _Members,
    snippets: _Members,
    given: _Given,
    ids: _Ids,
    digest: str,
    version: int,
) -> Benchmark:
    matches = np.bincount(
        ids.matching_queries(given, len(queries.ids)), minlength=len(queries.ids) + ids.queries
    )
    same = "name", "queries", "snippets", "pool", "mining", "holes", "previous_version", "merge_rule"
    made = Benchmark.objects.create(
        **{name: getattr(order, name) for name in same},
        version=version,
        queries_until=queries.until,
        snippets_until=snippets.until,
        query_aliases=ids.queries,
        snippet_aliases=ids.snippets,
        pair_list=order.given,
        size=len(given),
        positives=int((given.relevances > 0).sum()),
        matches=matches.astype("<u4").tobytes(),
        digest=digest,
        notes=_notes(order),
        scale=scale_of_grades([given.relevances.min(), given.relevances.max()]),
    )
    made.extension_minings.set(order.further)
    return made


def last_of(labels: QuerySet[Label]) -> Iterator[Chosen]:
    """The last label of each pair, without those that took another back."""
    columns = ("pair__query_id", "pair__snippet_id", "pair_id", "value", "pk", "basis")
    rows = labels.order_by("pair_id", "pk").values_list(*columns).iterator(ROWS_A_READ)
    last: tuple[int, int, int, int | None, int, str] | None = next(rows, None)
    while last is not None:
        row = next(rows, None)
        if (row is None or row[2] != last[2]) and last[3] is not None:
            yield Chosen(*last[:3], float(last[3]), *last[4:])
        last = row


def _digest(order: Order, queries: _Members, snippets: _Members, given: _Given, ids: _Ids) -> str:
    """sha256 (hex) of pool, texts in their order and labels, each by the hashes of its texts.

    A label whose basis is not known is written as before there was one, and ids only where it goes by them,
    so that old hashes stay.
    """
    whole = hashlib.sha256(f"pool {order.pool}\n".encode())
    lines = chain(_lines(order, queries, snippets, given, ids), _id_lines(ids))
    while part := "".join(f"{line}\n" for line in islice(lines, ROWS_A_WRITE)):
        whole.update(part.encode())
    return whole.hexdigest()


def _lines(order: Order, queries: _Members, snippets: _Members, given: _Given, ids: _Ids) -> Iterator[str]:
    query_hash, snippet_hash = list(queries.hashes()), list(snippets.hashes())
    yield from (f"query {digest}" for digest in query_hash)
    yield from (f"snippet {digest}" for digest in snippet_hash)
    asked, code = queries.ranks(), snippets.ranks()
    told = [f" {basis}" if basis else "" for basis in BASES]
    for row in np.lexsort((code[given.snippets], asked[given.queries])).tolist():
        if ids.several[row]:
            continue  # `_id_lines` has it
        pair = f"{query_hash[given.queries[row]]} {snippet_hash[given.snippets[row]]}"
        yield f"label {pair} {float(given.relevances[row])!r}{told[given.bases[row]]}"
    if order.mining and order.pool == Pool.CANDIDATES:
        found = _candidates([order.mining, *order.further], queries, snippets)
        for row in np.lexsort((code[found[1]], asked[found[0]])).tolist():
            yield f"candidate {query_hash[found[0][row]]} {snippet_hash[found[1][row]]}"


def _id_lines(ids: _Ids) -> Iterator[str]:
    """Aliases by the positions of their texts, and labels by those and the ids' numbers."""
    yield from (f"query alias {place}" for place in ids.query_places)
    yield from (f"snippet alias {place}" for place in ids.snippet_places)
    for row in sorted(ids.rows):
        told = f"{row.query} {row.query_alias} {row.snippet} {row.snippet_alias}"
        basis = f" {row.basis}" if row.basis else ""
        yield f"label {told} {float(row.relevance)!r}{basis}"


def _candidates(minings: Sequence[Mining], queries: _Members, snippets: _Members) -> tuple[Ids, Ids]:
    """The positions of the candidates' queries and snippets that are members, each pair once."""
    rows = Candidate.objects.filter(mining__in=minings).order_by()
    asked, code = array("q"), array("q")
    for query, snippet in rows.values_list("query_id", "pair__snippet_id").iterator(ROWS_A_READ):
        asked.append(query)
        code.append(snippet)
    places = queries.places(np.asarray(asked)), snippets.places(np.asarray(code))
    kept = (places[0] >= 0) & (places[1] >= 0)
    both = np.unique(places[0][kept] * len(snippets.ids) + places[1][kept])
    return both // len(snippets.ids), both % len(snippets.ids)
