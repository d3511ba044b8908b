"""Measures by their written names: `ndcg@10`, `map`, `recall@100` …"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import TypeAlias

from retrieval.metrics import binary, codesearchnet, graded
from retrieval.metrics.ranking import Ranking

Score: TypeAlias = Callable[[Ranking], float | None]


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of one query, with the name that it was asked for by."""

    name: str
    score: Score


class UnknownMeasure(ValueError):
    """There is no measure of that name; the message lists those that there are."""


class _Cut(Enum):
    """Whether a name goes with `@k`."""

    REQUIRED = "@k"
    OPTIONAL = "[@k]"
    NONE = ""


@dataclass(frozen=True, slots=True)
class _Family:
    cut: _Cut
    score: Callable[[Ranking, int | None], float | None]


def measure(name: str) -> Measure:
    """The measure that a name such as `ndcg@10` stands for. Raises `UnknownMeasure`."""
    written = re.fullmatch(r"([a-z_]+)(?:@([1-9][0-9]{0,6}))?", name)
    family = FAMILIES.get(written[1]) if written else None
    if written is None or family is None:
        raise UnknownMeasure(f"there is no metric {name!r}; there are {described()}")
    if (written[2] is None and family.cut is _Cut.REQUIRED) or (written[2] and family.cut is _Cut.NONE):
        raise UnknownMeasure(f"metric {name!r}: write {written[1]}{family.cut.value}, k a number from 1 on")
    k = int(written[2]) if written[2] else None
    return Measure(name, partial(_scored, family, k))


def measures(names: Iterable[str]) -> list[Measure]:
    """The measures of several names, each once. Raises `UnknownMeasure`, for an empty list too."""
    found = [measure(name) for name in dict.fromkeys(name.strip() for name in names)]
    if not found:
        raise UnknownMeasure(f"no metric is named; there are {described()}")
    return found


def described() -> str:
    """The names in one line, with `@k` where they take a cut-off."""
    return ", ".join(f"{name}{family.cut.value}" for name, family in FAMILIES.items())


def _scored(family: _Family, k: int | None, ranking: Ranking) -> float | None:
    return family.score(ranking, k)


def _of_hits(cut: _Cut, function: Callable[[Sequence[bool], int, int], float | None]) -> _Family:
    return _Family(cut, lambda ranking, k: function(ranking.hits, ranking.positives, k or _ALL))


def _of_grades(gain: graded.Gain) -> _Family:
    return _Family(
        _Cut.OPTIONAL, lambda ranking, k: graded.ndcg_graded(ranking.found, ranking.judged, k, gain)
    )


_ALL = sys.maxsize
"""A cut-off that cuts nothing off."""

FAMILIES: Mapping[str, _Family] = {
    "ndcg": _of_grades(graded.exponential),
    "ndcg_linear": _of_grades(graded.linear),
    "ndcg_within": _Family(
        _Cut.NONE, lambda ranking, k: codesearchnet.ndcg_within(ranking.found, ranking.judged)
    ),
    "ndcg_all": _Family(_Cut.NONE, lambda ranking, k: codesearchnet.ndcg_all(ranking.found, ranking.judged)),
    "mrr": _of_hits(_Cut.OPTIONAL, binary.reciprocal_rank),
    "mmrr": _Family(
        _Cut.OPTIONAL,
        lambda ranking, k: binary.multi_choice_reciprocal_rank(
            ranking.hits, ranking.positives, k or binary.MMRR_CUT
        ),
    ),
    "map": _of_hits(_Cut.OPTIONAL, binary.average_precision),
    "map_reachable": _of_hits(_Cut.REQUIRED, binary.average_precision_of_reachable),
    "recall": _of_hits(_Cut.OPTIONAL, binary.recall),
    "precision": _of_hits(_Cut.REQUIRED, binary.precision),
    "success": _of_hits(_Cut.REQUIRED, binary.success),
}
