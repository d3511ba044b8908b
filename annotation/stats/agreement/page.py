"""All figures of a study's page from one sample and one set of draws: `page(study)` is the entry.

docs/statistics.md says of each figure what it is, what is resampled and when it has no value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Final

import numpy as np

from annotation.stats.agreement.alternative import EPSILON, Alternative, run_alternative_test
from annotation.stats.agreement.conditions import (
    AlphaDifference,
    Reliability,
    alpha_difference,
    measure_reliability,
)
from annotation.stats.agreement.differences import (
    AnnotatorComparison,
    compare_annotators,
    describe_p_value_method,
    holm_correction,
)
from annotation.stats.agreement.figures import Flags, Floats
from annotation.stats.agreement.labels import BadLabels, Labels, majority_labels
from annotation.stats.agreement.prediction_powered import Stratum, Whole, estimate_whole_build
from annotation.stats.agreement.sample import Draws, Sample
from annotation.stats.agreement.scores import (
    Against,
    Scores,
    Treatment,
    left_out,
    left_out_bound,
    score_annotator_rows,
    treat_open_pairs,
)

MATCH: Final = 1.0
CONSTANTS: Final = ("always 0", "always 1")


@dataclass(frozen=True, eq=False)
class Study:
    """What a page is made of: arrays of one row a pair, without the planted pairs.

    `conditions` are the raters, `annotators` the agents and single LLMs (0/1), `reference` names the
    condition that counts as true. `adjudicated` labels settle its open pairs. Values of at least `match_at`
    are a match. `build` describes the strata of the build that the sample was drawn from, with the labels of
    the annotator `built_by`. `slices` are pairs of some kind by its name, which may overlap. While `interim`
    no p-value is given. `comparisons` are the planned ones, by names of rows; None: every two are compared.

    Raises BadLabels where the reference is none of the conditions, names repeat, lengths differ, or a planned
    comparison is not of two rows.
    """

    sample: Sample
    conditions: tuple[Labels, ...]
    annotators: tuple[Labels, ...]
    reference: str
    adjudicated: Floats | None = None
    match_at: float = MATCH
    margin: float | None = None
    epsilon: float = EPSILON
    interim: bool = False
    comparisons: tuple[tuple[str, str], ...] | None = None
    build: tuple[Stratum, ...] = ()
    built_by: str = ""
    slices: Mapping[str, Flags] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [one.name for one in self.everyone]
        if len(set(names)) != len(names):
            raise BadLabels("two annotators or conditions have one name")
        if self.reference not in {condition.name for condition in self.conditions}:
            raise BadLabels(f"the reference {self.reference!r} is none of the conditions")
        if any(len(one.values) != len(self.sample) for one in self.everyone):
            raise BadLabels("there are not as many labels as pairs")
        known = {*names, *CONSTANTS}
        for one, two in self.comparisons or ():
            if one == two or not {one, two} <= known:
                raise BadLabels(f"{one!r} and {two!r} are not two rows of the table")

    @property
    def everyone(self) -> tuple[Labels, ...]:
        """Annotators, then the people of each condition."""
        return self.annotators + self.conditions

    @cached_property
    def people(self) -> Labels:
        """Those who made the reference, as match or not."""
        return next(condition for condition in self.conditions if condition.name == self.reference).matches(
            self.match_at
        )

    @cached_property
    def truth(self) -> Floats:
        """The reference: the majority of the planned quorum, nan where there is none."""
        return majority_labels(self.people)

    @cached_property
    def asked(self) -> Flags:
        """The pairs on which somebody of the reference said something, be it that it can't be judged."""
        return np.asarray((~np.isnan(self.people.values) | self.people.skipped).any(axis=1))

    @property
    def rivals(self) -> tuple[str, ...]:
        """The rows that can be compared with the people who made the reference."""
        return tuple(one.name for one in self.everyone if one.name != self.reference)

    @property
    def compared(self) -> tuple[tuple[str, str], ...]:
        """What is compared: as planned, the people who made the reference always second."""
        planned = self.comparisons
        if planned is None:
            with_people = ((name, self.reference) for name in self.rivals)
            planned = (*combinations(self.rivals, 2), *with_people)
        return tuple((two, one) if one == self.reference else (one, two) for one, two in planned)

    @property
    def rows(self) -> tuple[Labels, ...]:
        """The rows of the main table, as match or not."""
        constants = tuple(Labels.constant(label, len(self.sample)) for label in (0, 1))
        return tuple(one.matches(self.match_at) for one in self.everyone) + constants

    def against(self, labels: Labels, treatment: Treatment = Treatment.EXCLUDED) -> Against:
        """A row against the reference; its own people each against the others, whatever becomes of ties.

        `cells` of what is returned tells for each pair in which cell of the confusion matrix it is.
        """
        if labels.name == self.reference:
            bounds = treatment in (Treatment.WRONG, Treatment.RIGHT)
            return left_out_bound(labels, treatment is Treatment.RIGHT) if bounds else left_out(labels)
        return treat_open_pairs(labels, self.truth, treatment, self.adjudicated, self.asked)


@dataclass(frozen=True, slots=True)
class Page:
    """All figures. Plain dataclasses throughout, so `dataclasses.asdict` exports them; `seed` and `draws` say
    how to get the same intervals again.
    """

    reference: str
    interim: bool
    pairs: int
    queries: int
    seed: int
    draws: int
    table: tuple[Scores, ...]
    treated: Mapping[Treatment, tuple[Scores, ...]]
    strata: Mapping[int, tuple[Scores, ...]]
    slices: Mapping[str, tuple[Scores, ...]]
    reliability: tuple[Reliability, ...]
    alpha_differences: tuple[AlphaDifference, ...]
    comparisons: tuple[AnnotatorComparison, ...]
    alternatives: tuple[Alternative, ...]
    build: Whole | None


def build_agreement_page(study: Study) -> Page:
    """Every figure of the page, over the same draws."""
    sample = study.sample
    drawn = Draws.of(sample)
    compared, alternatives = compare_study_annotators(study, drawn)
    return Page(
        reference=study.reference,
        interim=study.interim,
        pairs=len(sample),
        queries=sample.size,
        seed=drawn.seed,
        draws=drawn.size,
        table=build_main_score_table(study, drawn, sample.weights),
        treated={
            treatment: build_main_score_table(study, drawn, sample.weights, treatment)
            for treatment in open_treatments(study)
        },
        strata=build_stratum_score_tables(study, drawn),
        slices={
            name: build_main_score_table(study, drawn, np.where(inside, sample.weights, 0.0))
            for name, inside in study.slices.items()
        },
        reliability=tuple(
            measure_reliability(sample, drawn, condition, sample.weights, study.match_at, study.annotators)
            for condition in study.conditions
        ),
        alpha_differences=tuple(
            alpha_difference(sample, drawn, one, two, sample.weights, study.match_at)
            for one, two in combinations(study.conditions, 2)
        ),
        comparisons=compared,
        alternatives=alternatives,
        build=of_build(study, drawn),
    )


def build_main_score_table(
    study: Study, draws: Draws, weights: Floats, treatment: Treatment = Treatment.EXCLUDED
) -> tuple[Scores, ...]:
    """The main table: a row for each annotator, each condition's people, always 0 and always 1."""
    rows = [(study.against(row, treatment), row) for row in study.rows]
    return score_annotator_rows(study.sample, draws, rows, weights)


def open_treatments(study: Study) -> tuple[Treatment, ...]:
    """The ways to treat open pairs, beside leaving them out; adjudicated only where somebody did."""
    ways = [one for one in Treatment if one is not Treatment.EXCLUDED]
    return tuple(way for way in ways if way is not Treatment.ADJUDICATED or study.adjudicated is not None)


def build_stratum_score_tables(study: Study, draws: Draws) -> Mapping[int, tuple[Scores, ...]]:
    """The table of each stratum. Pairs weigh 1 ÷ inclusion probability there, too: where each query put one
    forward, that of a large query had a smaller chance than its neighbours of the same stratum.
    """
    sample = study.sample
    kinds = np.unique(sample.strata)
    if len(kinds) < 2:
        return {}
    return {
        int(kind): build_main_score_table(study, draws, np.where(sample.strata == kind, sample.weights, 0.0))
        for kind in kinds
    }


def compare_study_annotators(
    study: Study, draws: Draws
) -> tuple[tuple[AnnotatorComparison, ...], tuple[Alternative, ...]]:
    """The planned comparisons (else every two rows, constants apart) with one correction by Holm over all of
    them; and each annotator against the people who made the reference.
    """
    rows = {row.name: row for row in study.rows}
    wanted = {one for one, two in study.compared if two == study.reference}
    wanted |= {annotator.name for annotator in study.annotators}
    stand_ins = {name: stand_in(study, draws, rows[name]) for name in wanted}
    found = [
        alternative_as_comparison(stand_ins[one])
        if two == study.reference
        else compare_annotators(
            study.sample,
            draws,
            study.against(rows[one]),
            study.against(rows[two]),
            study.sample.weights,
            study.margin,
        )
        for one, two in study.compared
    ]
    alternatives = tuple(stand_ins[annotator.name] for annotator in study.annotators)
    if study.interim:
        return tuple(replace(one, p=None, margin=None) for one in found), tuple(
            map(hide_interim_p_values, alternatives)
        )
    pairs = zip(found, holm_correction([one.p for one in found]), strict=True)
    return tuple(replace(one, p_holm=p) for one, p in pairs), alternatives


def stand_in(study: Study, draws: Draws, labels: Labels) -> Alternative:
    """A row against the people who made the reference."""
    weights = study.sample.weights
    return run_alternative_test(
        study.sample, draws, labels, study.people, weights, study.epsilon, study.margin
    )


def alternative_as_comparison(found: Alternative) -> AnnotatorComparison:
    """The annotator less the people who made the reference, as a row of the comparisons."""
    method = describe_p_value_method(found.difference)
    return AnnotatorComparison(
        found.annotator, found.people, found.n, found.difference, method, found.p, margin=found.margin
    )


def hide_interim_p_values(found: Alternative) -> Alternative:
    """Without p-values and what rests on them: the study is interim."""
    raters = tuple(replace(rater, p=None, wins=None) for rater in found.raters)
    return replace(
        found,
        p=None,
        winning=None,
        raters=raters,
        margin=None,
        words="the study is interim: nothing is tested",
    )


def of_build(study: Study, draws: Draws) -> Whole | None:
    """What the sample says of all labels of the build; None where no build was described."""
    for annotator in study.annotators:
        if study.build and annotator.name == study.built_by:
            labels = annotator.matches(study.match_at).values[:, 0]
            return estimate_whole_build(study.sample, draws, annotator.name, labels, study.truth, study.build)
    return None
