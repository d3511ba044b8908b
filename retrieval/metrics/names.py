"""Measures by their written names: `ndcg@10`, `map`, `recall@100` …"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import TypeAlias

from retrieval.metrics import binary, codesearchnet, distractors, graded_relevance
from retrieval.metrics.ranking import Ranking

Score: TypeAlias = Callable[[Ranking], float | None]


class Need(Enum):
    """What a measure needs beside a ranked list and its labels."""

    GROUPS = "groups of near-duplicates"
    DISTRACTORS = "distractors"


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of one query, with the name that it was asked for by; `seed` of those that draw."""

    name: str
    score: Score
    need: Need | None = None
    seed: int | None = None


class UnknownMeasure(ValueError):
    """There is no measure of that name; the message lists those that there are."""


class _Cut(Enum):
    """Whether a name goes with `@k`."""

    REQUIRED = "@k"
    OPTIONAL = "[@k]"
    NONE = ""
    SEED = "[:seed]"


@dataclass(frozen=True, slots=True)
class _Family:
    cut: _Cut
    score: Callable[[Ranking, int | None], float | None]
    need: Need | None = None


def parse_measure(name: str) -> Measure:
    """The measure that a name such as `ndcg@10` stands for. Raises `UnknownMeasure`."""
    written = re.fullmatch(r"([a-z_]+)(?:@([1-9][0-9]{0,6})|:(0|[1-9][0-9]{0,8}))?", name)
    family = FAMILIES.get(written[1]) if written else None
    if written is None or family is None:
        raise UnknownMeasure(f"there is no metric {name!r}; there are {describe_measure_names()}")
    if not _fits(family.cut, written[2], written[3]):
        raise UnknownMeasure(f"metric {name!r}: write {written[1]}{family.cut.value}, {_TAKES[family.cut]}")
    if family.cut is _Cut.SEED:
        seed = int(written[3] or distractors.SEED)
        return Measure(name, partial(_scored, family, seed), family.need, seed)
    k = int(written[2]) if written[2] else None
    return Measure(name, partial(_scored, family, k), family.need)


def _fits(cut: _Cut, k: str | None, seed: str | None) -> bool:
    """Whether a family with this kind of cut-off takes what was written."""
    if cut is _Cut.SEED:
        return k is None
    return seed is None and (k is not None if cut is _Cut.REQUIRED else k is None or cut is _Cut.OPTIONAL)


def parse_measures(names: Iterable[str]) -> list[Measure]:
    """The measures of several names, each once. Raises `UnknownMeasure`, for an empty list too."""
    found = [parse_measure(name) for name in dict.fromkeys(name.strip() for name in names)]
    if not found:
        raise UnknownMeasure(f"no metric is named; there are {describe_measure_names()}")
    return found


def describe_measure_names() -> str:
    """The names in one line, with `@k` where they take a cut-off."""
    return ", ".join(f"{name}{family.cut.value}" for name, family in FAMILIES.items())


def _scored(family: _Family, k: int | None, ranking: Ranking) -> float | None:
    return family.score(ranking, k)


def _distinct(ranking: Ranking, k: int | None) -> float | None:
    if ranking.groups is None:
        raise ValueError("distinct_matches needs the groups of the ranking's functions")
    return binary.distinct_matches(ranking.hits, ranking.groups, ranking.positives, k)


def _among_distractors(ranking: Ranking, seed: int | None) -> float | None:
    those = ranking.distractors[distractors.SEED if seed is None else seed]
    return distractors.reciprocal_rank_in_list(ranking.hits, those.at, those.drawn, ranking.positives)


def _of_hits(cut: _Cut, function: Callable[[Sequence[bool], int, int], float | None]) -> _Family:
    return _Family(cut, lambda ranking, k: function(ranking.hits, ranking.positives, k or _ALL))


def _of_grades(gain: graded_relevance.Gain) -> _Family:
    return _Family(
        _Cut.OPTIONAL, lambda ranking, k: graded_relevance.ndcg_graded(ranking.found, ranking.judged, k, gain)
    )


_TAKES: Mapping[_Cut, str] = {
    _Cut.REQUIRED: "k a number from 1 on",
    _Cut.OPTIONAL: "k a number from 1 on",
    _Cut.NONE: "it has a cut-off of its own",
    _Cut.SEED: "seed a number from 0 on",
}

_ALL = sys.maxsize
"""A cut-off that cuts nothing off."""

FAMILIES: Mapping[str, _Family] = {
    "ndcg": _of_grades(graded_relevance.exponential),
    "ndcg_linear": _of_grades(graded_relevance.linear),
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
    "distinct_matches": _Family(_Cut.REQUIRED, _distinct, Need.GROUPS),
    "mrr_distractors": _Family(_Cut.SEED, _among_distractors, Need.DISTRACTORS),
}
