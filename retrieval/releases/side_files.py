"""The files in `provenance/`: what a release tells beside its queries, functions and pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeGuard

from retrieval.exporting import provenance
from retrieval.releases.beside import Beside, SideRow
from retrieval.sources import Problem
from retrieval.sources.readers.records import read_record_objects
from retrieval.texts.plurals import count_noun

OF_BOTH: Final = {
    provenance.ALIASES: ("query-idx", "code-idx"),
    provenance.WITHHELD: ("query-idx", "code-idx"),
}
"""The files with records of queries and of functions, each with the number of the one that it is about."""
PASSED_OVER: Final = "is about a record that this release lacks here: it is missing, refused or out of order"


class SideFiles:
    """The side files of a folder; without a manifest of ours it has none.

    `unread` are the records that tell nothing, each once: files are read for several ends, by threads too.
    """

    def __init__(self, folder: Path, are_there: bool) -> None:
        self.folder, self.are_there = folder, are_there
        self.unread = dict[tuple[str, int], Problem]()

    def has(self, name: str) -> bool:
        return self.are_there and (self.folder / name).is_file()

    def rows(self, name: str, key: str) -> Iterator[SideRow]:
        """The records of a file with the number under `key`; none where the file is missing.

        A record of the other kind of members is passed over, where the file has both.
        """
        if not self.has(name):
            return
        for read in read_record_objects(self.folder / name):
            if isinstance(read, Problem):
                self.refuse(name, read.record, read.message)
            elif is_number(number := read[1].get(key)):
                yield SideRow(read[0], number, read[1])
            elif not any(is_number(read[1].get(other)) for other in OF_BOTH.get(name, ())):
                self.refuse(name, read[0], f'has no whole number "{key}"')

    def refuse(self, name: str, record: int, why: str, *, costs_labels: bool = True) -> None:
        """Remember why a record tells nothing; the first reason counts."""
        problem = Problem(str(self.folder / name), record, why, costs_labels)
        self.unread.setdefault((name, record), problem)

    def beside_members(self, name: str, key: str) -> Beside:
        """What a file says of members, by their numbers; those that were withheld are not here."""
        withheld = self.withheld_numbers(key)
        rows = (row for row in self.rows(name, key) if row.number not in withheld)
        return Beside(((str(row.number), row) for row in rows), self.passed_over(name))

    def beside_pairs(self, name: str) -> Beside:
        """What a file says of pairs, by the numbers of both."""
        rows = ((f"{row.number} {row.told.get('code-idx')}", row) for row in self.rows(name, "query-idx"))
        return Beside(rows, self.passed_over(name))

    def passed_over(self, name: str) -> Callable[[SideRow], None]:
        """What takes the rows of a file that no record took."""
        return lambda row: self.refuse(name, row.record, PASSED_OVER)

    def withheld_numbers(self, key: str) -> set[int]:
        """The numbers of members of which the release has origin and hash alone."""
        return {row.number for row in self.rows(provenance.WITHHELD, key)}

    def describe_withheld(self) -> str:
        """How many texts the release withholds, of which it has only origin and hash; empty if none."""
        names = (
            (provenance.WITHHELD, "query-idx", "query", "queries"),
            (provenance.WITHHELD, "code-idx", "function", "functions"),
            (provenance.WITHHELD_PAIRS, "query-idx", "labelled pair", "labelled pairs"),
        )
        counts = [(sum(1 for _ in self.rows(file, key)), one, many) for file, key, one, many in names]
        told = ", ".join(count_noun(count, one, many) for count, one, many in counts if count)
        where = f"{provenance.WITHHELD} has origins and hashes"
        return f"Missing, as the release withholds it for its licence: {told} ({where})." if told else ""


def is_number(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number, as those of queries and functions are."""
    return isinstance(value, int) and not isinstance(value, bool)
