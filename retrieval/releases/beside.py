"""Rows of a side file in step with the records that they tell more of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final, NamedTuple

from retrieval.sources.readers.records import Object

LOOKED_AHEAD: Final = 1000


class SideRow(NamedTuple):
    """A record of a side file: its place in the file, the number that it tells of, and all that it has."""

    record: int
    number: int
    told: Object


NOTHING: Final = SideRow(0, 0, {})


class Beside:
    """The rows of a side file by their keys, taken in about the order of the file.

    A record may have no row, and a row no record: up to `LOOKED_AHEAD` rows are skipped to find the one that
    is asked for. The last `LOOKED_AHEAD` skipped rows can still be taken. `passed` is called with each row
    that no record took.
    """

    def __init__(self, rows: Iterable[tuple[str, SideRow]], passed: Callable[[SideRow], None]) -> None:
        self.rows, self.passed = iter(rows), passed
        self.behind, self.waiting = dict[str, SideRow](), dict[str, SideRow]()

    def of(self, key: str) -> SideRow:
        """The row of a record, NOTHING where it has none."""
        if key in self.behind:
            return self.behind.pop(key)
        if key not in self.waiting:
            self._look_for(key)
        if key not in self.waiting:
            return NOTHING
        while True:
            row = self.waiting.pop(there := next(iter(self.waiting)))
            if there == key:
                return row
            self.behind[there] = row
            if len(self.behind) > LOOKED_AHEAD:
                self.passed(self.behind.pop(next(iter(self.behind))))

    def pass_rest(self) -> None:
        """No further record comes: pass over all rows that are left."""
        for row in (*self.behind.values(), *self.waiting.values()):
            self.passed(row)
        self.behind.clear()
        self.waiting.clear()
        for _, row in self.rows:
            self.passed(row)

    def _look_for(self, key: str) -> None:
        for there, row in islice(self.rows, LOOKED_AHEAD - len(self.waiting)):
            if there in self.waiting or there in self.behind:
                self.passed(row)
            else:
                self.waiting[there] = row
            if there == key:
                return
