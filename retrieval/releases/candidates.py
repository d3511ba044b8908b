"""The candidates of a release: checked before its labels are published, then stored as those of a mining."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, TypeGuard

from retrieval.exporting import provenance
from retrieval.models import Candidate, Mining, Pair, statements
from retrieval.releases.beside import SideRow
from retrieval.releases.side_files import SideFiles, is_number
from retrieval.sources.readers.lines import clip_text

BATCH: Final = 2000
COLUMNS: Final = ("mining", "pair", "query", "rank", "score", "scores")
LARGEST_RANK: Final = 2**31 - 1


class Candidates:
    """The records of candidates; `refused` are the numbers of those that can't be stored."""

    def __init__(self, sides: SideFiles) -> None:
        self.sides, self.refused = sides, set[int]()
        self.pairs, self.ranks = defaultdict[int, set[int]](set), defaultdict[int, set[int]](set)

    def check(self, asked: Mapping[int, int], code: Mapping[int, int]) -> None:
        """Refuse the records that can't be stored; `asked` and `code` have a text for each number.

        Some 200 bytes a candidate are kept meanwhile.
        """
        held = self.sides.withheld_numbers("query-idx"), self.sides.withheld_numbers("code-idx")
        for row in self._rows():
            number = row.told.get("code-idx")
            if is_number(number) and (row.number in held[0] or number in held[1]):
                continue
            if why := self._why_refused(row, asked, code):
                self.refused.add(row.record)
                self.sides.refuse(provenance.CANDIDATES, row.record, why)
        self.pairs.clear()
        self.ranks.clear()

    def store(self, mining: Mining, asked: Mapping[int, int], code: Mapping[int, int]) -> Iterator[int]:
        """Store what was not refused, and yield the number of candidates after each batch."""
        rows = (row for row in self._rows() if row.record not in self.refused)
        found = (
            (asked[row.number], code[row.told["code-idx"]], row.told["rank"], float(row.told["score"]))
            for row in rows
            if row.number in asked and row.told["code-idx"] in code  # else they are withheld
        )
        while batch := list(islice(found, BATCH)):
            store_candidates(mining, batch)
            yield len(batch)

    def _rows(self) -> Iterator[SideRow]:
        return self.sides.rows(provenance.CANDIDATES, "query-idx")

    def _why_refused(self, row: SideRow, asked: Mapping[int, int], code: Mapping[int, int]) -> str:
        """Why a record can't be stored; mostly empty."""
        number, rank, score = (row.told.get(name) for name in ("code-idx", "rank", "score"))
        if not is_number(number):
            return 'has no whole number "code-idx"'
        if row.number not in asked or number not in code:
            what = "query" if row.number not in asked else "code"
            return f"its {what} is in no file of the release, or was refused"
        if not is_number(rank) or not 0 < rank <= LARGEST_RANK:
            return f'"rank" is {clip_text(str(rank))}; expected a whole number from 1 on'
        if not is_finite(score):
            return f'"score" is {clip_text(str(score))}; expected a number'
        query, snippet = asked[row.number], code[number]
        for there, key, what in ((self.pairs, snippet, "code"), (self.ranks, rank, "rank")):
            if key in there[query]:
                return f"its query has a candidate of the same {what} further above"
        self.pairs[query].add(snippet)
        self.ranks[query].add(rank)
        return ""


def store_candidates(mining: Mining, batch: Sequence[tuple[int, int, int, float]]) -> None:
    """Store candidates as (query, snippet, rank, score), by the ids of their texts."""
    pairs = Pair.objects.keep_ids([row[:2] for row in batch])
    rows = [(mining.pk, pairs[row[:2]], row[0], *row[2:], "{}") for row in batch]
    statements.insert_all(Candidate, COLUMNS, rows)


def is_finite(value: object) -> TypeGuard[float]:
    """Whether a value is a number that a database can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that no float reaches
        return False
