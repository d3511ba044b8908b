"""What a seeded database is to hold: how much, keys of what there is one of, and rows by the stretch."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from bench.seed.tables import VARYING, Row, model_of_label
from retrieval.models.blobs import Blob, digest_of

MODEL: Final = "bench-model"
KINDS: Final[Mapping[str, type[Blob]]] = {
    label: kind for label in VARYING if issubclass(kind := model_of_label(label), Blob)
}


@dataclass(frozen=True)
class SeedingPlan:
    """How much there is to be; `k` candidates a query, fewer for the last one.

    `reviewed` pairs have a review by each rater.
    """

    cases: int
    snippets: int
    reviewed: int = 0
    k: int = 20

    @property
    def queries(self) -> int:
        return -(-self.cases // self.k)

    def query_id(self, number: int) -> int:
        """The text's key; queries beyond the plan's come after its snippets."""
        return number if number <= self.queries else number + self.snippets

    def snippet_id(self, number: int) -> int:
        return self.queries + number

    def snippet_of(self, query: int, rank: int) -> int:
        """The number of the snippet, from 1, that a query finds at a rank."""
        return (query * 37 + rank) % self.snippets + 1


@dataclass(frozen=True)
class Keys:
    """Of the rows that there is one of."""

    build: int
    mining: int
    annotator: int
    price: int
    queries: int
    snippets: int
    model: str = MODEL


@dataclass
class Stretch:
    """Rows by table, and how they change the build's figures.

    `totals` by column, `bills` by agent and column, `durations` by path and class, `abandoned` by cause.
    """

    rows: dict[str, list[Row]] = field(default_factory=lambda: defaultdict(list))
    totals: Counter[str] = field(default_factory=Counter)
    bills: Counter[tuple[str, str]] = field(default_factory=Counter)
    durations: Counter[tuple[str, int]] = field(default_factory=Counter)
    abandoned: Counter[str] = field(default_factory=Counter)

    def count(self, other: Stretch) -> None:
        """Add what another one says of the figures."""
        self.totals += other.totals
        self.bills += other.bills
        self.durations += other.durations
        self.abandoned += other.abandoned

    def add(self, table: str, *columns: object) -> None:
        self.rows[table].append(columns)

    def blob(self, table: str, text: str) -> str:
        """Keep a wide text; gives its hash."""
        digest = digest_of(text)
        self.add(table, digest, len(text), KINDS[table].compressed(text))
        return digest


def reviews_of(plan: SeedingPlan, raters: list[tuple[int, int]]) -> Iterator[tuple[int, int, int, int]]:
    """Number, case, rater and the rater's annotator of each review; cases far apart, each by all raters."""
    number = 0
    for place in range(plan.reviewed):
        for rater in raters:
            number += 1
            yield number, place * (plan.cases // plan.reviewed) + 1, *rater
