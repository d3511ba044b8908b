"""Choices between two snippets, by the condition that they were made under."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.models import Build, Enrolment, Rating, Study
from annotation.stats.agreement.figures import Figure
from annotation.stats.agreement.pairwise import Preference, measure_preference
from annotation.stats.agreement.reliability import nominal_alpha, percent_agreement
from annotation.stats.agreement.sample import Draws, Sample
from annotation.stats.agreement.statistic import measure_statistics
from annotation.studies.report.figure_data import Gathered, build_rater_matrix
from retrieval.models import Annotator


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the raters of one condition chose, and how far they agree: nominal alpha of the choices, and of
    two raters of one pair how often both chose alike.
    """

    condition: str
    preference: Preference
    alpha: Figure
    alike: Figure


def choices_by_condition(found: Gathered) -> tuple[Chosen, ...]:
    """The conditions of a pairwise study under which somebody has chosen."""
    made = []
    for condition in found.conditions:
        raters = [enrolment for enrolment in found.enrolments if enrolment.condition_id == condition.pk]
        asked = {rater.pk for rater in raters}
        if any(one.enrolment in asked for one in found.said):
            word = condition.get_kind_display()
            made.append(
                Chosen(word, estimate_preference(found, raters), *measure_choice_agreement(found, raters))
            )
    return tuple(made)


def sides_of(study: Study) -> str:
    """Whose matches the first snippets and the second ones are, in a sentence; empty where nobody knows."""
    builds, against = study.sample.get("builds", []), study.sample.get("against")
    named = {build.pk: f"the build “{build.name}”" for build in Build.objects.filter(pk__in=builds)}
    sides = [named[pk] for pk in builds if pk in named]
    sides += (
        [f"the labels “{annotator}”" for annotator in Annotator.objects.filter(pk=against)] if against else []
    )
    if len(sides) != 2:
        return ""
    return f"First functions are matches of {sides[0]}, second ones of {sides[1]}."


def estimate_preference(found: Gathered, raters: Sequence[Enrolment]) -> Preference:
    """The share of these raters' choices that the first snippet wins; a pair weighs 1 ÷ its probability."""
    asked = {rater.pk for rater in raters}
    pairs = {sampled.pk: sampled for sampled in found.pairs}
    said = [
        one
        for one in found.said
        if one.phase == Rating.Phase.BLIND and one.value is not None and one.enrolment in asked
    ]
    sample = Sample.of(
        [pairs[one.pair].query_id for one in said], [pairs[one.pair].probability for one in said]
    )
    won = np.array([(float(one.value or 0) + 1) / 2 for one in said])
    first_left = np.array([not one.swapped for one in said], dtype=bool)
    return measure_preference(sample, Draws.of(sample), won, first_left, not found.complete)


def measure_choice_agreement(found: Gathered, raters: Sequence[Enrolment]) -> tuple[Figure, Figure]:
    """Alpha of the choices, and how often two raters chose alike, over the pairs that two chose on."""
    values, _ = build_rater_matrix(found, raters)
    sample = found.sample
    statistics = {
        "alpha": nominal_alpha(sample, values, sample.weights),
        "alike": percent_agreement(sample, values, sample.weights),
    }
    figures = measure_statistics(Draws.of(sample), statistics)
    return figures["alpha"].figure, figures["alike"].figure
