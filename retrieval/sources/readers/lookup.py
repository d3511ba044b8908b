"""A map from names to texts on disk, for files whose labels name what stands in another file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from types import TracebackType

from retrieval.texts.hostile import mark_hostile_characters


class Lookup:
    """Texts of the names that are wanted, in a temporary database: memory does not grow with them.

    Use it as a context; what was not wanted is not kept. Lone surrogates, which no database takes, are marked
    as they are where texts are stored.
    """

    def __init__(self) -> None:
        self.rows = sqlite3.connect("")  # an empty name: on disk, and gone when it is closed
        self.rows.execute("CREATE TABLE wanted (name TEXT PRIMARY KEY, text TEXT) WITHOUT ROWID")

    def __enter__(self) -> Lookup:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.rows.close()

    def want(self, names: Iterable[str]) -> None:
        rows = ((mark_hostile_characters(name),) for name in names)
        self.rows.executemany("INSERT OR IGNORE INTO wanted (name) VALUES (?)", rows)

    def keep(self, name: str, text: str) -> None:
        """Remember the first text of a name that is wanted."""
        row = mark_hostile_characters(text), mark_hostile_characters(name)
        self.rows.execute("UPDATE wanted SET text = ? WHERE name = ? AND text IS NULL", row)

    def get(self, name: str) -> str | None:
        """The text of a name, None where it has not been seen."""
        row = self.rows.execute(
            "SELECT text FROM wanted WHERE name = ?", (mark_hostile_characters(name),)
        ).fetchone()
        return row[0] if row else None
