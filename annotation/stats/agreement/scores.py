"""An annotator against a reference: the four cells of a confusion matrix, and what is made of them.

Everything is of label 1. Cells are fractions: where several raters judged a pair, each label counts its
share, so that every pair counts once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Final

import numpy as np

from annotation.stats.agreement.figures import Figure, Flags, Floats
from annotation.stats.agreement.korn_graubard import effective_sample_size
from annotation.stats.agreement.labels import Labels, other_raters_majority
from annotation.stats.agreement.sample import Draws, Sample
from annotation.stats.agreement.statistic import Statistic, divide_or_nan, measure_statistics, share_of

NOTHING: Final = "there is no pair that both have judged"
NEVER_ONE: Final = "undefined: it never said match"
NO_ONE: Final = "the reference has no 1, so recall has nothing to count"
NO_F1: Final = "neither it nor the reference has a 1"
NO_MCC: Final = "it or the reference gave one label only, so nothing can correlate"


class Treatment(StrEnum):
    """What becomes of pairs that the annotator or the reference leaves open."""

    EXCLUDED = "excluded"
    ADJUDICATED = "adjudicated"
    WRONG = "all wrong"
    RIGHT = "all right"
    TIE_0 = "ties are 0"
    TIE_1 = "ties are 1"


@dataclass(frozen=True, slots=True)
class Confusion:
    """How the pairs that both judged divide, unweighted; fractions where several raters share a pair."""

    both: float
    only_annotator: float
    only_reference: float
    neither: float


@dataclass(frozen=True, slots=True)
class Scores:
    """One row of the main table. `n` pairs were counted of `pairs`; `open_reference` of them have no
    reference and `open_annotator` no label. `left_out` says that each rater stands against the others: then
    a pair with one label alone has no reference.
    """

    name: str
    n: int
    pairs: int
    open_reference: int
    open_annotator: int
    coverage: Figure
    accuracy: Figure
    precision: Figure
    recall: Figure
    f1: Figure
    mcc: Figure
    confusion: Confusion
    left_out: bool = False


@dataclass(frozen=True, eq=False)
class Against:
    """What was said and what holds, pairs × raters (or × 1), each between 0 and 1, nan where open."""

    name: str
    said: Floats
    truth: Floats
    left_out: bool = False

    @cached_property
    def cells(self) -> Floats:
        """Pairs × (both 1, only said 1, only truth 1, neither), all 0 where nothing can be compared."""
        said, truth = np.broadcast_arrays(self.said, self.truth)
        known = ~(np.isnan(said) | np.isnan(truth))
        parts = np.stack([said * truth, said * (1 - truth), (1 - said) * truth, (1 - said) * (1 - truth)])
        summed = np.where(known, parts, 0).sum(axis=2)
        return np.asarray((summed / np.maximum(known.sum(axis=1), 1)).T, dtype=np.float64)


def treat_open_pairs(
    labels: Labels,
    truth: Floats,
    treatment: Treatment,
    settled: Floats | None = None,
    tied: Flags | None = None,
) -> Against:
    """An annotator against the truth of each pair, where open pairs are treated so.

    `settled` are the adjudicated labels, nan where there is none. Of the open pairs only `tied` ones are ties
    (None: all of them): one that nobody was asked about is none.
    """
    holds = truth[:, None]
    if treatment is Treatment.ADJUDICATED and settled is not None:
        holds = np.where(np.isnan(holds), settled[:, None], holds)
    elif treatment in (Treatment.TIE_0, Treatment.TIE_1):
        ties = np.isnan(holds) if tied is None else np.isnan(holds) & tied[:, None]
        holds = np.where(ties, float(treatment is Treatment.TIE_1), holds)
    if treatment not in (Treatment.WRONG, Treatment.RIGHT):
        return Against(labels.name, labels.values, holds)
    right = treatment is Treatment.RIGHT
    wide = np.broadcast_to(holds, labels.values.shape)
    said = np.where(labels.skipped, wide if right else 1 - wide, labels.values)
    held = np.where(np.isnan(wide), said if right else 1 - said, wide)
    return Against(labels.name, *both_open(labels, said, held, right))


def both_open(labels: Labels, said: Floats, held: Floats, right: bool) -> tuple[Floats, Floats]:
    """Pairs that neither judged, counted half as a 1 and half as a 0 of a second column."""
    empty = labels.skipped & np.isnan(said) & np.isnan(held)
    ones = np.where(empty, 1.0, said), np.where(empty, float(right), held)
    zeros = np.where(empty, 0.0, said), np.where(empty, float(not right), held)
    return np.hstack([ones[0], zeros[0]]), np.hstack([ones[1], zeros[1]])


def left_out(labels: Labels) -> Against:
    """Those who made the reference: each rater against the others, a split counting ½."""
    return Against(labels.name, labels.values, other_raters_majority(labels), left_out=True)


def left_out_bound(labels: Labels, right: bool) -> Against:
    """The same where skipped labels are what makes the raters of the pair agree most (`right`) or least.

    A label that one rater did not give is missing to the others, too: so all of a pair's are thought of
    together, so many of them 1 and the rest 0. Where several ways are as far from agreeing each is a part.
    """
    ways = [
        fill_skipped_labels(labels, ones)
        for ones in range(int(labels.skipped.sum(axis=1).max(initial=0)) + 1)
    ]
    thought = [left_out(way) for way in ways]
    agree = np.column_stack([score_cell_agreement(one.cells) for one in thought])
    with_any = ~np.isnan(agree).all(axis=1)
    best = np.full(len(agree), np.nan)
    best[with_any] = (np.nanmax if right else np.nanmin)(agree[with_any], axis=1)
    alike = np.isclose(agree, best[:, None])
    said = [np.where(alike[:, [place]], one.said, np.nan) for place, one in enumerate(thought)]
    return Against(labels.name, np.hstack(said), np.hstack([one.truth for one in thought]), left_out=True)


def fill_skipped_labels(labels: Labels, ones: int) -> Labels:
    """Skipped labels of each pair as so many 1 and else 0; without any label where fewer were skipped."""
    order = labels.skipped.cumsum(axis=1)
    values = np.where(labels.skipped, (order <= ones).astype(np.float64), labels.values)
    values[labels.skipped.sum(axis=1) < ones] = np.nan
    return replace(labels, values=values)


def score_cell_agreement(cells: Floats) -> Floats:
    """How far each pair's two sides say the same, 0 to 1; nan where nothing can be compared."""
    return np.where(cells.any(axis=1), cells[:, 0] + cells[:, 3], np.nan)


Row = tuple[Against, Labels]


def score_annotator_rows(
    sample: Sample, draws: Draws, rows: Sequence[Row], weights: Floats
) -> tuple[Scores, ...]:
    """A row for each annotator, what it is held against first."""
    statistics: dict[tuple[int, str], Statistic] = {}
    for number, (against, _) in enumerate(rows):
        named = statistics_of(sample, against.cells, weights)
        statistics |= {(number, name): statistic for name, statistic in named.items()}
    figures = {key: statistic.figure for key, statistic in measure_statistics(draws, statistics).items()}
    return tuple(
        build_score_row(
            *row, weights != 0, {name: found for (place, name), found in figures.items() if place == number}
        )
        for number, row in enumerate(rows)
    )


def build_score_row(against: Against, labels: Labels, counted: Flags, figures: dict[str, Figure]) -> Scores:
    """One annotator's row of its figures, and of what is counted without weights."""
    cells = against.cells
    no_label = np.isnan(labels.values).all(axis=1)
    compared = cells.any(axis=1)
    no_truth = ~(compared | no_label) if against.left_out else np.isnan(against.truth).all(axis=1)
    return Scores(
        name=against.name,
        n=int((compared & counted).sum()),
        pairs=int(counted.sum()),
        open_reference=int((no_truth & counted).sum()),
        open_annotator=int((no_label & counted).sum()),
        **figures,
        confusion=Confusion(*map(float, cells[counted].sum(axis=0))),
        left_out=against.left_out,
    )


def statistics_of(sample: Sample, cells: Floats, weights: Floats) -> dict[str, Statistic]:
    """The figures of a row, by their names in `Scores`; all from one array of columns."""
    judged = weights * cells.any(axis=1)
    columns = sample.sums(np.column_stack([weights[:, None] * cells, judged, weights]))
    matrix = columns[:, :4]  # without the pairs that nobody judged: their queries say nothing of F1 and MCC
    plain = sample.alone(weights) and bool(np.isin(cells, (0.0, 1.0)).all())
    said, true = (effective_sample_size(weights * cells[:, [0, other]].sum(axis=1)) for other in (1, 2))
    return {
        "coverage": share_of(
            columns, NOTHING, sample.alone(weights), label_coverage, effective_sample_size(weights)
        ),
        "accuracy": share_of(columns, NOTHING, plain, accuracy, effective_sample_size(judged)),
        "precision": share_of(columns, NEVER_ONE, plain, precision, said),
        "recall": share_of(columns, NO_ONE, plain, recall, true),
        "f1": Statistic(matrix, f1, NO_F1),
        "mcc": Statistic(matrix, mcc, NO_MCC),
    }


def label_coverage(sums: Floats) -> tuple[Floats, Floats]:
    """Pairs that both judged, of all."""
    return sums[..., 4], sums[..., 5]


def accuracy(sums: Floats) -> tuple[Floats, Floats]:
    """Pairs on which both say the same, of those that both judged: added up from the same cells, so that
    whoever is always right has exactly 1, whatever the weights.
    """
    alike = sums[..., 0] + sums[..., 3]
    return alike, alike + sums[..., 1] + sums[..., 2]


def precision(sums: Floats) -> tuple[Floats, Floats]:
    """True ones of said ones."""
    return sums[..., 0], sums[..., 0] + sums[..., 1]


def recall(sums: Floats) -> tuple[Floats, Floats]:
    """Said ones of true ones."""
    return sums[..., 0], sums[..., 0] + sums[..., 2]


def f1(sums: Floats) -> Floats:
    """2 × both ÷ (2 × both + only one), from sums of cells (last axis)."""
    both = 2 * sums[..., 0]
    return divide_or_nan(both, both + sums[..., 1] + sums[..., 2])


def mcc(sums: Floats) -> Floats:
    """The correlation of the two labels (Matthews 1975), from sums of cells (last axis)."""
    both, said, truth, neither = np.moveaxis(sums[..., :4], -1, 0)
    margins = (both + said) * (both + truth) * (neither + said) * (neither + truth)
    return divide_or_nan(both * neither - said * truth, np.sqrt(margins))
