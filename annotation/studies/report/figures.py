"""All figures of a study: computed together over one set of draws, kept until something is said anew."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import Final, cast

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db.models import Count, Max, Q, Sum

from annotation.accounts.roles import Visitor, blind_beside, blind_studies
from annotation.agents.single_llm import Criterion
from annotation.models import Adjudication, Assignment, Enrolment, Quota, Rating, Scoring, Study
from annotation.stats.agreement.error_share import WrongLabels, wrong_labels
from annotation.stats.agreement.influence import Influence, measure_reveal_influence
from annotation.stats.agreement.page import Page, build_agreement_page
from annotation.stats.agreement.pairwise import Preference
from annotation.stats.agreement.sample import Draws
from annotation.stats.agreement.scores import Scores
from annotation.studies.adjudication.undecided_pairs import count_undecided_pairs
from annotation.studies.enrolment.profiles import Profile, profile_of
from annotation.studies.plan.row_names import criterion_of, format_annotator_name
from annotation.studies.report import figure_data
from annotation.studies.report.criterion_agreement import CriterionAgreement, measure_both_criteria
from annotation.studies.report.figure_data import Gathered, Until
from annotation.studies.report.label_runs import LabelRuns, count_label_runs
from annotation.studies.report.pair_flow import Flow, flow_of
from annotation.studies.report.pairwise_choices import Chosen, choices_by_condition, estimate_preference
from retrieval.models import Annotator, Label

KEPT_SECONDS: Final = 3600
SHAPE: Final = 9
"""Counted up where `Figures` gets another shape: what was kept in the old one is not taken then."""


class NoFigures(Exception):
    """There is nothing to compute yet, or not for this person; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What the page shows. `page` is None for a pairwise study, `preference` for every other one;
    it has the choices of all conditions together, `chosen` those of each.

    `scorings` are of a sealed study; `unscored` versions are in no figure until somebody scores them.
    `profile` is of all raters together; `unresolved` says which planned comparisons have no two rows.
    `wrong`: by row of the main table, which shares of its labels are. `runs`: how many labels rest on a run.
    `half`: what `page` is by exact match, by 50 % match, where raters were asked for both; `criteria` has the
    agreement by each. `off_criterion`: annotators that judge by 50 % match where raters were not asked.
    """

    study: Study
    page: Page | None
    preference: Preference | None
    influence: Influence | None
    flow: Flow
    interim: bool
    seconds: Mapping[str, float]
    scorings: tuple[Scoring, ...]
    unscored: tuple[Annotator, ...]
    profile: Profile
    chosen: tuple[Chosen, ...] = ()
    unresolved: tuple[str, ...] = ()
    wrong: Mapping[str, WrongLabels] = field(default_factory=dict)
    runs: tuple[LabelRuns, ...] = ()
    half: Page | None = None
    criteria: tuple[CriterionAgreement, ...] = ()
    off_criterion: tuple[str, ...] = ()

    @property
    def score_rows(self) -> tuple[Scores, ...]:
        """The rows of the main table, then those that judge by 50 % match, each against its own truth."""
        rows = self.page.table if self.page else ()
        known = {row.name for row in rows}
        return rows + tuple(row for row in (self.half.table if self.half else ()) if row.name not in known)

    @property
    def reference_runs(self) -> LabelRuns | None:
        """Those of the reference; None where it has no table, or its raters may run nothing."""
        name = self.page.reference if self.page else ""
        return next((one for one in self.runs if one.condition == name and one.labels), None)


def figures_of(study: Study) -> Figures:
    """The study's figures, from the cache where nothing has been said since. Raises NoFigures."""
    key = f"study-figures-{SHAPE}-{study.pk}-{version_of(study)}"
    return cast(Figures, cache.get_or_set(key, partial(compute_study_figures, study), KEPT_SECONDS))


def version_of(study: Study) -> str:
    """A hash that changes with every rating, skip, decision, label, quota, scoring and amendment."""
    assigned = Assignment.objects.filter(enrolment__study=study)
    facts = [
        Rating.objects.filter(assignment__enrolment__study=study).aggregate(last=Max("id"), n=Count("id")),
        assigned.aggregate(n=Count("id"), last=Max("done_at")),
        list(assigned.order_by("state").values_list("state").annotate(n=Count("id"))),
        Adjudication.objects.filter(study_pair__study=study).aggregate(last=Max("id")),
        study.scorings.aggregate(last=Max("id")),
        study.enrolments.aggregate(
            gone=Count("id", filter=Q(excluded=True)), left=Count("left_at"), last=Max("accepted_at")
        ),
        Label.objects.filter(pair__in=study.pairs.values("pair")).aggregate(last=Max("id")),
        Quota.objects.filter(study_pair__study=study).aggregate(wanted=Sum("wanted"), done=Sum("done")),
        [study.name, study.state, study.plan_hash, study.reference, study.margin, study.comparisons],
    ]
    return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()[:20]


def compute_study_figures(study: Study, until: Until | None = None) -> Figures:
    """Gather, draw, compute, of all that was said `until` then; the flow of pairs is that of now.

    Raises NoFigures where nobody has rated anything, or each pair has one rater.
    """
    found = figure_data.gather_figure_data(study, until)
    refuse_figures(found)
    pairwise = study.kind == Study.Kind.PAIRWISE
    rated = {said.enrolment for said in found.said}
    exact = found.by_criterion(Criterion.EXACT)
    given = None if pairwise else figure_data.build_figure_arrays(exact)
    half = (
        figure_data.build_figure_arrays(found.by_criterion(Criterion.HALF))
        if found.has_both_criteria
        else None
    )
    everyone = found.enrolments
    return Figures(
        study=study,
        page=build_agreement_page(given) if given else None,
        preference=estimate_preference(found, everyone) if pairwise else None,
        influence=None if pairwise else compute_reveal_influence(found.by_criterion_of_builds()),
        flow=flow_of(study, len(found.pairs), count_undecided_pairs(found)),
        interim=not found.complete,
        seconds=median_seconds_by_condition(found),
        scorings=tuple(
            figure_data.up_to(
                study.scorings.select_related("annotator", "by"), until.scoring if until else None
            ).order_by("id")
        ),
        unscored=found.unscored,
        profile=profile_of([enrolment for enrolment in everyone if enrolment.pk in rated]),
        chosen=choices_by_condition(found) if pairwise else (),
        unresolved=() if pairwise else list_unresolved_comparisons(found),
        wrong=(wrong_labels(half) if half else {}) | (wrong_labels(given) if given else {}),
        runs=count_label_runs(study, until),
        half=build_agreement_page(half) if half else None,
        criteria=measure_both_criteria(found) if half else (),
        off_criterion=() if half else list_off_criterion(found),
    )


def refuse_figures(found: Gathered) -> None:
    """Raises NoFigures where there is nothing to compute."""
    if not found.said:
        raise NoFigures("Nobody has rated a pair yet: figures appear with the first rating.")
    if found.study.has_single_raters:
        raise NoFigures(
            "Each pair has one rater: there is no agreement and no majority, so no label counts as true. "
            "The ratings are in the export."
        )


def list_unresolved_comparisons(found: Gathered) -> tuple[str, ...]:
    """Why planned comparisons could not be made."""
    _, problems = figure_data.find_planned_comparisons(found)
    return (*problems, *figure_data.find_mixed_comparisons(found))


def list_off_criterion(found: Gathered) -> tuple[str, ...]:
    """The annotators that judge by 50 % match."""
    half = (one for one in found.annotators if criterion_of(one) is Criterion.HALF)
    return tuple(map(format_annotator_name, half))


def compute_reveal_influence(found: Gathered) -> Influence | None:
    """How revealing moved raters; None where nobody looked twice."""
    again = figure_data.collect_label_revisions(found)
    if again is None:
        return None
    return measure_reveal_influence(found.sample, Draws.of(found.sample), again, found.sample.weights)


def median_seconds_by_condition(found: Gathered) -> dict[str, float]:
    """The median active seconds of a blind rating, by condition, of sampled pairs and raters who count."""
    times: dict[str, list[float]] = {}
    rows = Rating.objects.counted().filter(
        assignment__enrolment__study=found.study,
        assignment__study_pair__planted="",
        phase=Rating.Phase.BLIND,
        revision=1,
    )
    for kind, seconds in rows.order_by().values_list("assignment__condition__kind", "seconds"):
        times.setdefault(kind, []).append(seconds)
    return {kind: median(given) for kind, given in sorted(times.items())}


def refuse_to_raters(user: Visitor, study: Study) -> None:
    """Raises NoFigures for whoever rates in the study, until every planned rating is there, and for whoever
    is kept blind for another study with a common pair.
    """
    if not isinstance(user, User):
        return
    other = blind_beside(user, study)
    if other is not None:
        raise NoFigures(
            f"You rate pairs of this study in \u201c{other}\u201d: it opens when that is finished."
        )
    if not Enrolment.objects.filter(study=study, user=user).exists():
        return
    if blind_studies(user).filter(pk=study.pk).exists() or not figure_data.is_complete(study):
        raise NoFigures(
            "You rate in this study: its figures open to you when your part is finished and every planned "
            "rating has been given."
        )


def open_to(user: Visitor, study: Study) -> bool:
    """Whether the person may look at the study's figures, as far as that is a matter of being kept blind."""
    try:
        refuse_to_raters(user, study)
    except NoFigures:
        return False
    return True


def confusion_pairs(study: Study, row: str, cell: int) -> list[tuple[int, float]]:
    """The study pairs (ids) in one cell of a row's confusion matrix, with the part of each that lies there.

    Cells are 0 both say 1, 1 only the row does, 2 only the reference does, 3 neither. Raises NoFigures for a
    row that the table does not have, and for a study that has no such table.
    """
    if study.kind != Study.Kind.RATING:
        raise NoFigures("This study has no main table: nobody rated one pair at a time in it.")
    found = figure_data.gather_figure_data(study)
    for criterion in Criterion:
        made = figure_data.build_figure_arrays(found.by_criterion(criterion))
        labels = next((one for one in made.rows if one.name == row), None)
        if labels is not None:
            cells = made.against(labels).cells[:, cell]
            return [(pair.pk, float(part)) for pair, part in zip(found.pairs, cells, strict=True) if part > 0]
    raise NoFigures("The main table has no such row.")
