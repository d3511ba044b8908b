"""Rows that name members of two collections, by their ids or by their texts → ids of texts and a label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from retrieval.models import Collection
from retrieval.models.blobs import digest_of
from retrieval.models.texts import canonicalize_text
from retrieval.sources import GRADES, Problem
from retrieval.sources.readers.parquet import read_any_records
from retrieval.sources.readers.records import (
    Object,
    Refused,
    name_of_record,
    text_of_record,
    whole_number,
)
from retrieval.texts.hostile import mark_hostile_characters

ROWS_A_READ: Final = 1000
NAMES_A_READ: Final = 500


class GivenPairRow(NamedTuple):
    """A pair as ids of texts, and the label that it came with; None: it came without."""

    query: int
    snippet: int
    label: int | None


@dataclass(frozen=True, slots=True)
class MemberColumn:
    """What a column of names or of texts means: members of this collection."""

    members: Collection
    text: str
    name: str

    def key(self, record: Object) -> str:
        """What tells the member: the hash of its text, or its id. Raises Refused."""
        if self.text:
            return digest_of(canonicalize_text(text_of_record(record, [self.text])))
        found = mark_hostile_characters(name_of_record(record, [self.name], "")).strip()
        if not found:
            raise Refused(f'"{self.name}" must be an id of {self.members}')
        return found

    def known(self, keys: Sequence[str]) -> dict[str, set[int]]:
        """The texts' ids of the members that are told so."""
        column = "text__body" if self.text else "source_id"
        found: dict[str, set[int]] = {}
        for start in range(0, len(keys), NAMES_A_READ):
            wanted = {f"{column}__in": keys[start : start + NAMES_A_READ]}
            rows = self.members.members.filter(**wanted).order_by()
            for key, text in rows.values_list(column, "text_id"):
                found.setdefault(str(key), set()).add(text)
            if not self.text:
                for name, text in self.members.aliases.filter(**wanted).values_list("source_id", "text_id"):
                    found.setdefault(name, set()).add(text)
        return found

    def told(self, record: Object) -> str:
        """The member as the row tells it, for people."""
        return repr(str(record[self.text or self.name])[:40])


@dataclass(frozen=True, slots=True)
class Named:
    """The rows of a file about members."""

    path: Path
    query: MemberColumn
    snippet: MemberColumn
    label: str

    def rows(self) -> Iterator[GivenPairRow | Problem]:
        """Each row's pair, or why it is none."""
        whole = read_any_records(self.path)
        while some := list(islice(whole, ROWS_A_READ)):
            yield from self._resolved(some)

    def _resolved(self, some: Sequence[tuple[int, Object] | Problem]) -> Iterator[GivenPairRow | Problem]:
        read = [one if isinstance(one, Problem) else self._keyed(*one) for one in some]
        good = [one for one in read if not isinstance(one, Problem)]
        asked = self.query.known(sorted({one.query for one in good}))
        code = self.snippet.known(sorted({one.snippet for one in good}))
        for one in read:
            yield one if isinstance(one, Problem) else self._row(one, asked, code)

    def _keyed(self, number: int, record: Object) -> _Keyed | Problem:
        try:
            label = parse_pair_label(record, self.label)
            return _Keyed(number, record, self.query.key(record), self.snippet.key(record), label)
        except Refused as refused:
            return Problem(str(self.path), number, str(refused))

    def _row(
        self, one: _Keyed, asked: Mapping[str, set[int]], code: Mapping[str, set[int]]
    ) -> GivenPairRow | Problem:
        query, snippet = asked.get(one.query, set()), code.get(one.snippet, set())
        for side, found in ((self.query, query), (self.snippet, snippet)):
            if len(found) != 1:
                what = "several members" if found else "no member"
                message = f"{side.members} has {what} called {side.told(one.record)}"
                return Problem(str(self.path), one.number, message)
        return GivenPairRow(min(query), min(snippet), one.label)


class _Keyed(NamedTuple):
    number: int
    record: Object
    query: str
    snippet: str
    label: int | None


def parse_pair_label(record: Object, column: str) -> int | None:
    """0 or 1; None where there is no column, or nothing in it. Raises Refused."""
    if not column or record.get(column) is None or not str(record[column]).strip():
        return None
    return whole_number(record[column], GRADES["binary"], f'"{column}"')
