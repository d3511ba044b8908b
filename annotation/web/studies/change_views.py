"""Change a study that has been started: its plan, its raters, and which pairs are asked again."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from annotation.accounts.roles import FORM, Role, require_role
from annotation.models import Enrolment, Study
from annotation.studies.enrolment import repeat_rounds, unfilled_places
from annotation.studies.enrolment.raters import (
    add_rater,
    change_capacity,
    include_excluded_rater,
    remove_rater,
)
from annotation.studies.plan import plan
from annotation.studies.plan.plan import ChangedMeanwhile, StudyRefused
from annotation.web.shared.pagination import whole_number
from annotation.web.shared.requests import person, render_form, say_refusals
from annotation.web.studies.change_forms import AgainForm, AmendForm
from annotation.web.studies.views import seen_in, show, study_of
from retrieval.texts.hostile import mark_hostile_characters
from retrieval.texts.plurals import count_noun


@require_role(Role.ADMIN, FORM)
def amend(request: HttpRequest, pk: int) -> HttpResponse:
    """Change what may still change; once the plan is frozen, with a reason."""
    study = study_of(request, pk)
    form = AmendForm(request.POST or None, study=study)
    seen = seen_in(request) if request.method == "POST" else plan.seen_now(study)
    if form.is_valid():
        try:
            form.amend(seen, person(request))
        except ChangedMeanwhile as refused:
            form.add_error(None, f"{refused} {form.standing()}")
            seen = plan.seen_now(study)
        except StudyRefused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, "The study is changed.")
            return redirect("study", pk=study.pk)
    return render_form(request, "annotation/studies/amend.html", form, study=study, seen=seen)


@require_role(Role.ADMIN, FORM)
def raters(request: HttpRequest, pk: int) -> HttpResponse:
    """`do` is add, capacity, remove or include; what is refused is shown again as it was sent.

    A GET changes nothing: it is somebody who reloads the address of a form that was shown again.
    """
    study = study_of(request, pk)
    if request.method != "POST":
        return redirect("study", pk=study.pk)
    try:
        said = changed(request, study)
    except StudyRefused as why:
        return show(request, study_of(request, pk), str(why))
    messages.success(request, said)
    return redirect("study", pk=study.pk)


def changed(request: HttpRequest, study: Study) -> str:
    """Do what the form asks for and say so. Raises StudyRefused, Http404."""
    do, why = (
        request.POST.get("do", ""),
        mark_hostile_characters(request.POST.get("reason", ""))[: plan.LONGEST_WHY],
    )
    capacity = whole_number(request.POST.get("capacity", ""))
    if do == "add":
        user = get_object_or_404(User, pk=whole_number(request.POST.get("user", "")))
        condition = get_object_or_404(study.conditions, kind=request.POST.get("condition", ""))
        made = add_rater(study, user, condition, capacity, why, person(request))
        return f"{user} is enrolled as {made.pseudonym}."
    rater = get_object_or_404(study.enrolments, pk=whole_number(request.POST.get("rater", "")))
    if do == "capacity":
        change_capacity(rater, capacity, why, person(request))
        return f"{rater.pseudonym} can be given {capacity:,} pairs."
    if do == "include":
        return included(rater, why, person(request))
    if do != "remove":
        raise StudyRefused("Choose what is to be done with the rater.")
    freed = remove_rater(rater, why, person(request), exclude="exclude" in request.POST)
    free = f" {count_noun(freed, 'place')} can now be taken by others." if freed else ""
    return f"{rater.pseudonym} is given nothing more; their ratings stay.{free}"


def included(rater: Enrolment, why: str, by: User) -> str:
    """Raises StudyRefused."""
    found = include_excluded_rater(rater, why, by)
    taken = (
        f" The places of {found.taken:,} were taken meanwhile: those stay left out." if found.taken else ""
    )
    count = "counts" if found.counted == 1 else "count"
    return f"{count_noun(found.counted, 'rating')} of {rater.pseudonym} {count} again.{taken}"


@require_role(Role.ADMIN, FORM)
def again(request: HttpRequest, pk: int) -> HttpResponse:
    """`step=count` says how many pairs a choice has and who could take them; else they are asked again.

    `step=give_up` wants no more of the ratings that nobody can give.
    """
    study, step = study_of(request, pk), request.POST.get("step", "")
    if step == "give_up":
        return given_up(request, study)
    form = AgainForm(request.POST or None, study=study)
    count, takers = None, []
    if form.is_valid():
        count = repeat_rounds.find_pairs_to_repeat(study, form.choice()).count()
        takers = repeat_rounds.find_repeat_takers(study, form.choice())
        if step != "count":
            try:
                why = mark_hostile_characters(form.cleaned_data["reason"])
                number = repeat_rounds.ask_again(study, form.choice(), why, person(request))
            except StudyRefused as refused:
                form.add_error(None, str(refused))
            else:
                asked = count_noun(number, "pair is", "pairs are")
                messages.success(request, f"{asked} asked again, blind.")
                return redirect("study", pk=study.pk)
    return render_form(
        request, "annotation/studies/again.html", form, study=study, count=count, takers=takers
    )


def given_up(request: HttpRequest, study: Study) -> HttpResponse:
    with say_refusals(request, StudyRefused):
        number = unfilled_places.give_up(study, request.POST.get("reason", ""), person(request))
        ratings = count_noun(number, "planned rating was", "planned ratings were")
        messages.success(request, f"{ratings} dropped.")
    return redirect("study", pk=study.pk)
