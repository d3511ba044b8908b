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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import IO, Final

import numpy as np
import numpy.typing as npt
from django.db.models import OuterRef, Subquery

from retrieval.evaluation.content import query_members, snippet_members
from retrieval.evaluation.export_ids import OF_QUERIES, OF_SNIPPETS, Numbering
from retrieval.exporting.id_pairs import Axis, split_by_ids
from retrieval.exporting.labels import ROWS_A_READ, Ids, LabelChoice, Pairs, Places, load_labelled_pairs
from retrieval.exporting.withholding_policy import WITHHELD, Withhold
from retrieval.licences import LicenseStanding, classify_licence
from retrieval.models import Benchmark, Candidate, Collection, Mining
from retrieval.models.collections import MemberQuerySet

STANDINGS: Final = tuple(LicenseStanding)


class NothingToExport(ValueError):
    """No label is of the kind that was asked for; the message says which there are."""


class NoPublishedSplit(NothingToExport):
    """Queries have no part of a published split, or several; the message says how many, and what to do."""


@dataclass(frozen=True, slots=True)
class MemberEntry:
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
class Held:
    """Which queries or snippets a policy withholds, by position, and how many for what their licence says.

    `passed_on` counts those that it lets pass though a stated licence is not known to allow it.
    """

    mask: npt.NDArray[np.bool_]
    reasons: Mapping[LicenseStanding, int]
    passed_on: int

    @classmethod
    def by(cls, policy: Withhold, standings: npt.NDArray[np.uint8]) -> Held:
        """`standings`: what licences say, as places in STANDINGS."""
        mask = np.isin(standings, [STANDINGS.index(one) for one in WITHHELD[policy]])
        counts = {standing: int((standings[mask] == place).sum()) for place, standing in enumerate(STANDINGS)}
        forbidden = standings == STANDINGS.index(LicenseStanding.FORBIDDEN)
        told = {one: count for one, count in counts.items() if count}
        return cls(mask, told, int((~mask & forbidden).sum()))

    @property
    def count(self) -> int:
        return sum(self.reasons.values())


@dataclass(frozen=True, slots=True)
class Subject:
    """A benchmark that is exported: ids and numbers of its members by position, its labelled pairs, and what
    `policy` withholds of it. Where all ids are written, aliases are further members behind the others.
    """

    benchmark: Benchmark
    by_ids: bool
    query_ids: Ids
    snippet_ids: Ids
    query_numbers: Ids
    snippet_numbers: Ids
    pairs: Pairs
    policy: Withhold
    held_queries: Held
    held_snippets: Held

    def queries(self) -> Iterator[MemberEntry]:
        """All of them, also those that are withheld."""
        members = query_members(self.benchmark)
        return _entries(members, self.benchmark.queries, self.query_numbers)

    def snippets(self) -> Iterator[MemberEntry]:
        """All of them, also those that are withheld."""
        members = snippet_members(self.benchmark)
        return _entries(members, self.benchmark.snippets, self.snippet_numbers)

    @property
    def open_pairs(self) -> Pairs:
        """The pairs whose query and snippet may be passed on."""
        return self.pairs.kept(~self._withheld)

    @property
    def withheld_pairs(self) -> Pairs:
        return self.pairs.kept(self._withheld)

    @property
    def _withheld(self) -> npt.NDArray[np.bool_]:
        return self.held_queries.mask[self.pairs.queries] | self.held_snippets.mask[self.pairs.snippets]

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
        query_of = Places.of(self.query_ids[: self.benchmark.queries_until])
        snippet_of = Places.of(self.snippet_ids[: self.benchmark.snippets_until])
        read = rows.values_list(*columns).iterator(ROWS_A_READ)
        while part := list(islice(read, ROWS_A_READ)):
            queries, snippets, ranks, scores = zip(*part, strict=True)
            asked, code = query_of.many(np.array(queries)), snippet_of.many(np.array(snippets))
            for row in zip(asked.tolist(), code.tolist(), ranks, scores, strict=True):
                if row[0] >= 0 and row[1] >= 0:
                    yield row


def subject_of(
    benchmark: Benchmark,
    choice: LabelChoice = LabelChoice.FINAL,
    policy: Withhold = Withhold.NONE,
    *,
    by_ids: bool = True,
) -> Subject:
    """Read a benchmark for an export; with `by_ids` as one that goes by ids has them, else by texts.

    Raises `NothingToExport`.
    """
    by_ids = by_ids and benchmark.goes_by_ids
    counts = (benchmark.query_aliases, benchmark.snippet_aliases) if by_ids else (0, 0)
    asked, query_numbers, query_standings = _load_member_columns(
        query_members(benchmark), benchmark.queries, counts[0], OF_QUERIES
    )
    code, snippet_numbers, snippet_standings = _load_member_columns(
        snippet_members(benchmark), benchmark.snippets, counts[1], OF_SNIPPETS
    )
    places = Places.of(asked.ids[: asked.members]), Places.of(code.ids[: code.members])
    pairs = load_labelled_pairs(benchmark, choice, *places)
    if not len(pairs):
        there = ", ".join(load_labelled_pairs(benchmark, LabelChoice.FINAL, *places).by_source())
        raise NothingToExport(
            f"Benchmark {benchmark} has no label of {choice.value}; its labels are of: {there}."
        )
    if by_ids:
        pairs = split_by_ids(benchmark, choice, pairs, asked, code)
    members = asked.ids, code.ids, query_numbers, snippet_numbers
    held = Held.by(policy, query_standings), Held.by(policy, snippet_standings)
    return Subject(benchmark, by_ids, *members, pairs, policy, *held)


def _load_member_columns(
    members: MemberQuerySet, collection: Collection, aliases: int, letter: str
) -> tuple[Axis, Ids, npt.NDArray[np.uint8]]:
    """By position: ids of texts, numbers in files, and what licences say, as places in STANDINGS."""
    ids, numbering, standings = array("q"), Numbering(letter), bytearray()
    known = dict[str, int]()
    for text, source_id, licence in members.values_list("text_id", "source_id", "licence").iterator(
        ROWS_A_READ
    ):
        ids.append(text)
        numbering.add(source_id)
        if licence not in known:
            known[licence] = STANDINGS.index(classify_licence(licence))
        standings.append(known[licence])
    axis = Axis(collection, np.asarray(ids, dtype=np.int64), aliases)
    for alias in collection.aliases.filter(number__lte=aliases).order_by("number"):
        numbering.add(alias.source_id)
    told = np.frombuffer(bytes(standings), dtype=np.uint8)
    return axis, numbering.numbers(), np.concatenate([told, told[axis.own]])


def _entries(members: MemberQuerySet, collection: Collection, numbers: Ids) -> Iterator[MemberEntry]:
    columns = ("text__body__data", "text__body_id", "source_id", "origin", "licence", "rules")
    rows, position = members.values_list(*columns).iterator(ROWS_A_READ), -1
    for position, (data, *told) in enumerate(rows):
        text = zlib.decompress(data).decode()
        yield MemberEntry(position, int(numbers[position]), text, *told)
    aliases = collection.aliases.filter(number__lt=len(numbers) - position).order_by("number")
    own = members.filter(text=OuterRef("text"))
    told_of_member = {name: Subquery(own.values(name)[:1]) for name in ("origin", "licence", "rules")}
    further = aliases.annotate(**told_of_member).values_list(*columns).iterator(ROWS_A_READ)
    for place, (data, *told) in enumerate(further, position + 1):
        yield MemberEntry(place, int(numbers[place]), zlib.decompress(data).decode(), *told)


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
