"""By which names a run file may call the queries and snippets of a benchmark.

Its own names: source ids, the texts of queries, links and hashes of snippets. And those that our exports
write: `q` and `d` with a number in folders of BEIR and in qrels, the number alone in the other formats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection as Some
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from retrieval.evaluation.content import query_members, snippet_members
from retrieval.evaluation.export_ids import OF_QUERIES, OF_SNIPPETS, numbers_of
from retrieval.filters.queries import fold_query
from retrieval.models import Benchmark, Collection
from retrieval.models.benchmarks import query_key
from retrieval.models.texts import canonicalize_text

ROWS_A_READ: Final = 2000


@dataclass(frozen=True, slots=True)
class Names:
    """What each name means: by the names that the benchmark has itself, and by those of an export of it."""

    own: Mapping[str, int]
    exported: Mapping[str, int]
    aliases: Mapping[str, int]
    """Further ids of texts that are one query or snippet, as the benchmark does not go by ids."""
    texts: Some[str] = ()
    """Those of its own names that are texts of queries, folded."""

    def find_query(self, written: str) -> str | None:
        """The name that is written; of texts alone upper and lower case are alike. None for no query."""
        if written in self:
            return written
        folded = fold_query_case(written)
        return folded if folded in self.texts else None

    def __contains__(self, name: object) -> bool:
        return name in self.own or name in self.exported

    @property
    def example(self) -> str:
        return next(iter(self.own), "")

    def by_export(self, used: Some[str]) -> bool:
        """Whether a file that uses these names has an export's: none of them is one of ours."""
        return not any(name in self.own for name in used) and any(name in self.exported for name in used)

    def meant(self, used: Some[str]) -> Mapping[str, int]:
        """What the names of one file mean: a number may be one member's id and another's in an export."""
        return self.exported if self.by_export(used) else self.own


def query_names(benchmark: Benchmark) -> Names:
    """Keys of queries by source id, and by text with upper and lower case alike. Ids go before texts."""
    rows = query_members(benchmark).select_related("text__body")
    texts, ids = dict[str, int](), list[tuple[str, int]]()
    for row in rows.iterator(ROWS_A_READ):
        texts.setdefault(fold_query_case(row.text.text), row.text_id)
        ids.append((row.source_id, row.text_id))
    further = [(name, number, text) for name, number, text in _aliases(benchmark.queries)]
    own = [
        (name, query_key(text, number)) for name, number, text in further if number <= benchmark.query_aliases
    ]
    members = {text for _, text in ids}
    by_text = [] if benchmark.goes_by_ids else [(name, text) for name, _, text in further if text in members]
    named = _unambiguous([*ids, *own, *by_text])
    other = {text: query for text, query in texts.items() if text not in named}
    aliases = {name: text for name, text in by_text if name in named}
    return Names(named | other, _exported(OF_QUERIES, [*ids, *own]), aliases, other)


def snippet_names(benchmark: Benchmark) -> Names:
    """Places by source id, by the link that is the origin, and by the sha256 of the text."""
    rows = snippet_members(benchmark).values_list("source_id", "origin", "text__body_id", "text_id")
    ids, links, digests = list[tuple[str, int]](), list[tuple[str, int]](), dict[str, int]()
    place_of = dict[int, int]()
    for place, (source_id, origin, digest, text) in enumerate(rows.iterator(ROWS_A_READ)):
        ids.append((source_id, place))
        if "://" in origin:
            links.append((origin, place))
        digests[digest], place_of[text] = place, place
    further, count = _aliases(benchmark.snippets), benchmark.snippet_aliases
    own = [(name, len(place_of) + number - 1) for name, number, _ in further if number <= count]
    by_text = (
        []
        if benchmark.goes_by_ids
        else [(name, place_of[text]) for name, _, text in further if text in place_of]
    )
    named = _unambiguous([*ids, *own, *by_text])
    linked = {name: place for name, place in _unambiguous(links).items() if name not in named}
    aliases = {name: place for name, place in by_text if name in named}
    return Names(named | linked | digests, _exported(OF_SNIPPETS, [*ids, *own]), aliases)


def _aliases(collection: Collection) -> list[tuple[str, int, int]]:
    """The further ids of a collection, with number and text."""
    rows = collection.aliases.order_by("number").values_list("source_id", "number", "text_id")
    return list(rows.iterator(ROWS_A_READ))


def fold_query_case(text: str) -> str:
    """A query's text as it is compared: upper and lower case alike, and every Unicode form."""
    return fold_query(canonicalize_text(text))


def _exported(letter: str, ids: Sequence[tuple[str, int]]) -> dict[str, int]:
    """What an export calls the members, with the letter and without."""
    numbers = numbers_of((source_id for source_id, _ in ids), letter)
    found = {str(number): member for number, (_, member) in zip(numbers, ids, strict=True)}
    return found | {f"{letter}{number}": member for number, member in found.items()}


def _unambiguous(names: Iterable[tuple[str, int]]) -> dict[str, int]:
    """A source id that two members share names neither of them."""
    given = list(dict.fromkeys(names))
    count = Counter(name for name, _ in given)
    return {name: number for name, number in given if name and count[name] == 1}
