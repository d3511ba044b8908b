"""Rows of a side file in step with the records that they tell more of."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

from retrieval.sources.readers.records import Object

LOOKED_AHEAD: Final = 1000


class Beside:
    """The rows of a side file by their keys, taken in the order of the file.

    A record without a row takes none, and rows whose records are refused or gone are passed over, up to
    `LOOKED_AHEAD` of them: so none of these costs those that follow it their rows.
    """

    def __init__(self, rows: Iterable[tuple[str, Object]]) -> None:
        self.rows, self.waiting = iter(rows), dict[str, Object]()

    def of(self, key: str) -> Object:
        """The row of a record, empty where it has none."""
        if key not in self.waiting:
            self._look_for(key)
        if key not in self.waiting:
            return {}
        while True:
            row = self.waiting.pop(passed := next(iter(self.waiting)))
            if passed == key:
                return row

    def _look_for(self, key: str) -> None:
        for there, row in islice(self.rows, LOOKED_AHEAD - len(self.waiting)):
            self.waiting.setdefault(there, row)
            if there == key:
                return
