"""Labels under ids: of a benchmark that goes by ids, what each id of a text that has several is judged by.

A source's labels count for the ids that it names. A label that was given to the text (by agents, people, or
a file without ids) counts for all ids of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Final, NamedTuple, TypeAlias

from django.db.models import QuerySet

from retrieval.models import Benchmark, BenchmarkIdLabel, BenchmarkLabel, Collection, Label, LabelIds

ROWS_A_READ: Final = 2000
PAIRS_A_READ: Final = 500
OWN: Final = 0
"""Stands for a member's own id, where aliases have their numbers."""

Relevances: TypeAlias = dict[tuple[int, int], float]
"""By the numbers of two ids, of query and snippet, what is said of them."""


@dataclass(frozen=True)
class Side:
    """The first `count` aliases of a collection: the ids of their texts, in their order."""

    collection: Collection
    texts: Sequence[int]

    @classmethod
    def of(cls, collection: Collection, count: int | None = None) -> Side:
        """All of them where no `count` says how many."""
        rows = collection.aliases.order_by("number")
        if count is not None:
            rows = rows.filter(number__lte=count)
        return cls(collection, list(rows.values_list("text_id", flat=True).iterator(ROWS_A_READ)))

    @cached_property
    def numbers(self) -> dict[int, list[int]]:
        """By text the numbers of its aliases, ascending."""
        found = defaultdict[int, list[int]](list)
        for number, text in enumerate(self.texts, 1):
            found[text].append(number)
        return dict(found)

    @cached_property
    def named(self) -> dict[tuple[str, int], int]:
        """By id and text the number."""
        rows = self.collection.aliases.filter(number__lte=len(self.texts))
        return {
            (name, text): number for name, text, number in rows.values_list("source_id", "text", "number")
        }

    def ids_of(self, text: int) -> list[int]:
        """The numbers of all ids of a text."""
        return [OWN, *self.numbers.get(text, ())]

    def meant(self, name: str, text: int) -> list[int]:
        """The numbers of the ids that a label names: one, or all where it names none."""
        return [self.named.get((name, text), OWN)] if name else self.ids_of(text)


class TextPair(NamedTuple):
    """A pair as a benchmark is to hold it: ids of texts and pair, relevance, and the label that said it."""

    query: int
    snippet: int
    pair: int
    relevance: float
    label: int | None


def judge_ids(
    pairs: Iterable[TextPair],
    queries: Side,
    snippets: Side,
    said: QuerySet[Label] | None,
    before: Benchmark | None,
) -> Iterator[tuple[TextPair, Relevances]]:
    """Yield each pair with what its ids are judged by: by `said` labels of a source, by the version `before`
    where that has the same label, else all by the pair's own.
    """
    wanted = list(pairs)
    for start in range(0, len(wanted), PAIRS_A_READ):
        some = wanted[start : start + PAIRS_A_READ]
        known = _kept(some, before) if before else {}
        known |= _said(some, queries, snippets, said) if said is not None else {}
        for pair in some:
            every = product(queries.ids_of(pair.query), snippets.ids_of(pair.snippet))
            yield pair, known.get(pair.pair) or dict.fromkeys(every, pair.relevance)


def _said(
    pairs: Sequence[TextPair], queries: Side, snippets: Side, said: QuerySet[Label]
) -> dict[int, Relevances]:
    """By pair what labels say of its ids; the last one of two ids counts."""
    texts = {pair.pair: pair for pair in pairs if pair.label is not None}
    labels = said.filter(pair__in=texts).exclude(value=None).order_by("pk")
    found = defaultdict[int, Relevances](dict)
    rows = list(labels.values_list("pk", "pair_id", "value"))
    named = _ids_of_labels([pk for pk, _, _ in rows])
    for pk, pair, value in rows:
        of = texts[pair]
        for query, snippet, relevance in named.get(pk, ()):
            ids = product(queries.meant(query, of.query), snippets.meant(snippet, of.snippet))
            found[pair].update(dict.fromkeys(ids, float(relevance)))
        if pk not in named:
            found[pair][OWN, OWN] = float(value or 0)
    return dict(found)


def _ids_of_labels(labels: Sequence[int]) -> dict[int, list[tuple[str, str, int]]]:
    found = defaultdict[int, list[tuple[str, str, int]]](list)
    rows = LabelIds.objects.filter(label__in=labels).order_by("pk")
    columns = ("label_id", "query_source_id", "snippet_source_id", "value")
    for label, query, snippet, value in rows.values_list(*columns):
        found[label].append((query, snippet, value))
    return dict(found)


def _kept(pairs: Sequence[TextPair], before: Benchmark) -> dict[int, Relevances]:
    """By pair what the version before says of its ids, where the pair's label is still the same."""
    wanted = {pair.pair: (pair.label, pair.relevance) for pair in pairs}
    rows = BenchmarkLabel.objects.filter(benchmark=before, pair__in=wanted)
    same = {
        pair
        for pair, *told in rows.values_list("pair_id", "label_id", "relevance")
        if tuple(told) == wanted[pair]
    }
    return dict(load_id_labels(before, same))


def load_id_labels(benchmark: Benchmark, pairs: Iterable[int] | None = None) -> dict[int, Relevances]:
    """By pair what a benchmark says of its ids."""
    found = defaultdict[int, Relevances](dict)
    rows = BenchmarkIdLabel.objects.filter(benchmark=benchmark).order_by()
    if pairs is not None:
        rows = rows.filter(pair__in=list(pairs))
    columns = ("pair_id", "query_alias", "snippet_alias", "relevance")
    for pair, query, snippet, relevance in rows.values_list(*columns).iterator(ROWS_A_READ):
        found[pair][query, snippet] = relevance
    return dict(found)
