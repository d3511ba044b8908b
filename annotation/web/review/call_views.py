"""The box under the code: an expression goes in, its answer is there before the page would have loaded."""

from __future__ import annotations

from typing import Final

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django_htmx.http import trigger_client_event

from annotation import draft_rules
from annotation.accounts.roles import FORM, GET, Role, require_role
from annotation.jobs.wake_up import wake_workers
from annotation.models import CallRequest, Case
from annotation.review.own_runs import assertions, calls
from annotation.review.own_runs.own_tests import TooManyWaiting
from annotation.review.worklists.order import Show
from annotation.web.review.calls import call_page
from annotation.web.review.drafts import window_of
from annotation.web.review.views import address, program_of, to_case, visible_case, visible_cases
from annotation.web.shared.requests import answer, is_fragment, mark_rate_limited, number, person
from sandbox.expression_call import BadExpression

PATIENCE: Final = 1.0
"""Seconds that an answer is waited for before the page says that it is still to come."""


@require_role(Role.EXPERT, FORM)
def call(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask the candidate; what can't be asked is shown again as it was typed. A GET asks nothing."""
    found, user = visible_case(request, pk), person(request)
    if request.method != "POST":
        return to_case(found, Show.WAITING)
    text = request.POST.get("expression", "")
    try:
        asked = calls.request_candidate_call(user, found, text)
    except (BadExpression, TooManyWaiting) as why:
        return mark_rate_limited(show(request, user, found, text, str(why), status=422), why)
    wake_workers()
    if is_fragment(request):
        calls.wait_for_call(asked, PATIENCE)
        return show(request, user, found, asked.expression)
    return HttpResponseRedirect(address("review-answer", asked.pk, case=found.pk))


@require_role(Role.EXPERT, GET)
def answered(request: HttpRequest, pk: int) -> HttpResponse:
    """The answer of one's own call, once it is there, above those before it."""
    user = person(request)
    asked = get_object_or_404(CallRequest, pk=pk, user=user, assignment=None)
    found = case_of(request, asked)
    calls.wait_for_call(asked, PATIENCE)
    return show(request, user, found, asked.expression)


@require_role(Role.EXPERT, FORM)
def assertion(request: HttpRequest, pk: int) -> HttpResponse:
    """Make one's own call an assertion of one's own test; without JavaScript the editor shows it.

    The answer to htmx has no text: its event `asserted` carries the lines, for an editor that is open.
    """
    user = person(request)
    asked = get_object_or_404(CallRequest.objects.select_related("answer"), pk=pk, user=user, assignment=None)
    found = case_of(request, asked)
    if request.method != "POST":
        return to_case(found, Show.WAITING)
    try:
        parent = program_of(found, str(found.program_id))
        added = assertions.add_assertion(user, found, asked, parent, window_of(request))
    except (assertions.NoAssertion, draft_rules.DraftRefused) as why:
        response = show(request, user, found, "", str(why), status=422)
        response["HX-Retarget"], response["HX-Reswap"] = "#calls", "innerHTML"
        return response
    if not is_fragment(request):
        return HttpResponseRedirect(address("review-test", found.pk))
    return show_assertion(added)


def show_assertion(added: assertions.Added) -> HttpResponse:
    """No text: the event `asserted` carries the lines, for an editor that is open."""
    told = {"lines": added.lines, "revision": added.revision, "before": added.before}
    return trigger_client_event(HttpResponse(status=204), "asserted", told)


def case_of(request: HttpRequest, asked: CallRequest) -> Case:
    """The case beside which somebody asked, or the latest visible one of its pair."""
    cases = visible_cases(request).filter(pair=asked.pair_id).order_by("-pk")
    return cases.filter(pk=number(request.GET, "case")).first() or get_object_or_404(cases[:1])


def show(
    request: HttpRequest, user: User, found: Case, text: str, problem: str = "", status: int = 200
) -> HttpResponse:
    page = call_page(user, found, text, problem)
    return answer(request, "annotation/review/call.html", page, fragment="calls", status=status)
