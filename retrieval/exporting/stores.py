"""Members and pairs as records whose texts are JSON already, for formats that write lines of JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from retrieval.exporting.content import MemberEntry, Subject, TextStore

Tick = Callable[[int], None]
TICK = 2000


@dataclass(frozen=True, slots=True)
class Written:
    """A member; `json` is its text as JSON in ASCII."""

    position: int
    number: int
    json: bytes
    entry: MemberEntry


@dataclass(frozen=True, slots=True)
class ExportPairRow:
    """A pair; `asked` and `code` are its texts as JSON, `query` its query's position, `number` the code's."""

    query: int
    query_number: int
    number: int
    asked: bytes
    code: bytes
    relevance: float
    giver: int


def fill_text_store(entries: Iterable[MemberEntry], store: TextStore, tick: Tick) -> Iterator[Written]:
    """Keep the texts of all members in `store`, and pass them on."""
    for entry in entries:
        yield Written(entry.position, entry.number, store.add(entry.text), entry)
        if not entry.position % TICK:
            tick(TICK)
    store.done()


def stored_pairs(
    subject: Subject, queries: TextStore, snippets: TextStore, tick: Tick
) -> Iterator[ExportPairRow]:
    """Yield the pairs that may be passed on, by query, then snippet."""
    asked, code = subject.query_numbers, subject.snippet_numbers
    last, text = -1, b""
    for number, (query, snippet, relevance, giver) in enumerate(subject.open_pairs.rows()):
        if query != last:
            last, text = query, queries.get(query)
        told = (int(asked[query]), int(code[snippet]), text, snippets.get(snippet))
        yield ExportPairRow(query, *told, relevance, giver)
        if not number % TICK:
            tick(TICK)
