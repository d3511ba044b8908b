"""How sure a study will be before it starts: its own estimator, on made-up studies with a pilot's rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import nan
from statistics import median
from typing import Any, Final

import numpy as np
from django.db.models import QuerySet

from annotation.models import Condition, Study
from annotation.schemas.studies.studies import AssumedRates
from annotation.stats.agreement.labels import Labels
from annotation.stats.planning import planner
from annotation.stats.planning.design import Design
from annotation.stats.planning.pilot import from_pilot
from annotation.stats.planning.planner import Assumptions, BadPlan
from annotation.studies.plan.effort import SECONDS
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.plan.row_names import format_annotator_name
from annotation.studies.report import figure_data
from annotation.studies.report.figure_data import Gathered
from annotation.studies.sampling.draw import Stratum

QUICK: Final = 30
"""Made-up studies for a look at a form: their power is known to ± 15 points."""
ENOUGH_POWER: Final = 0.8
MOST_TRIED: Final = 2_000
"""Pairs up to which somebody waits for an answer at a page."""
USUAL_MARGIN: Final = 0.05
USUAL_CAPACITY: Final = 300


@dataclass(frozen=True, slots=True)
class Size:
    """A study as far as its precision cares; `minutes` are of one rating, `wage` is dollars an hour.

    Its pairs come from builds, so that what their annotator took is paid: money is of the raters' hours.
    `design`: how they were drawn, where not all are alike.
    """

    pairs: int
    pairs_per_query: int
    quorum: int
    conditions: int
    margin: float
    capacity: int
    minutes: float
    wage: float
    design: Design | None = None

    @property
    def plain(self) -> dict[str, Any]:
        """Everything but the design, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "design"}


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What made-up studies come to. `source` says where the rates are from."""

    source: str
    outlook: planner.StudyOutlook

    @property
    def assumed(self) -> Assumptions:
        return self.outlook.assumed


def simulate_study_precision(size: Size, rates: AssumedRates, studies: int = QUICK) -> Foreseen:
    """Simulates studies of this size. Raises StudyRefused where nothing follows from the rates."""
    assumed, source = derive_forecast_assumptions(size, rates)
    return Foreseen(source, planner.simulate_study_outlook(assumed, studies, size.design))


def find_smallest_study(
    size: Size, rates: AssumedRates, studies: int = QUICK, most: int = MOST_TRIED
) -> Foreseen | None:
    """The smallest study that shows the margin often enough; None where so many pairs do not.

    Raises StudyRefused.
    """
    assumed, source = derive_forecast_assumptions(size, rates)
    found = planner.find_smallest_study(assumed, ENOUGH_POWER, studies, most, size.design)
    return Foreseen(source, found) if found else None


def refuse_pairwise(kind: str) -> None:
    """Raises StudyRefused where agents are not held against people, which is all that is simulated."""
    if kind == Study.Kind.PAIRWISE:
        raise StudyRefused(
            "A simulation is of agents against people, and a pairwise study has neither rows nor a margin: "
            "decide on its number of pairs by hours and cost, as “See what it will take” tells them."
        )


def derive_forecast_assumptions(size: Size, rates: AssumedRates) -> tuple[Assumptions, str]:
    """What is simulated, and where its rates are from. Raises StudyRefused."""
    most = max(2, min(size.pairs, planner.MOST_PAIRS))
    try:
        assumed = Assumptions(**size.plain | {"pairs": most} | rates.typed())
        source = "assumed, as typed" if rates.typed() else "the planner’s usual ones"
        if rates.pilot is not None:
            assumed, source = of_pilot(assumed, rates.pilot)
        fewer = f"; {most:,} pairs, as more can’t be simulated" if most < size.pairs else ""
        return by_labels(assumed, f"{source}{fewer}", size.design)
    except BadPlan as why:
        raise StudyRefused(f"{str(why)[:1].upper()}{str(why)[1:]}.") from why


def by_labels(assumed: Assumptions, source: str, design: Design | None) -> tuple[Assumptions, str]:
    """Where the annotator's labels of the strata are known, the matches that give as many: not as assumed."""
    if design is None or design.matches is None:
        return assumed, source
    prevalence = design.prevalence(assumed.prevalence, assumed.annotator_accuracy)
    return replace(assumed, prevalence=prevalence), f"{source}; matches by the labels of the strata"


def of_pilot(assumed: Assumptions, pk: int) -> tuple[Assumptions, str]:
    """The rates of a study's reference condition and of the annotator that it was drawn from."""
    pilot = find_pilot_studies().filter(pk=pk).first()
    if pilot is None:
        raise StudyRefused("There is no such pilot: name a study with ratings that somebody has started.")
    found = figure_data.gather_figure_data(pilot).by_criterion_of_builds()
    if not found.said:
        raise StudyRefused(f"Nobody has rated a pair of “{pilot}” yet, so it is no pilot.")
    people, annotator = reference_of(found), judge_of(found)
    learnt = from_pilot(assumed, found.sample, people, annotator)
    asked = people.skipped.sum() + (~np.isnan(people.values)).sum()
    skipped = float(people.skipped.sum() / asked) if asked else assumed.skipped
    told = f"the pilot “{pilot}”: {people.name}, {annotator.name}, {len(found.pairs):,} pairs"
    interim = "" if found.complete else ", interim"
    return replace(learnt, skipped=min(skipped, 0.9)), told + interim


def find_pilot_studies() -> QuerySet[Study]:
    """The studies whose rates can be taken: begun, and of ratings by people of ours."""
    return Study.objects.filter(kind=Study.Kind.RATING).exclude(state=Study.State.DRAFT)


def reference_of(found: Gathered) -> Labels:
    """The people who count as true, as match or not."""
    condition = next(one for one in found.conditions if one.get_kind_display() == found.reference)
    return figure_data.blind_labels_of_raters(found, condition).matches(found.match_at)


def judge_of(found: Gathered) -> Labels:
    """The annotator of the build that was drawn from, else the first one. Raises StudyRefused."""
    own = figure_data.built_by(found)
    named = sorted(found.annotators, key=lambda annotator: format_annotator_name(annotator) != own)
    if not named:
        raise StudyRefused("No annotator has judged the pilot's pairs, or none is scored on it yet.")
    return figure_data.annotator_labels(found, named[0]).matches(found.match_at)


def size_of(study: Study) -> Size:
    """That of a stored study, from its rows. Raises StudyRefused for a pairwise one."""
    refuse_pairwise(study.kind)
    kept = study.sample if isinstance(study.sample, dict) else {}
    conditions = list(study.conditions.all())
    seconds = [
        kept.get("seconds", {}).get(condition.kind, SECONDS[condition.kind]) for condition in conditions
    ]
    queries = study.pairs.filter(planted="").values("pair__query").distinct().count()
    return Size(
        pairs=study.planned_pairs,
        pairs_per_query=max(1, round(study.planned_pairs / max(1, queries))),
        quorum=min((condition.raters for condition in conditions), default=3),
        conditions=max(1, len(conditions)),
        margin=study.margin or USUAL_MARGIN,
        capacity=usual_capacity(list(study.enrolments.values_list("capacity", flat=True))),
        minutes=(sum(seconds) / len(seconds) if seconds else SECONDS[Condition.Kind.READING]) / 60,
        wage=kept.get("hourly_rate", 0.0),
        design=design_of(
            list(study.pairs.filter(planted="").order_by("number").values_list("stratum", "probability")),
            [Stratum(*one) for one in kept.get("strata", [])],
        ),
    )


def design_of(drawn: Sequence[tuple[str, float]], strata: Sequence[Stratum]) -> Design | None:
    """Of pairs as (stratum, inclusion probability); None where all are alike."""
    if len(set(drawn)) < 2:
        return None
    numbers = {one: number for number, one in enumerate(sorted({name for name, _ in drawn}))}
    shares = {
        stratum.name: stratum.matches / stratum.labelled if stratum.labelled else nan for stratum in strata
    }
    return Design.of(
        [chance for _, chance in drawn],
        [numbers[name] for name, _ in drawn],
        [shares.get(name, nan) for name, _ in drawn],
    )


def usual_capacity(capacities: list[int]) -> int:
    return max(1, round(median(capacities))) if capacities else USUAL_CAPACITY


def rates_from(told: Mapping[str, Any]) -> AssumedRates:
    """Rates as they are kept with a draft; what is not known is left out."""
    return AssumedRates(**{name: told[name] for name in AssumedRates.model_fields if name in told})
