"""Labelled pairs of a benchmark that goes by ids: each two ids are a pair of their own."""

from __future__ import annotations

from collections import defaultdict
from itertools import product

import numpy as np

from retrieval.evaluation.content import alias_texts
from retrieval.exporting.labels import ROWS_A_READ, Ids, LabelChoice, Pairs, Places
from retrieval.models import Benchmark, BenchmarkIdLabel, Collection

Row = tuple[int, int, float, int]
"""Positions of query and snippet, relevance, place of the giver."""


class Axis:
    """The positions of all ids of a benchmark's queries, or snippets: those of members, then of aliases.

    `own`: by an alias' number, from 0, the position of its member.
    """

    def __init__(self, collection: Collection, ids: Ids, aliases: int) -> None:
        texts = np.array(alias_texts(collection, aliases), dtype=np.int64)
        self.members, self.own = len(ids), Places.of(ids).many(texts)
        self.ids = np.concatenate([ids, texts])
        self.copies = defaultdict[int, list[int]](list)
        for number, place in enumerate(self.own.tolist()):
            self.copies[place].append(self.members + number)

    def place(self, member: int, alias: int) -> int:
        return self.members + alias - 1 if alias else member

    def every(self, member: int) -> list[int]:
        """The positions of all ids of a member's text."""
        return [member, *self.copies.get(member, ())]


def split_by_ids(benchmark: Benchmark, choice: LabelChoice, pairs: Pairs, asked: Axis, code: Axis) -> Pairs:
    """The pairs of texts as pairs of ids, by query, then snippet. What agents said is said of all ids."""
    several = np.isin(pairs.queries, asked.own) | np.isin(pairs.snippets, code.own)
    said = {} if choice is LabelChoice.AGENTS else _said(benchmark, asked, code)
    rows = list[Row]()
    for query, snippet, relevance, giver in pairs.kept(several).rows():
        every = dict.fromkeys(product(asked.every(query), code.every(snippet)), relevance)
        found = said.get((query, snippet), every)
        rows += [(*places, told, giver) for places, told in found.items()]
    others = pairs.kept(~several)
    table = np.array(rows, dtype=np.float64).reshape(len(rows), 4)
    columns = (others.queries, others.snippets, others.relevances, others.givers)
    joined = [
        np.concatenate([column, table[:, number].astype(column.dtype)])
        for number, column in enumerate(columns)
    ]
    order = np.lexsort((joined[1], joined[0]))
    queries, snippets, relevances, givers = (column[order] for column in joined)
    return Pairs(queries, snippets, relevances, givers, pairs.known)


def _said(
    benchmark: Benchmark, asked: Axis, code: Axis
) -> dict[tuple[int, int], dict[tuple[int, int], float]]:
    """By the positions of a pair's members what is said of its ids, by their positions."""
    rows = BenchmarkIdLabel.objects.filter(benchmark=benchmark).order_by("pk")
    columns = ("pair__query_id", "pair__snippet_id", "query_alias", "snippet_alias", "relevance")
    found = defaultdict[tuple[int, int], dict[tuple[int, int], float]](dict)
    query_of, snippet_of = (Places.of(axis.ids[: axis.members]) for axis in (asked, code))
    for query, snippet, of_query, of_snippet, relevance in rows.values_list(*columns).iterator(ROWS_A_READ):
        pair = int(query_of.many(np.array([query]))[0]), int(snippet_of.many(np.array([snippet]))[0])
        found[pair][asked.place(pair[0], of_query), code.place(pair[1], of_snippet)] = relevance
    return dict(found)
