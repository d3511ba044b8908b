"""Change a study that has been started: its plan, its raters, and which pairs are asked again."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access import Role, needs
from annotation.models import Enrolment, Study
from annotation.pages.paging import whole_number
from annotation.pages.studies_changes import AgainForm, AmendForm
from annotation.studies import asking_again, enrolling, planning, unfilled
from annotation.studies.auditing import Verb, record
from annotation.studies.planning import ChangedMeanwhile, StudyRefused
from annotation.views.studies import person, seen_in, show, study_of
from retrieval.counting import counted
from retrieval.hostile import clean


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
def amend(request: HttpRequest, pk: int) -> HttpResponse:
    """Change what may still change; once the plan is frozen, with a reason."""
    study = study_of(request, pk)
    form = AmendForm(request.POST or None, study=study)
    seen = seen_in(request) if request.method == "POST" else planning.seen_now(study)
    if form.is_valid():
        why = clean(form.cleaned_data["why"])
        try:
            with planning.changing(study, why, person(request)) as row:
                planning.refuse_if_changed(row, seen)
                form.apply(row)
                record(
                    request.user, Verb.STUDY_CHANGED, row.name, row, {"why": why, "parts": form.changed_data}
                )
        except ChangedMeanwhile as refused:
            form.add_error(None, f"{refused} {form.standing()}")
            seen = planning.seen_now(study)
        except StudyRefused as refused:
            form.add_error(None, str(refused))
        else:
            messages.success(request, "The study is changed.")
            return redirect("study", pk=study.pk)
    context = {"form": form, "study": study, "seen": seen}
    return render(request, "annotation/study_amend.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
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
    do, why = request.POST.get("do", ""), clean(request.POST.get("why", ""))[: planning.LONGEST_WHY]
    capacity = whole_number(request.POST.get("capacity", ""))
    if do == "add":
        user = get_object_or_404(User, pk=whole_number(request.POST.get("user", "")))
        condition = get_object_or_404(study.conditions, kind=request.POST.get("condition", ""))
        made = enrolling.add(study, user, condition, capacity, why, person(request))
        return f"{user} is enrolled as {made.pseudonym}."
    rater = get_object_or_404(study.enrolments, pk=whole_number(request.POST.get("rater", "")))
    if do == "capacity":
        enrolling.change_capacity(rater, capacity, why, person(request))
        return f"{rater.pseudonym} can be given {capacity:,} pairs."
    if do == "include":
        return included(rater, why, person(request))
    if do != "remove":
        raise StudyRefused("Choose what is to be done with the rater.")
    freed = enrolling.remove(rater, why, person(request), exclude="exclude" in request.POST)
    free = f" {counted(freed, 'place')} of theirs can be taken by others." if freed else ""
    return f"{rater.pseudonym} is given nothing more; their ratings stay.{free}"


def included(rater: Enrolment, why: str, by: User) -> str:
    """Raises StudyRefused."""
    found = enrolling.include(rater, why, by)
    taken = (
        f" The places of {found.taken:,} were taken meanwhile: those stay left out." if found.taken else ""
    )
    count = "counts" if found.counted == 1 else "count"
    return f"{counted(found.counted, 'rating')} of {rater.pseudonym} {count} again.{taken}"


@require_http_methods(["GET", "HEAD", "POST"])
@needs(Role.ADMIN)
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
        count = asking_again.chosen(study, form.choice()).count()
        takers = asking_again.takers(study, form.choice())
        if step != "count":
            try:
                why = clean(form.cleaned_data["why"])
                number = asking_again.ask_again(study, form.choice(), why, person(request))
            except StudyRefused as refused:
                form.add_error(None, str(refused))
            else:
                asked = counted(number, "pair is", "pairs are")
                messages.success(request, f"{asked} asked again, blind.")
                return redirect("study", pk=study.pk)
    context = {"form": form, "study": study, "count": count, "takers": takers}
    return render(request, "annotation/study_again.html", context, status=422 if form.errors else 200)


def given_up(request: HttpRequest, study: Study) -> HttpResponse:
    try:
        number = unfilled.give_up(study, request.POST.get("why", ""), person(request))
    except StudyRefused as why:
        messages.error(request, str(why))
    else:
        ratings = counted(number, "planned rating is", "planned ratings are")
        messages.success(request, f"{ratings} waited for no more.")
    return redirect("study", pk=study.pk)
