"""Which columns of a file hold what of a pair, by what they are often called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from retrieval.given_pairs.storage import NoPairs
from retrieval.sources import Problem
from retrieval.sources.formats.table import USUAL, Columns, peek_table_file
from retrieval.sources.readers.parquet import read_any_records
from retrieval.sources.readers.records import JSON_LINES, kind_of


@dataclass(frozen=True, slots=True)
class PairColumns:
    """The columns of a file of pairs; empty where it has none."""

    query: str
    snippet: str
    query_id: str
    snippet_id: str
    label: str

    @property
    def has_texts(self) -> bool:
        return bool(self.query and self.snippet)

    @property
    def names_members(self) -> bool:
        """Whether each side is told by an id or a text."""
        return bool((self.query or self.query_id) and (self.snippet or self.snippet_id))

    def as_table(self) -> Columns:
        """For a file of texts."""
        return Columns(
            self.query, self.snippet, self.label, self.query_id, self.snippet_id, may_lack_label=True
        )


def columns_of(path: Path) -> PairColumns:
    """What the first records have. Raises NoPairs where there is none, or the file can't be read."""
    seen = peek_table_file(path)
    if isinstance(seen, Problem):
        raise NoPairs(f"{path.name}: {seen.message}.", [seen])
    plain = {plain_name(name): name for name in reversed(seen.columns)}
    if not plain.keys() & set(USUAL["label"]) and kind_of(path) in (*JSON_LINES, ".json"):
        plain |= {plain_name(name): name for name in later_label(path)}
    taken = set[str]()

    def find(role: str) -> str:
        found = next((plain[name] for name in USUAL[role] if plain.get(name, "") not in {"", *taken}), "")
        taken.add(found)
        return found

    return PairColumns(
        **{role: find(role) for role in ("query", "snippet", "query_id", "snippet_id", "label")}
    )


def later_label(path: Path) -> list[str]:
    """The column of labels of a file of JSON whose first records are unjudged and lack it; none mostly."""
    records = (row[1] for row in read_any_records(path) if not isinstance(row, Problem))
    names = (name for record in records for name in record if plain_name(name) in USUAL["label"])
    return list(islice(names, 1))


def plain_name(name: str) -> str:
    """A column's name without case, blanks and hyphens."""
    return re.sub(r"[^a-z]", "", name.lower())
