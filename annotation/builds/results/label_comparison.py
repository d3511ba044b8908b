"""Two labels of each pair beside each other: what every comparison of two label sets is made of.

Whoever compares hands in the pairs that both sides labelled, as rows of a query. Pairs of one query are not
independent, so every interval resamples whole queries, as figures of studies do. Where a side has no label
there is no flip: "could not judge" is never "no match".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast

import numpy as np
from django.core.cache import cache
from django.db.models import Count, Q, QuerySet

from annotation.stats.agreement.flips import Figures, figures_of
from retrieval.metrics.resampling import FEW
from retrieval.models import Text

MOST_QUERIES: Final = 20
KEPT_SECONDS: Final = 3600
MOST_RARE: Final = 2000
"""A cell with as many pairs is rare: its pairs are kept one by one."""
Cell: TypeAlias = tuple[int | None, int | None]
"""What the first said of a pair, and what the second; None stands for no label."""
JUDGED: Final = ((1, 1), (1, 0), (0, 1), (0, 0))
"""The cells of pairs with a label of both, in the order of a query's counts."""
QueryCounts: TypeAlias = tuple[int, int, int, int, int]
"""A query (its id) with its pairs in each cell of `JUDGED`."""


@dataclass(frozen=True, slots=True)
class CommonPairs:
    """The pairs that both sides labelled, as rows; `query` names the id of their query, and `first` and
    `second` what makes a row a match by either side.
    """

    rows: QuerySet[Any]
    query: str
    first: Q
    second: Q

    def count_by_query(self) -> list[QueryCounts]:
        """Each query with its pairs by what both said. One query of the database."""
        one, other = self.first, self.second
        counted = {
            "both": Count("pk", filter=one & other),
            "to_no_match": Count("pk", filter=one & ~other),
            "to_match": Count("pk", filter=~one & other),
            "neither": Count("pk", filter=~one & ~other),
        }
        rows = self.rows.order_by(self.query).values(self.query).annotate(**counted)
        return list(rows.values_list(self.query, *counted))

    def differing(self) -> QuerySet[Any]:
        """The rows to which both gave another label."""
        return self.rows.filter((self.first & ~self.second) | (~self.first & self.second))


@dataclass(frozen=True, slots=True)
class FlippedQuery:
    """A query (its id) with flips: to match, to no match, and its pairs with a label of both."""

    query: int
    to_match: int
    to_no_match: int
    pairs: int

    @property
    def flips(self) -> int:
        return self.to_match + self.to_no_match

    @property
    def alike(self) -> bool:
        """Whether all its pairs moved one way: then the counts tell each label."""
        return self.pairs in {self.to_match, self.to_no_match}


@dataclass(frozen=True, slots=True)
class LabelComparison:
    """`cells` counts pairs by their two labels; `queries` have pairs that both labelled, some of them flips.

    `worst` are the queries with the most flips, the worst first.
    """

    cells: Mapping[Cell, int]
    queries: int
    flipped_queries: int
    worst: tuple[FlippedQuery, ...]
    figures: Figures

    def count(self, first: int | None, second: int | None) -> int | None:
        """Pairs with these two labels; None where nobody counts them."""
        return self.cells.get((first, second))

    @property
    def pairs(self) -> int:
        return sum(self.cells.values())

    @property
    def judged(self) -> int:
        """Pairs that have a label on both sides."""
        return sum(self.cells[cell] for cell in JUDGED)

    @property
    def flips(self) -> int:
        return self.cells[0, 1] + self.cells[1, 0]

    @property
    def told_queries(self) -> list[int]:
        """The queries (ids) among the worst whose counts tell each label."""
        return [row.query for row in self.worst if row.alike]

    @property
    def few_queries(self) -> bool:
        return self.queries < FEW


def compare_labels(rows: Sequence[QueryCounts]) -> dict[str, Any]:
    """The fields of a `LabelComparison` of the pairs with a label of both."""
    counts = np.array([row[1:] for row in rows], dtype=np.int64).reshape(-1, 4)
    flipped = [FlippedQuery(row[0], row[3], row[2], sum(row[1:])) for row in rows if row[2] + row[3]]
    return {
        "cells": dict(zip(JUDGED, map(int, counts.sum(axis=0)), strict=True)),
        "queries": len(rows),
        "flipped_queries": len(flipped),
        "worst": tuple(sorted(flipped, key=lambda row: (-row.flips, row.query))[:MOST_QUERIES]),
        "figures": figures_of(counts),
    }


def keep_few(key: str, ids: QuerySet[Any, Any]) -> tuple[int, ...] | None:
    """The ids, kept by this key; None where they are more than `MOST_RARE`."""

    def read() -> tuple[tuple[int, ...] | None]:
        found = tuple(ids[: MOST_RARE + 1])
        return (found if len(found) <= MOST_RARE else None,)

    return cast("tuple[tuple[int, ...] | None]", cache.get_or_set(key, read, KEPT_SECONDS))[0]


def load_query_texts(worst: Iterable[FlippedQuery]) -> list[tuple[Text, FlippedQuery]]:
    """The queries with their texts. One query."""
    rows = list(worst)
    texts = Text.objects.with_bodies().in_bulk([row.query for row in rows])
    return [(texts[row.query], row) for row in rows]
