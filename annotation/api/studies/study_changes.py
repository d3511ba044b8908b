"""Change studies: draw a draft again, amend a plan, change raters, ask again, score on a sealed study."""

from __future__ import annotations

from dataclasses import asdict, is_dataclass
from typing import Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router, Status

from annotation.accounts.roles import Role, builds_visible_to
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.api.shared.form_refusals import form_values, refuse_invalid
from annotation.api.studies.studies import study_detail, study_of
from annotation.models import Enrolment, Study
from annotation.schemas.studies.studies import StudyDetail
from annotation.schemas.studies.study_changes import (
    AddRaterIn,
    AmendIn,
    GivenUp,
    GiveUpIn,
    RaterChanged,
    RaterChangeIn,
    RaterOut,
    RedrawIn,
    RepeatChoice,
    Repeated,
    RepeatEstimate,
    RepeatIn,
    ScoresOut,
    SealedScoreIn,
    StudyEstimateIn,
    StudyEstimateOut,
    TakersOut,
)
from annotation.studies.adjudication import sealed_scores
from annotation.studies.enrolment import raters, repeat_rounds, unfilled_places
from annotation.studies.plan import creation
from annotation.studies.plan.effort import StudyOutlook
from annotation.studies.plan.order_json import guideline_of, order_of, raters_of
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.report.figure_data import find_unscored_versions
from annotation.studies.report.figures import refuse_to_raters
from annotation.web.studies import forecast
from annotation.web.studies.change_forms import AMENDED, AgainForm, AmendForm, format_comparisons
from annotation.web.studies.page import preview_study_order
from annotation.web.studies.views import refuse_pilot
from retrieval.models import Annotator
from retrieval.schemas import Id, Page, Paging

router = Router(tags=["studies"], auth=signed_in(Role.ADMIN))


@router.post("/estimate", response=StudyEstimateOut)
def estimate_study(request: HttpRequest, wanted: StudyEstimateIn) -> StudyEstimateOut:
    """What a study would take, and how sure it would be; nothing is stored. For admins."""
    order = order_of(wanted, builds_visible_to(request.user))
    creation.refuse_bad_order(order)
    refuse_pilot(request, order)
    outlook = preview_study_order(order)
    simulated = simulate_study(order, outlook, wanted.simulate)
    return StudyEstimateOut.model_validate({"outlook": outlook, "simulated": simulated})


def simulate_study(order: creation.Order, outlook: StudyOutlook, what: str) -> dict[str, Any] | None:
    """What the page tells of a simulation, as plain data. Raises StudyRefused."""
    if what == "nothing":
        return None
    simulate = forecast.forecast_study_precision if what == "precision" else forecast.forecast_study_size
    return {
        name: asdict(told) if is_dataclass(told) and not isinstance(told, type) else told
        for name, told in simulate(order, outlook).items()
    }


@router.post("/{int:pk}/redraw", response=StudyDetail)
def redraw_study(request: HttpRequest, pk: Path[Id], wanted: RedrawIn) -> StudyDetail:
    """Replace a draft by one of another order, with a new draw. For admins."""
    study, order = study_of(request, pk), order_of(wanted, builds_visible_to(request.user))
    creation.redraw_draft_study(study, order, visible.caller(request), wanted.seen_change)
    return study_detail(study)


@router.post("/{int:pk}/amendments", response=StudyDetail)
def amend_study(request: HttpRequest, pk: Path[Id], wanted: AmendIn) -> StudyDetail:
    """Change what a plan may still say otherwise; once it is frozen, as an amendment. For admins."""
    study = study_of(request, pk)
    sent = wanted.dict(exclude_unset=True, exclude={"seen_change"})
    if "guideline" in sent:
        sent["guideline"] = guideline_of(wanted.guideline)
    if "comparisons" in sent:
        sent["comparisons"] = format_comparisons(wanted.comparisons)
    values = {name: getattr(study, name) for name in AMENDED}
    values |= {"comparisons": format_comparisons(study.comparisons), **sent}
    values["guideline"] = values["guideline"] and values["guideline"].pk
    form = AmendForm(form_values(values), study=study)
    refuse_invalid(form)
    form.amend(wanted.seen_change, visible.caller(request))
    return study_detail(study_of(request, pk))


@router.get("/{int:pk}/raters", response=Page[RaterOut])
def list_raters(request: HttpRequest, pk: Path[Id], wanted: Query[Paging]) -> Page[Enrolment]:
    """The raters of a study, with their accounts and their pseudonyms. For admins."""
    rows = raters.load_rater_progress(study_of(request, pk)).filter(pk__gt=wanted.after or 0)
    return wanted.page(rows.order_by("pk"))


@router.post("/{int:pk}/raters", response={201: RaterOut})
def add_rater(request: HttpRequest, pk: Path[Id], wanted: AddRaterIn) -> Status[Enrolment]:
    """Enrol another rater, also while the study runs. For admins."""
    study, (wish,) = study_of(request, pk), raters_of([wanted])
    condition = study.conditions.filter(kind=wanted.condition).first()
    if condition is None:
        raise StudyRefused(f"The study has no condition {wanted.condition}.")
    by = visible.caller(request)
    made = raters.add_rater(study, wish.user, condition, wanted.capacity, wanted.reason, by)
    return Status(201, raters.load_rater_progress(study).get(pk=made.pk))


@router.post("/{int:pk}/raters/{int:rater}/changes", response=RaterChanged)
def change_rater(request: HttpRequest, pk: Path[Id], rater: Path[Id], wanted: RaterChangeIn) -> RaterChanged:
    """Give a rater more or fewer pairs, let one go, or let an excluded one count again. For admins."""
    study, by = study_of(request, pk), visible.caller(request)
    changed = get_object_or_404(study.enrolments, pk=rater)
    told = {"freed": 0, "counted": 0, "taken": 0}
    if wanted.action == "capacity":
        raters.change_capacity(changed, wanted.capacity or 0, wanted.reason, by)
    elif wanted.action == "include":
        back = raters.include_excluded_rater(changed, wanted.reason, by)
        told |= {"counted": back.counted, "taken": back.taken}
    else:
        told["freed"] = raters.remove_rater(changed, wanted.reason, by, exclude=wanted.exclude)
    now = raters.load_rater_progress(study).filter(pk=rater).first()
    return RaterChanged.model_validate({**told, "rater": now})


@router.post("/{int:pk}/again/estimate", response=RepeatEstimate)
def estimate_repeat(request: HttpRequest, pk: Path[Id], wanted: RepeatChoice) -> RepeatEstimate:
    """How many rated pairs a choice has, and who could take them once more. For admins."""
    study = study_of(request, pk)
    chosen = repeat_choice(study, wanted, step="count")
    takers = [TakersOut.of(row) for row in repeat_rounds.find_repeat_takers(study, chosen)]
    return RepeatEstimate(pairs=repeat_rounds.find_pairs_to_repeat(study, chosen).count(), takers=takers)


@router.post("/{int:pk}/again", response=Repeated)
def repeat_pairs(request: HttpRequest, pk: Path[Id], wanted: RepeatIn) -> Repeated:
    """Have rated pairs asked again, blind, in another round. For admins."""
    study = study_of(request, pk)
    chosen = repeat_choice(study, wanted)
    number = repeat_rounds.ask_again(study, chosen, wanted.reason, visible.caller(request))
    return Repeated(pairs=number)


def repeat_choice(study: Study, wanted: RepeatChoice, step: str = "") -> repeat_rounds.RepeatPairFilter:
    """What the page's form makes of it. Raises InvalidValues."""
    form = AgainForm(form_values({**wanted.dict(), "step": step}), study=study)
    refuse_invalid(form)
    return form.choice()


@router.post("/{int:pk}/give-up", response=GivenUp)
def give_up_ratings(request: HttpRequest, pk: Path[Id], wanted: GiveUpIn) -> GivenUp:
    """Wait no more for planned ratings that nobody can give. For admins."""
    number = unfilled_places.give_up(study_of(request, pk), wanted.reason, visible.caller(request))
    return GivenUp(ratings=number)


@router.get("/{int:pk}/scores", response=ScoresOut)
def get_study_scores(request: HttpRequest, pk: Path[Id]) -> ScoresOut:
    """The annotator versions that are scored on a sealed study, and those that wait. For admins."""
    return scores_of(open_to_scores(request, pk))


@router.post("/{int:pk}/scores", response={201: ScoresOut})
def score_study(request: HttpRequest, pk: Path[Id], wanted: SealedScoreIn) -> Status[ScoresOut]:
    """Take annotator versions into the figures of a sealed study, for ever. For admins."""
    study = open_to_scores(request, pk)
    chosen = find_waiting_versions(study, wanted.versions)
    sealed_scores.score_sealed_versions(study, chosen, visible.caller(request))
    return Status(201, scores_of(study))


def open_to_scores(request: HttpRequest, pk: int) -> Study:
    """Raises Http404, PermissionDenied, and NoFigures where the caller may not see the study's figures."""
    study = study_of(request, pk)
    refuse_to_raters(request.user, study)
    return study


def find_waiting_versions(study: Study, wanted: list[int | str]) -> list[Annotator]:
    """Those that are named, each once. Raises StudyRefused."""
    waiting = {version.pk: version for version in find_unscored_versions(study)}
    names = [name for name in wanted if isinstance(name, str)]
    found = sealed_scores.find_unscored_versions(study, names) if names else []
    for pk in (key for key in wanted if isinstance(key, int)):
        if pk not in waiting:
            raise StudyRefused(f"No version that waits to be scored has the id {pk}.")
        found.append(waiting[pk])
    return list({version.pk: version for version in found}.values())


def scores_of(study: Study) -> ScoresOut:
    scored = Annotator.objects.filter(pk__in=study.scorings.values("annotator")).order_by("pk")
    return ScoresOut.model_validate({"waiting": find_unscored_versions(study), "scored": list(scored)})
