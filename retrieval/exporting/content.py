"""What every format writes: members in their order, and labelled pairs with the source of each label.

Pairs are arrays, some 30 bytes each; texts are streamed, and kept as JSON in a temporary file where pairs
need them again.
"""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import IO, Any, Final

import numpy as np
import numpy.typing as npt

from retrieval.evaluation.content import query_members, snippet_members
from retrieval.evaluation.numbering import OF_QUERIES, OF_SNIPPETS, Numbering
from retrieval.exporting.licences import WITHHELD, Withhold
from retrieval.filters.licences import Standing, standing
from retrieval.models import (
    Annotator,
    Benchmark,
    BenchmarkLabel,
    Candidate,
    Label,
    Mining,
    Source,
    source_of,
)
from retrieval.models.collections import MemberQuerySet
from retrieval.models.labels import ADJUDICATED

ROWS_A_READ: Final = 2000
STANDINGS: Final = tuple(Standing)
Ids = npt.NDArray[np.int64]


class Choice(StrEnum):
    """Whose labels are written."""

    FINAL = "final"
    """What the benchmark publishes, by its merge rule."""
    EXPERTS = "experts"
    """Those published labels that people gave: in blind studies, or by agreeing reviews."""
    AGENTS = "agents"
    """What the agents said when the benchmark was published, also where people were believed."""


WANTED: Final[Mapping[Choice, frozenset[Source]]] = {
    Choice.FINAL: frozenset(Source),
    Choice.EXPERTS: frozenset({Source.STUDY, Source.ADJUDICATED, Source.ACCEPTED, Source.REVIEWS}),
    Choice.AGENTS: frozenset({Source.AGENT}),
}


class NothingToExport(ValueError):
    """No label is of the kind that was asked for; the message says which there are."""


@dataclass(frozen=True, slots=True)
class Giver:
    """Who gave a label, and how."""

    source: Source
    assisted: bool
    scale: str
    name: str
    version: str

    def as_json(self) -> dict[str, Any]:
        return {
            "source": self.source.value,
            "assisted": self.assisted,
            "scale": self.scale,
            "annotator": self.name,
            "version": self.version,
        }


@dataclass(frozen=True, slots=True)
class Pairs:
    """Labelled pairs by query, then snippet; both as positions. `givers` are places in `known`."""

    queries: Ids
    snippets: Ids
    relevances: npt.NDArray[np.float64]
    givers: Ids
    known: Sequence[Giver]

    def __len__(self) -> int:
        return len(self.queries)

    def rows(self) -> Iterator[tuple[int, int, float, int]]:
        """Yield (query, snippet, relevance, giver) of each pair."""
        for start in range(0, len(self), ROWS_A_READ):
            part = slice(start, start + ROWS_A_READ)
            columns = (self.queries, self.snippets, self.relevances, self.givers)
            yield from zip(*(column[part].tolist() for column in columns), strict=True)

    def kept(self, mask: npt.NDArray[np.bool_]) -> Pairs:
        return Pairs(
            self.queries[mask], self.snippets[mask], self.relevances[mask], self.givers[mask], self.known
        )

    def by_source(self) -> dict[str, int]:
        """How many pairs each source gives a label."""
        counts = np.bincount(self.givers, minlength=len(self.known))
        found: dict[str, int] = {}
        for giver, count in zip(self.known, counts.tolist(), strict=True):
            found[giver.source.value] = found.get(giver.source.value, 0) + count
        return {source: count for source, count in found.items() if count}


@dataclass(frozen=True, slots=True)
class Entry:
    """A member with its text. `number` is what a release's file calls it."""

    position: int
    number: int
    text: str
    digest: str
    source_id: str
    origin: str
    licence: str
    rules: int


@dataclass(frozen=True, slots=True)
class Subject:
    """A benchmark that is exported: ids and numbers of its members by position, and its labelled pairs.

    `withheld` marks snippets that `policy` withholds, `reasons` counts them by what their licence says;
    `passed_on` are those that it lets pass though a stated licence is not known to allow it, `asked` such
    queries, which no policy withholds.
    """

    benchmark: Benchmark
    query_ids: Ids
    snippet_ids: Ids
    query_numbers: Ids
    snippet_numbers: Ids
    pairs: Pairs
    withheld: npt.NDArray[np.bool_]
    policy: Withhold
    reasons: Mapping[Standing, int]
    passed_on: int
    asked: int

    def queries(self) -> Iterator[Entry]:
        return _entries(query_members(self.benchmark), self.query_numbers)

    def snippets(self) -> Iterator[Entry]:
        """All of them, also those that are withheld."""
        return _entries(snippet_members(self.benchmark), self.snippet_numbers)

    @property
    def open_pairs(self) -> Pairs:
        """The pairs whose snippets may be passed on."""
        return self.pairs.kept(~self.withheld[self.pairs.snippets])

    def candidates(self) -> Iterator[tuple[int, int, int, float]]:
        """Yield (query, snippet, rank, score) of the minings' candidates that are members, as positions.

        Each pair once: as the first mining has it.
        """
        minings, seen = self.benchmark.minings, set[tuple[int, int]]()
        for mining in minings:
            for row in self._of_mining(mining):
                if row[:2] not in seen:
                    yield row
                if len(minings) > 1:  # one mining has a pair once
                    seen.add(row[:2])

    def _of_mining(self, mining: Mining) -> Iterator[tuple[int, int, int, float]]:
        rows = Candidate.objects.filter(mining=mining).order_by("query_id", "rank")
        columns = ("query_id", "pair__snippet_id", "rank", "score")
        query_of, snippet_of = Places.of(self.query_ids), Places.of(self.snippet_ids)
        read = rows.values_list(*columns).iterator(ROWS_A_READ)
        while part := list(islice(read, ROWS_A_READ)):
            queries, snippets, ranks, scores = zip(*part, strict=True)
            asked, code = query_of.many(np.array(queries)), snippet_of.many(np.array(snippets))
            for row in zip(asked.tolist(), code.tolist(), ranks, scores, strict=True):
                if row[0] >= 0 and row[1] >= 0:
                    yield row


@dataclass(frozen=True, slots=True)
class Places:
    """Positions of texts by their ids."""

    order: Ids
    ids: Ids

    @classmethod
    def of(cls, ids: Ids) -> Places:
        order = np.argsort(ids)
        return cls(order, ids[order])

    def many(self, texts: Ids) -> Ids:
        """-1 where a text is no member."""
        if not len(self.ids):
            return np.full(len(texts), -1, dtype=np.int64)
        found = np.minimum(np.searchsorted(self.ids, texts), len(self.ids) - 1)
        return np.where(self.ids[found] == texts, self.order[found], -1)


def subject_of(
    benchmark: Benchmark, choice: Choice = Choice.FINAL, policy: Withhold = Withhold.NONE
) -> Subject:
    """Read a benchmark for an export. Raises `NothingToExport`."""
    query_ids, query_numbers, stated = _members(query_members(benchmark), OF_QUERIES)
    snippet_ids, snippet_numbers, standings = _members(snippet_members(benchmark), OF_SNIPPETS)
    pairs = _pairs(benchmark, choice, Places.of(query_ids), Places.of(snippet_ids))
    if not len(pairs):
        there = ", ".join(
            _pairs(benchmark, Choice.FINAL, Places.of(query_ids), Places.of(snippet_ids)).by_source()
        )
        raise NothingToExport(
            f"Benchmark {benchmark} has no label of {choice.value}; its labels are of: {there}."
        )
    withheld = np.isin(standings, [STANDINGS.index(one) for one in WITHHELD[policy]])
    reasons = {one: int((standings[withheld] == place).sum()) for place, one in enumerate(STANDINGS)}
    told = {one: count for one, count in reasons.items() if count}
    numbers = query_numbers, snippet_numbers
    forbidden = STANDINGS.index(Standing.FORBIDDEN)
    counts = int((~withheld & (standings == forbidden)).sum()), int((stated == forbidden).sum())
    return Subject(benchmark, query_ids, snippet_ids, *numbers, pairs, withheld, policy, told, *counts)


def _members(members: MemberQuerySet, letter: str) -> tuple[Ids, Ids, npt.NDArray[np.uint8]]:
    """By position: ids of texts, numbers in files, and what licences say, as places in STANDINGS."""
    ids, numbering, standings = array("q"), Numbering(letter), bytearray()
    known = dict[str, int]()
    for text, source_id, licence in members.values_list("text_id", "source_id", "licence").iterator(
        ROWS_A_READ
    ):
        ids.append(text)
        numbering.add(source_id)
        if licence not in known:
            known[licence] = STANDINGS.index(standing(licence))
        standings.append(known[licence])
    return (
        np.asarray(ids, dtype=np.int64),
        numbering.numbers(),
        np.frombuffer(bytes(standings), dtype=np.uint8),
    )


def _entries(members: MemberQuerySet, numbers: Ids) -> Iterator[Entry]:
    columns = ("text__body__data", "text__body_id", "source_id", "origin", "licence", "rules")
    rows = members.values_list(*columns).iterator(ROWS_A_READ)
    for position, (data, digest, source_id, origin, licence, rules) in enumerate(rows):
        text = zlib.decompress(data).decode()
        yield Entry(position, int(numbers[position]), text, digest, source_id, origin, licence, rules)


@dataclass
class _Columns:
    """Labels as they are read."""

    queries: array[int] = field(default_factory=lambda: array("q"))
    snippets: array[int] = field(default_factory=lambda: array("q"))
    relevances: array[float] = field(default_factory=lambda: array("d"))
    givers: array[int] = field(default_factory=lambda: array("q"))
    known: dict[Giver, int] = field(default_factory=dict)

    def add(self, query: int, snippet: int, relevance: float, giver: Giver) -> None:
        self.queries.append(query)
        self.snippets.append(snippet)
        self.relevances.append(relevance)
        self.givers.append(self.known.setdefault(giver, len(self.known)))

    def pairs(self, query_of: Places, snippet_of: Places) -> Pairs:
        asked = query_of.many(np.asarray(self.queries, dtype=np.int64))
        code = snippet_of.many(np.asarray(self.snippets, dtype=np.int64))
        order = np.lexsort((code, asked))
        relevances, givers = (
            np.asarray(self.relevances)[order],
            np.asarray(self.givers, dtype=np.int64)[order],
        )
        return Pairs(asked[order], code[order], relevances, givers, list(self.known))


def _pairs(benchmark: Benchmark, choice: Choice, query_of: Places, snippet_of: Places) -> Pairs:
    columns, givers = _Columns(), _Givers()
    told = ("pair__query_id", "pair__snippet_id", "relevance")
    label = ("label__annotator_id", "label__assisted", "label__scale", "label__source")
    rows = BenchmarkLabel.objects.filter(benchmark=benchmark).order_by().values_list(*told, *label)
    for query, snippet, relevance, *given in rows.iterator(ROWS_A_READ):
        giver = givers.of(*given)
        if giver.source in WANTED[choice]:
            columns.add(query, snippet, relevance, giver)
    if choice is Choice.AGENTS:
        _add_overruled(benchmark, columns, givers)
    return columns.pairs(query_of, snippet_of)


class _Givers:
    """Annotators are read once."""

    def __init__(self) -> None:
        self.known: dict[tuple[int | None, bool, str, str], Giver] = {}

    def of(self, annotator: int | None, assisted: bool | None, scale: str | None, told: str | None) -> Giver:
        decided = ADJUDICATED if (told or "").endswith(ADJUDICATED) else ""
        key = (annotator, bool(assisted), scale or "", decided)
        if key not in self.known:
            self.known[key] = self.looked_up(*key)
        return self.known[key]

    def looked_up(self, annotator: int | None, assisted: bool, scale: str, told: str) -> Giver:
        """A relevance that came without a label has no annotator."""
        if annotator is None:
            return Giver(Source.ORIGINAL, assisted, scale, "", "")
        row = Annotator.objects.get(pk=annotator)
        name, version = row.name, row.version
        if row.kind == Annotator.Kind.PERSON:
            name, version = "people", ""  # who it was is nobody's business outside
        if row.kind == Annotator.Kind.ORIGINAL and "given_by" in row.config:
            name, version = str(row.config.get("annotator", name)), str(row.config.get("version", version))
        return Giver(source_of(row.kind, row.config, assisted, told), assisted, scale, name, version)


def _add_overruled(benchmark: Benchmark, columns: _Columns, givers: _Givers) -> None:
    """The agents' last label before the publication, where the benchmark has people's."""
    published = BenchmarkLabel.objects.filter(benchmark=benchmark)
    agents = [
        row.pk
        for row in Annotator.objects.filter(pk__in=published.values("label__annotator").distinct())
        if source_of(row.kind, row.config, assisted=False) is Source.AGENT
    ]
    overruled = published.exclude(label__annotator__in=agents).values("pair")
    labels = Label.objects.filter(
        pair__in=overruled, annotator__in=agents, created_at__lte=benchmark.published_at
    )
    last: dict[tuple[int, int], tuple[int | None, Giver]] = {}
    told = ("pair__query_id", "pair__snippet_id", "value", "annotator_id", "assisted", "scale", "source")
    for query, snippet, value, *given in labels.order_by("pk").values_list(*told):
        last[query, snippet] = value, givers.of(*given)
    for (query, snippet), (value, giver) in last.items():
        if value is not None:
            columns.add(query, snippet, float(value), giver)


class TextStore:
    """Texts as JSON in a temporary file, to be had again by their place: memory holds 12 bytes each."""

    def __init__(self) -> None:
        self.file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed by the context
        self.ends = array("q", [0])

    def __enter__(self) -> TextStore:
        return self

    def __exit__(self, *error: object) -> None:
        self.file.close()

    def add(self, text: str) -> bytes:
        """Keep the next text; returns it as JSON, in ASCII, so that it can be read in any locale."""
        written = json.dumps(text).encode()
        self.file.write(written)
        self.ends.append(self.ends[-1] + len(written))
        return written

    def done(self) -> None:
        self.file.flush()

    def get(self, place: int) -> bytes:
        return os.pread(self.file.fileno(), self.ends[place + 1] - self.ends[place], self.ends[place])


Tick = Callable[[int, int], None]
"""Called with records written and how many there will be."""
Manifest = Mapping[str, Any]
