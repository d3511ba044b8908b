"""Which columns of a file hold what of a pair, by what they are often called."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from retrieval.given_pairs.storage import NoPairs
from retrieval.sources import Problem
from retrieval.sources.formats.table import USUAL, Columns, peek_table_file


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
    plain = {re.sub(r"[^a-z]", "", name.lower()): name for name in reversed(seen.columns)}
    taken = set[str]()

    def find(role: str) -> str:
        found = next((plain[name] for name in USUAL[role] if plain.get(name, "") not in {"", *taken}), "")
        taken.add(found)
        return found

    return PairColumns(
        **{role: find(role) for role in ("query", "snippet", "query_id", "snippet_id", "label")}
    )
