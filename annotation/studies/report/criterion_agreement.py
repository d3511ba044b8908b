"""How far raters agree by exact match and by 50 % match, alone and with one annotator more.

Paper: CoSQA+'s first version, Table 4. One question on the scale of steps tells both criteria.
"""

from __future__ import annotations

from dataclasses import dataclass

from annotation.agents.single_llm import Criterion
from annotation.stats.agreement.conditions import Reliability, measure_reliability
from annotation.stats.agreement.page import MATCH
from annotation.stats.agreement.sample import Draws
from annotation.studies.report.figure_data import Gathered, annotator_labels, blind_labels_of_raters


@dataclass(frozen=True, slots=True)
class CriterionAgreement:
    """The agreement in one condition of match or not by one criterion; `plus` are annotators of the same."""

    criterion: Criterion
    reliability: Reliability


def measure_both_criteria(found: Gathered) -> tuple[CriterionAgreement, ...]:
    """Of each condition by both criteria, over the draws of the page."""
    draws = Draws.of(found.sample)
    return tuple(
        CriterionAgreement(criterion, measure_by_criterion(found.by_criterion(criterion), place, draws))
        for criterion in Criterion
        for place in range(len(found.conditions))
    )


def measure_by_criterion(found: Gathered, place: int, draws: Draws) -> Reliability:
    people = blind_labels_of_raters(found, found.conditions[place]).matches(found.match_at)
    more = [annotator_labels(found, annotator).matches(found.match_at) for annotator in found.annotators]
    return measure_reliability(found.sample, draws, people, found.sample.weights, MATCH, more)
