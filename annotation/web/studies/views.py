"""Studies for admins: make one, see what it takes, start it, watch it, change it, export it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.text import slugify

from annotation.accounts.roles import (
    FORM,
    GET,
    Role,
    builds_visible_to,
    has_role,
    refuse_while_blind,
    require_role,
)
from annotation.models import Study
from annotation.studies.adjudication import verified_subset
from annotation.studies.audit_log import Verb, append_audit_event
from annotation.studies.enrolment import raters
from annotation.studies.exposure import mark_seen, pairs_of_study_rows
from annotation.studies.plan import creation
from annotation.studies.plan.control import Action, find_allowed_actions, perform_study_action
from annotation.studies.plan.plan import ChangedMeanwhile, StudyRefused, seen_now
from annotation.studies.plan.ready_guidelines import ensure_ready_guideline
from annotation.studies.report import rating_export
from annotation.studies.report.figures import NoFigures, refuse_to_raters
from annotation.studies.report.records import lines_of_part, record_parts_of_study
from annotation.studies.sampling.sample_order import SampleRefused
from annotation.web.shared.pagination import whole_number
from annotation.web.shared.requests import Answer, action_of, attach, person, render_form, say_refusals
from annotation.web.studies import forecast
from annotation.web.studies.form import TITLES, StudyForm, initial_of
from annotation.web.studies.page import (
    begun_studies_page,
    preview_study_order,
    progress_page,
    studies_page,
    study_page,
)
from annotation.web.studies.starters import STARTERS
from retrieval.texts.plurals import count_noun

DONE: Final = {
    Action.START: "The study runs: its raters can begin.",
    Action.PAUSE: "The study is paused: nobody is given another pair.",
    Action.RESUME: "The study runs again.",
    Action.CLOSE: "The study is closed.",
    Action.DELETE: "The draft is deleted.",
}

TO: Final = "to-"
"""How the buttons begin that lead to another step of the form."""


@require_role(Role.READER, GET)
def index(request: HttpRequest) -> HttpResponse:
    """All studies for admins; for everybody else those that have figures."""
    if not has_role(request.user, Role.ADMIN):
        page = begun_studies_page(person(request), request.GET)
        return render(request, "annotation/studies/begun.html", {"page": page})
    return render(request, "annotation/studies/index.html", {"page": studies_page(request.GET)})


@require_role(Role.ADMIN, FORM)
def new(request: HttpRequest) -> HttpResponse:
    """The form; `step` is preview (what it will take), simulate (how sure it will be), size or save."""
    people = raters.find_rater_candidates(None, person(request))
    return filled_in(request, people, asked_for(request), None)


def asked_for(request: HttpRequest) -> dict[str, Any]:
    """What a link asks for: what the study is for by `?starter=`, and every pair of the build `?build=`."""
    starter = STARTERS.get(request.GET.get("starter", ""))
    values = dict(starter.values) if starter else {}
    found = builds_visible_to(request.user).filter(pk=whole_number(request.GET.get("build", "")), opened=True)
    build = found.select_related("tally").first()
    if build is None:
        return values
    return values | {"builds": [build.pk], "size": build.tally.total // build.rounds, "per_query": 0}


@require_role(Role.ADMIN, FORM)
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """The form of a draft; saving it draws its sample anew."""
    study = study_of(request, pk)
    if study.state != Study.State.DRAFT:
        messages.error(request, "The study has been started: change its parts one by one.")
        return redirect("study", pk=study.pk)
    enrolled = study.enrolments.select_related("user").order_by("user__username")
    people = [rater.user for rater in enrolled] + raters.find_rater_candidates(study, person(request))
    return filled_in(request, people, initial_of(study), study)


def filled_in(
    request: HttpRequest, people: Sequence[User], initial: dict[str, Any], study: Study | None
) -> HttpResponse:
    sent = request.POST or None, request.FILES or None
    form = StudyForm(*sent, user=person(request), people=people, initial=initial)
    outlook = precision = needed = None
    part, is_move = turn_step(request, form)
    seen = seen_in(request) if request.method == "POST" or study is None else seen_now(study)
    if not is_move and form.is_valid():
        try:
            order = form.as_order()
            if request.POST.get("step") == "save":
                return saved(request, with_ready_guideline(request, order, form), study)
            creation.refuse_bad_order(order, study)
            outlook = preview_study_order(order)
            step = request.POST.get("step")
            refuse_pilot(request, order)
            precision = forecast.forecast_study_precision(order, outlook) if step == "simulate" else None
            needed = forecast.forecast_study_size(order, outlook) if step == "size" else None
        except (StudyRefused, SampleRefused, NoFigures) as why:
            form.add_error(None, str(why))
            seen = seen_now(study) if study and isinstance(why, ChangedMeanwhile) else seen
    part = part if is_move else form.first_wrong_part or part
    told: dict[str, Any] = {
        "outlook": outlook,
        "precision": precision,
        "needed": needed,
        "part": part,
        "titles": TITLES,
    }
    told["starters"] = STARTERS if study is None and request.method == "GET" else {}
    return render_form(request, "annotation/studies/new.html", form, study=study, seen=seen, **told)


def turn_step(request: HttpRequest, form: StudyForm) -> tuple[int, bool]:
    """The step to show, and whether that is all that is asked. What was typed stays.

    Somebody who goes on first mends what is wrong in the step that they leave.
    """
    step = request.POST.get("step", "")
    if request.method != "POST":
        return min(TITLES), False
    if not step.startswith(TO):
        return max(TITLES), False
    now, wanted = whole_number(request.POST.get("part", "")), whole_number(step.removeprefix(TO))
    wanted = min(max(wanted, min(TITLES)), max(TITLES))
    form.keep_errors_of(now if wanted > now else 0)
    return (now if form.errors else wanted), True


def with_ready_guideline(request: HttpRequest, order: creation.Order, form: StudyForm) -> creation.Order:
    """The order with the ready guidelines that were chosen, where none of one's own were."""
    ready = form.cleaned_data["ready"]
    if not ready or order.guideline is not None:
        return order
    return replace(order, guideline=ensure_ready_guideline(ready, person(request)))


def refuse_pilot(request: HttpRequest, order: creation.Order) -> None:
    """A pilot's rates are its figures. Raises NoFigures for those to whom these are closed."""
    pilot = Study.objects.filter(pk=order.rates.pilot).first() if order.rates.pilot else None
    if pilot is not None:
        refuse_to_raters(request.user, pilot)


def seen_in(request: HttpRequest) -> int:
    """The study's last change that the form was filled in beside; -1 where it does not say."""
    return whole_number(request.POST.get("seen", ""))


def saved(request: HttpRequest, order: creation.Order, study: Study | None) -> HttpResponse:
    if study is None:
        study = creation.create_draft_study(order, person(request))
    else:
        creation.redraw_draft_study(study, order, person(request), seen_in(request))
    messages.success(request, "The draft is saved. Nobody is asked anything before you start it.")
    return redirect("study", pk=study.pk)


@require_role(Role.ADMIN, GET)
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    return show(request, study_of(request, pk))


def show(request: HttpRequest, study: Study, problem: str = "") -> HttpResponse:
    """The study's page, with what was sent to change its raters and the `problem` of it."""
    others = raters.find_rater_candidates(study, person(request)) if study.is_live else []
    context = {"page": study_page(study), "others": others, "sent": request.POST, "problem": problem}
    return render(request, "annotation/studies/detail.html", context, status=422 if problem else 200)


@require_role(Role.ADMIN, GET)
def progress(request: HttpRequest, pk: int) -> HttpResponse:
    """The fragment that a running study's page asks for again and again."""
    page = progress_page(study_of(request, pk))
    return render(request, "annotation/studies/detail.html#progress", {"now": page})


@require_role(Role.ADMIN, FORM)
def control(request: HttpRequest, pk: int) -> HttpResponse:
    """GET asks once more, POST does it; what is refused is said where it can be mended."""
    study, action = study_of(request, pk), action_of(request, Action)
    if request.method != "POST":
        return asked_once_more(request, study, action)
    try:
        perform_study_action(study, action, person(request), request.POST.get("reason", ""))
    except StudyRefused as why:
        study.refresh_from_db()
        if action is Action.CLOSE and action in find_allowed_actions(study):
            return asked_once_more(request, study, action, str(why))
        messages.error(request, str(why))
        return redirect("study", pk=study.pk)
    messages.success(request, DONE[action])
    return redirect("studies") if action is Action.DELETE else redirect("study", pk=study.pk)


def asked_once_more(request: HttpRequest, study: Study, action: Action, problem: str = "") -> HttpResponse:
    context = {"study": study, "action": action, "problem": problem}
    return render(request, "annotation/studies/control.html", context, status=422 if problem else 200)


@require_role(Role.ADMIN, FORM)
def publish(request: HttpRequest, pk: int) -> HttpResponse:
    """GET shows how many labels there are, or why there can be none yet; POST publishes them."""
    study = study_of(request, pk)
    if request.method != "POST":
        return render(request, "annotation/studies/publish.html", {"study": study, **to_publish(study)})
    with say_refusals(request, StudyRefused):
        number = verified_subset.publish_verified_subset(study, person(request))
        labels = count_noun(number, "label is", "labels are")
        messages.success(request, f"{labels} published as the study's own annotator.")
    return redirect("study", pk=study.pk)


def to_publish(study: Study) -> dict[str, Any]:
    try:
        found = verified_subset.require_publishable_verdicts(study)
    except StudyRefused as why:
        return {"why": str(why)}
    counts = {by: sum(verdict.by == by for verdict in found) for by in ("majority", "adjudication")}
    return {"counts": counts, "undecided": verified_subset.count_undecided_samples(study)}


@require_role(Role.ADMIN, GET)
def plan(request: HttpRequest, pk: int) -> HttpResponse:
    """The plan as a file: `format=json` (the text that is hashed) or `format=md`."""
    study = study_of(request, pk)
    if request.GET.get("format") == "md":
        text, kind, ending = rating_export.plan_markdown(study, study.amendments.all()), "text/markdown", "md"
    else:
        text, kind, ending = rating_export.plan_json(study), "application/json", "json"
    append_audit_event(request.user, Verb.EXPORTED, f"plan of {study.name}", study, {"format": ending})
    return named(HttpResponse(text, content_type=f"{kind}; charset=utf-8"), study, "plan", ending)


@require_role(Role.ADMIN, GET)
def ratings(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Every revision of every rating, or `part=skips`, `part=decisions`: `format=csv` or `format=json`.

    Of labels from elsewhere there is `part=labels` alone.
    """
    refuse_while_blind(request.user)
    study = study_of(request, pk)
    parts = record_parts_of_study(study)
    part = request.GET.get("part", next(iter(parts)))
    if part not in parts:
        return no_export(request, study, f"What can be exported of this study is {', '.join(parts)}.")
    wants_json = request.GET.get("format") == "json"
    ending, kind = ("json", "application/json") if wants_json else ("csv", "text/csv")
    with transaction.atomic():
        append_audit_event(request.user, Verb.EXPORTED, f"{part} of {study.name}", study, {"format": ending})
        mark_seen(request.user, pairs_of_study_rows(study.pairs.all()))
    lines = lines_of_part(study, parts[part], wants_json)
    return named(StreamingHttpResponse(lines, content_type=f"{kind}; charset=utf-8"), study, part, ending)


def no_export(request: HttpRequest, study: Study, why: str) -> HttpResponse:
    """Not found, with the words: the address was typed or is old, and there is another one."""
    return render(request, "annotation/studies/no_export.html", {"study": study, "why": why}, status=404)


def named(response: Answer, study: Study, what: str, ending: str) -> Answer:
    return attach(response, f"{slugify(study.name)[:60] or 'study'}-{what}.{ending}")


def study_of(request: HttpRequest, pk: int) -> Study:
    """The study. Raises Http404; PermissionDenied for those who rate in it until it is closed."""
    study = get_object_or_404(Study.objects.select_related("created_by", "guideline"), pk=pk)
    if raters.rates_in(person(request), study):
        raise PermissionDenied(
            f"You rate in the study “{study.name}”: its page is closed to you until it is closed."
        )
    return study
