"""Labelled pairs of an export, and who gave each label: by the merge rule, people, or the agents."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from retrieval.evaluation.merge_rule import agents_told
from retrieval.models import Annotator, Basis, Benchmark, BenchmarkLabel, Label, Source, label_source_of
from retrieval.models.labels import ADJUDICATED

ROWS_A_READ: Final = 2000
GIVEN: Final = ("annotator_id", "assisted", "scale", "source", "basis")
"""The columns of a label that say who gave it, and how."""
Ids = npt.NDArray[np.int64]


class LabelChoice(StrEnum):
    """Whose labels are written."""

    FINAL = "final"
    """What the benchmark publishes, by its merge rule."""
    EXPERTS = "experts"
    """Those published labels that people gave: in blind studies, or by agreeing reviews."""
    AGENTS = "agents"
    """What the agents said when the benchmark was published, also where people were believed."""


WANTED: Final[Mapping[LabelChoice, frozenset[Source]]] = {
    LabelChoice.FINAL: frozenset(Source),
    LabelChoice.EXPERTS: frozenset({Source.STUDY, Source.ADJUDICATED, Source.ACCEPTED, Source.REVIEWS}),
    LabelChoice.AGENTS: frozenset({Source.AGENT}),
}


@dataclass(frozen=True, slots=True)
class Giver:
    """Who gave a label, and how."""

    source: Source
    assisted: bool
    scale: str
    name: str
    version: str
    basis: str
    """How it came about; empty where nobody knows."""

    def as_json(self) -> dict[str, Any]:
        return {
            "source": self.source.value,
            "assisted": self.assisted,
            "scale": self.scale,
            "annotator": self.name,
            "version": self.version,
            "basis": self.basis,
        }


@dataclass(frozen=True, slots=True)
class Pairs:
    """Labelled pairs by query, then snippet; both as positions. `givers` are places in `known`."""

    queries: Ids
    snippets: Ids
    relevances: npt.NDArray[np.float64]
    givers: Ids
    known: Sequence[Giver]

    def __len__(self) -> int:
        return len(self.queries)

    def rows(self) -> Iterator[tuple[int, int, float, int]]:
        """Yield (query, snippet, relevance, giver) of each pair."""
        for start in range(0, len(self), ROWS_A_READ):
            part = slice(start, start + ROWS_A_READ)
            columns = (self.queries, self.snippets, self.relevances, self.givers)
            yield from zip(*(column[part].tolist() for column in columns), strict=True)

    def kept(self, mask: npt.NDArray[np.bool_]) -> Pairs:
        return Pairs(
            self.queries[mask], self.snippets[mask], self.relevances[mask], self.givers[mask], self.known
        )

    @property
    def fractions(self) -> npt.NDArray[np.bool_]:
        """Which relevances are no whole numbers, as means are."""
        odd: npt.NDArray[np.bool_] = self.relevances != np.rint(self.relevances)
        return odd

    def rounded(self) -> Pairs:
        """With the nearest whole numbers as relevances; halves go up."""
        whole = np.floor(self.relevances + 0.5)
        return Pairs(self.queries, self.snippets, whole, self.givers, self.known)

    def by_source(self) -> dict[str, int]:
        """How many pairs each source gives a label."""
        return self._counted(lambda giver: giver.source.value)

    def by_basis(self) -> dict[str, int]:
        """How many labels came about in each way, as `Basis` has them; last those of which nobody knows."""
        found = self._counted(lambda giver: giver.basis)
        return {basis: found[basis] for basis in (*Basis.values, "") if basis in found}

    def _counted(self, named: Callable[[Giver], str]) -> dict[str, int]:
        counts = np.bincount(self.givers, minlength=len(self.known))
        found = Counter[str]()
        for giver, count in zip(self.known, counts.tolist(), strict=True):
            found[named(giver)] += count
        return {name: count for name, count in found.items() if count}


@dataclass(frozen=True, slots=True)
class Places:
    """Positions of texts by their ids."""

    order: Ids
    ids: Ids

    @classmethod
    def of(cls, ids: Ids) -> Places:
        order = np.argsort(ids)
        return cls(order, ids[order])

    def many(self, texts: Ids) -> Ids:
        """-1 where a text is no member."""
        if not len(self.ids):
            return np.full(len(texts), -1, dtype=np.int64)
        found = np.minimum(np.searchsorted(self.ids, texts), len(self.ids) - 1)
        return np.where(self.ids[found] == texts, self.order[found], -1)


@dataclass
class _Columns:
    """Labels as they are read."""

    queries: array[int] = field(default_factory=lambda: array("q"))
    snippets: array[int] = field(default_factory=lambda: array("q"))
    relevances: array[float] = field(default_factory=lambda: array("d"))
    givers: array[int] = field(default_factory=lambda: array("q"))
    known: dict[Giver, int] = field(default_factory=dict)

    def add(self, query: int, snippet: int, relevance: float, giver: Giver) -> None:
        self.queries.append(query)
        self.snippets.append(snippet)
        self.relevances.append(relevance)
        self.givers.append(self.known.setdefault(giver, len(self.known)))

    def pairs(self, query_of: Places, snippet_of: Places) -> Pairs:
        asked = query_of.many(np.asarray(self.queries, dtype=np.int64))
        code = snippet_of.many(np.asarray(self.snippets, dtype=np.int64))
        order = np.lexsort((code, asked))
        relevances, givers = (
            np.asarray(self.relevances)[order],
            np.asarray(self.givers, dtype=np.int64)[order],
        )
        return Pairs(asked[order], code[order], relevances, givers, list(self.known))


def load_labelled_pairs(
    benchmark: Benchmark, choice: LabelChoice, query_of: Places, snippet_of: Places
) -> Pairs:
    columns, givers = _Columns(), _Givers()
    told = ("pair__query_id", "pair__snippet_id", "relevance")
    label = tuple(f"label__{column}" for column in GIVEN)
    rows = BenchmarkLabel.objects.filter(benchmark=benchmark).order_by().values_list(*told, *label)
    for query, snippet, relevance, *given in rows.iterator(ROWS_A_READ):
        giver = givers.of(*given)
        if giver.source in WANTED[choice]:
            columns.add(query, snippet, relevance, giver)
    if choice is LabelChoice.AGENTS:
        _add_overruled(benchmark, columns, givers)
    return columns.pairs(query_of, snippet_of)


class _Givers:
    """Annotators are read once."""

    def __init__(self) -> None:
        self.known: dict[tuple[int | None, bool, str, str, str], Giver] = {}

    def of(
        self,
        annotator: int | None,
        assisted: bool | None,
        scale: str | None,
        told: str | None,
        basis: str | None,
    ) -> Giver:
        """What the columns GIVEN of a label tell; they are None where there is none."""
        decided = ADJUDICATED if (told or "").endswith(ADJUDICATED) else ""
        key = (annotator, bool(assisted), scale or "", decided, basis or "")
        if key not in self.known:
            self.known[key] = self.looked_up(*key)
        return self.known[key]

    def looked_up(self, annotator: int | None, assisted: bool, scale: str, told: str, basis: str) -> Giver:
        """A relevance that came without a label has no annotator."""
        if annotator is None:
            return Giver(Source.ORIGINAL, assisted, scale, "", "", "")
        row = Annotator.objects.get(pk=annotator)
        name, version = row.name, row.version
        if row.kind == Annotator.Kind.PERSON:
            name, version = "people", ""  # who it was is nobody's business outside
        if row.kind == Annotator.Kind.ORIGINAL and "given_by" in row.config:
            name, version = str(row.config.get("annotator", name)), str(row.config.get("version", version))
        source = label_source_of(row.kind, row.config, assisted, told)
        return Giver(source, assisted, scale, name, version, basis)


def _add_overruled(benchmark: Benchmark, columns: _Columns, givers: _Givers) -> None:
    """The agents' last label before the publication, where the benchmark has people's."""
    published = BenchmarkLabel.objects.filter(benchmark=benchmark)
    agents = _agents_of(benchmark)
    overruled = published.exclude(label__annotator__in=agents).values("pair")
    labels = Label.objects.filter(
        pair__in=overruled, annotator__in=agents, created_at__lte=benchmark.published_at
    )
    last: dict[tuple[int, int], tuple[int | None, Giver]] = {}
    told = ("pair__query_id", "pair__snippet_id", "value", *GIVEN)
    for query, snippet, value, *given in labels.order_by("pk").values_list(*told):
        last[query, snippet] = value, givers.of(*given)
    for (query, snippet), (value, giver) in last.items():
        if value is not None:
            columns.add(query, snippet, float(value), giver)


def _agents_of(benchmark: Benchmark) -> list[int]:
    """The agents whose labels it publishes or whom its merge rule names, as people may have been believed for
    all that they said. Where there are none, those who judged the pairs for which people were believed.
    """
    published = BenchmarkLabel.objects.filter(benchmark=benchmark)
    givers = list(Annotator.objects.filter(pk__in=published.values("label__annotator").distinct()))
    people = [row.pk for row in givers if _source_of(row) in WANTED[LabelChoice.EXPERTS]]
    believed = published.filter(label__annotator__in=people).values("pair")
    judged = Label.objects.filter(pair__in=believed, created_at__lte=benchmark.published_at)
    others = Annotator.objects.filter(pk__in=judged.values("annotator").distinct())
    agents = [row for row in {*givers, *others} if _source_of(row) is Source.AGENT]
    known = [row.pk for row in agents if row in givers or agents_told(row) in benchmark.merge_rule]
    return known or [row.pk for row in agents]


def _source_of(giver: Annotator) -> Source:
    return label_source_of(giver.kind, giver.config, assisted=False)
