"""Accuracy, precision, recall and F1 of an annotator, with intervals that resample queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from annotation.quality.answers import BenchEntry
from annotation.quality.ground import Ground, StratumAnswers
from annotation.stats.agreement.figures import Figure, Floats
from annotation.stats.agreement.scores import Confusion, statistics_of
from annotation.stats.agreement.statistic import Statistic, measure_statistics

FIGURES: Final = ("accuracy", "precision", "recall", "f1")
AS_WRONG: Final = "accuracy_unjudged_wrong"


@dataclass(frozen=True, slots=True)
class Score:
    """One annotator in one stratum: alone (one answering), or the mean of all that it gave.

    Of `pairs` with a truth it has `judged` some, left some `unjudged` and some `open`, and was not asked
    about the others: means over its answerings. `accuracy_unjudged_wrong` counts unjudged pairs as wrong.
    """

    name: str
    stratum: str
    answerings: int
    pairs: float
    judged: float
    unjudged: float
    open: float
    accuracy: Figure
    precision: Figure
    recall: Figure
    f1: Figure
    accuracy_unjudged_wrong: Figure
    confusion: Confusion


def score_bench_entries(ground: Ground, entries: Sequence[BenchEntry]) -> tuple[Score, ...]:
    """The mean of each annotator in each stratum."""
    strata = ground.strata(entries)
    sides = [
        (StratumAnswers.of(ground, entry.name, entry.answerings, one), one)
        for entry in entries
        for one in strata
    ]
    return score_stratum_answers(ground, sides)


def scores_of_each(ground: Ground, entry: BenchEntry, strata: Sequence[str]) -> tuple[Score, ...]:
    """Each answering of an annotator in each stratum."""
    sides = [
        (StratumAnswers.of(ground, many.name, [many], one), one)
        for many in entry.answerings
        for one in strata
    ]
    return score_stratum_answers(ground, sides)


def score_stratum_answers(ground: Ground, sides: Sequence[tuple[StratumAnswers, str]]) -> tuple[Score, ...]:
    """A row for each side and its stratum, all over the same draws."""
    statistics: dict[tuple[int, str], Statistic] = {}
    for number, (side, _) in enumerate(sides):
        statistics |= {
            (number, name): statistic for name, statistic in statistics_of_side(ground, side).items()
        }
    figures = {key: drawn.figure for key, drawn in measure_statistics(ground.draws, statistics).items()}
    names = (*FIGURES, AS_WRONG)
    return tuple(
        build_bench_score(ground, side, stratum, {name: figures[number, name] for name in names})
        for number, (side, stratum) in enumerate(sides)
    )


def statistics_of_side(ground: Ground, side: StratumAnswers) -> dict[str, Statistic]:
    """The figures of a side by name, over the pairs that it was asked about."""
    weights = (side.asked.any(axis=1) & ground.known).astype(np.float64)
    usual = statistics_of(ground.sample, side.against(ground.truth).cells, weights)
    wrong = statistics_of(ground.sample, side.against_as_wrong(ground.truth).cells, weights)
    return {**{name: usual[name] for name in FIGURES}, AS_WRONG: wrong["accuracy"]}


def build_bench_score(
    ground: Ground, side: StratumAnswers, stratum: str, figures: Mapping[str, Figure]
) -> Score:
    """The row with its counts."""
    known = ground.known[:, None]
    return Score(
        name=side.name,
        stratum=stratum,
        answerings=side.said.shape[1],
        pairs=mean_count((side.asked | side.open) & known),
        judged=mean_count(side.asked & ~side.unjudged & known),
        unjudged=mean_count(side.unjudged & known),
        open=mean_count(side.open & known),
        confusion=Confusion(*map(float, side.against(ground.truth).cells.sum(axis=0))),
        **figures,
    )


def mean_count(flags: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> float:
    """How many pairs it holds for, as a mean over answerings."""
    counts: Floats = flags.sum(axis=0)
    return float(counts.mean())
