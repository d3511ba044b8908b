"""What tests are worth: their strength, and how they end beside a query's other candidates."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from annotation.accounts.roles import FORM, GET, Role, builds_visible_to, require_role
from annotation.jobs.wake_up import wake_workers
from annotation.models import Case, ExecutionRequest, TestProgram, Trial
from annotation.review.own_runs import cross_tests
from annotation.review.own_runs.own_tests import TooManyWaiting
from annotation.review.own_runs.strength import NothingToChange, ask_strength
from annotation.studies.exposure import mark_seen
from annotation.web.browse.views import build_of, query_of
from annotation.web.cases.cross_tests import grid_view
from annotation.web.cases.test_strength import StrengthPage, strength_page, trial_page
from annotation.web.shared.requests import is_fragment, mark_rate_limited, person

FRAGMENT = "annotation/executions/_strength.html"


@require_role(Role.EXPERT, FORM)
def strength(request: HttpRequest, pk: int) -> HttpResponse:
    """How strong one test is; a POST asks for its runs beside mutants of its candidate."""
    user = person(request)
    related = "source", "author", "pair__query", "pair__snippet__body"
    program = get_object_or_404(programs_visible_to(user).select_related(*related), pk=pk)
    case = case_of(user, program)
    if case is not None:
        mark_seen(user, [program.pair_id])
    refused: Exception | None = None
    if request.method == "POST":
        try:
            ask_strength(user, program, needed_by(program, case))
        except (NothingToChange, TooManyWaiting) as why:
            refused = why
        else:
            wake_workers()
            if not is_fragment(request):
                return HttpResponseRedirect(reverse("review-strength", args=[pk]))
    page = strength_page(user, program, case.pk if case else None, str(refused or ""))
    return show_strength(request, page, refused)


def show_strength(request: HttpRequest, page: StrengthPage, refused: Exception | None) -> HttpResponse:
    """The page of a test's strength, or for htmx the part of it; `refused` says why no run was asked for."""
    if is_fragment(request):
        return mark_rate_limited(render(request, FRAGMENT, {"view": page.view}), refused)
    status = 422 if refused else 200
    return mark_rate_limited(
        render(request, "annotation/cases/strength.html", {"page": page}, status=status), refused
    )


@require_role(Role.EXPERT, GET)
def trial(request: HttpRequest, pk: int) -> HttpResponse:
    """One run of a test beside a mutant, or beside another candidate."""
    user = person(request)
    related = "program__source", "program__author", "program__pair__query", "snippet__body", "mutant__source"
    rows = Trial.objects.filter(program__in=programs_visible_to(user)).select_related(
        *related, "execution__report"
    )
    found = get_object_or_404(rows, pk=pk)
    beside = cases_visible_to(user).filter(query=found.program.pair.query_id, pair__snippet=found.snippet_id)
    if found.user_id != user.pk:
        get_object_or_404(beside[:1])
    mark_seen(user, beside.values_list("pair", flat=True))
    return render(request, "annotation/cases/trial.html", {"page": trial_page(found)})


@require_role(Role.EXPERT, FORM)
def crossing(request: HttpRequest, build_pk: int, query_pk: int) -> HttpResponse:
    """One query's tests beside all of its candidates; a POST asks for the runs that are not known."""
    build = build_of(builds_visible_to(request.user), build_pk)
    query, user = query_of(build, query_pk), person(request)
    grid = cross_tests.of_query(build, query)
    refused: Exception | None = None
    mark_seen(user, [candidate.case.pair_id for candidate in grid.candidates if candidate.case])
    if request.method == "POST":
        try:
            cross_tests.ask_grid(user, grid)
        except TooManyWaiting as why:
            refused = why
        else:
            wake_workers()
            if not is_fragment(request):
                return HttpResponseRedirect(reverse("crossing", args=[build_pk, query_pk]))
            grid = cross_tests.of_query(build, query)
    page = {"build": build, "query": query, "grid": grid_view(grid), "problem": str(refused or "")}
    name = "annotation/cases/_crossing.html" if is_fragment(request) else "annotation/cases/crossing.html"
    status = 422 if refused and not is_fragment(request) else 200
    return mark_rate_limited(render(request, name, {"page": page}, status=status), refused)


def cases_visible_to(user: User) -> QuerySet[Case]:
    return Case.objects.filter(build__in=builds_visible_to(user))


def programs_visible_to(user: User) -> QuerySet[TestProgram]:
    """Those of plain review on pairs of visible builds. What raters wrote is under the pages of its study."""
    seen = Exists(cases_visible_to(user).filter(pair=OuterRef("pair")))
    return TestProgram.objects.filter(seen, assignment=None)


def case_of(user: User, program: TestProgram) -> Case | None:
    """The case that the program belongs to: one that has it, else the newest of its pair."""
    cases = cases_visible_to(user).filter(pair=program.pair_id).order_by("-pk")
    return cases.filter(program=program).first() or cases.first()


def needed_by(program: TestProgram, case: Case | None) -> list[str]:
    """What must be installed: as in the program's last run, else as for its case."""
    asked = ExecutionRequest.objects.filter(program=program).order_by("-pk").first()
    if asked is not None:
        return [str(name) for name in asked.dependencies]
    return [str(name) for name in case.dependencies] if case else []
