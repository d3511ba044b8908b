"""The expert's queue of written functions: translate the request, call once, translate back."""

from __future__ import annotations

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from annotation.accounts.roles import FORM, GET, POST, Role, jobs_visible_to, require_role
from annotation.derived.missing_functions import function_decisions, function_edits
from annotation.derived.missing_functions.function_decisions import (
    BadDecision,
    DecidedMeanwhile,
    ProposalChoice,
)
from annotation.jobs.wake_up import wake_workers
from annotation.models import Case, Draft, Filling, Proposal
from annotation.review import NothingToUndo, drafts
from annotation.studies.exposure import mark_counts_seen, mark_seen
from annotation.web.missing_functions import proposals
from annotation.web.missing_functions.proposals import UnsavedProposal
from annotation.web.review.drafts import keep_quietly, kept, refused, window_of
from annotation.web.shared.pagination import whole_number
from annotation.web.shared.requests import answer, mark_rate_limited, number, person, say_refusals
from retrieval.models import Text


@require_role(Role.EXPERT, GET)
def listed(request: HttpRequest, pk: int) -> HttpResponse:
    """All functions of one job."""
    filling = get_object_or_404(fillings(request).select_related("build", "of"), pk=pk)
    lines = proposals.build_filling_lines(filling)
    mark_seen(request.user, [line.case.pair_id for line, *_ in lines if line.case])
    note_without_match(request, filling, [line.query_id for line, *_ in lines])
    context = {"filling": filling, "lines": lines, "most": proposals.MOST_LISTED}
    return render(request, "annotation/missing_functions/proposals_listed.html", context)


@require_role(Role.EXPERT, GET)
def following(request: HttpRequest, pk: int) -> HttpResponse:
    """To the function after `?after=` or before `?before=` that waits; the end of a queue has a page."""
    filling = get_object_or_404(fillings(request).select_related("of", "build__tally"), pk=pk)
    if "before" in request.GET:
        found = function_decisions.find_previous_proposal(filling, whole_number(request.GET["before"]))
    else:
        found = function_decisions.next_of(filling, whole_number(request.GET.get("after", "")))
    if found is not None:
        return to_proposal(found)
    page = proposals.nothing_waits(person(request), filling)
    return answer(
        request,
        "annotation/missing_functions/proposals_done.html",
        page,
        pushed=reverse("proposals-next", args=[pk]),
    )


@require_role(Role.EXPERT, GET)
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One function with its check; with `?edit=1` its code stands in a field."""
    return show(request, visible(request, pk), editing_it="edit" in request.GET)


@require_role(Role.EXPERT, FORM)
def decide(request: HttpRequest, pk: int) -> HttpResponse:
    """Store one decision and go on; what can't be stored is shown again as it was typed."""
    found, sent = visible(request, pk), request.POST
    if request.method != "POST":
        return to_proposal(found)  # somebody reloads the address of a form that was shown again
    choice = ProposalChoice(sent.get("action", ""), sent.get("reason", ""), sent.get("code", ""))
    edits = choice.action == "edit"
    try:
        made = function_decisions.decide_proposal(
            person(request), found, choice, number(sent, "seen_revision"), window_of(request)
        )
    except (BadDecision, function_edits.TooManyWaiting) as why:
        return show(request, found, edits, UnsavedProposal(choice, str(why)), status=422)
    except DecidedMeanwhile as conflict:
        return show(
            request, visible(request, pk), edits, UnsavedProposal(choice, conflict=conflict), status=409
        )
    wake_workers()
    messages.success(request, f"{made.get_action_display().capitalize()}. Undo is next to the decision.")
    after = function_decisions.next_of(found.filling, found.pk)
    return to_proposal(after) if after else redirect("proposals-next", pk=found.filling_id)


@require_role(Role.EXPERT, POST)
def undo(request: HttpRequest, pk: int) -> HttpResponse:
    """Take back the standing decision about a function, and go to it."""
    found = visible(request, pk)
    with say_refusals(request, NothingToUndo, DecidedMeanwhile):
        function_decisions.undo_proposal_decision(
            person(request), found, number(request.POST, "seen_revision")
        )
        messages.success(request, "Undone. The function waits for a decision again.")
    return to_proposal(found)


@require_role(Role.EXPERT, POST)
def draft(request: HttpRequest, pk: int) -> HttpResponse:
    """Keep what is being typed; 204, 409 with what another window has kept, or 400 with what is wrong."""
    found, field = visible(request, pk), request.POST.get("field", "")
    if field not in (Draft.Field.REASON, Draft.Field.CODE) or found.case is None:
        return refused("A draft is of the field reason or code.")
    if found.state != Proposal.State.WRITTEN:
        return refused("Somebody has decided on this function. Your text is kept in this browser only.")
    user, pair, text = person(request), found.case.pair_id, request.POST.get("text", "")
    return kept(lambda: drafts.save_draft(user, pair, field, text, window_of(request)))


@require_role(Role.EXPERT, POST)
def run(request: HttpRequest, pk: int) -> HttpResponse:
    """Run the function's test beside the edit that was sent; the edit is kept as a draft."""
    found, user, code = visible(request, pk), person(request), request.POST.get("code", "")
    if found.case is not None:
        pair = found.case.pair_id
        keep_quietly(lambda: drafts.save_draft(user, pair, Draft.Field.CODE, code, window_of(request)))
    choice = ProposalChoice("edit", code=code)
    try:
        text = Text.objects.keep(function_decisions.checked_code(code))
        asked = function_edits.run_beside(user, found, text)
    except (BadDecision, function_edits.TooManyWaiting) as why:
        page = show(request, found, True, UnsavedProposal(choice, str(why)), status=422)
        return mark_rate_limited(page, why)
    if asked is None:
        why_not = "There is no test to run: the agents did not get that far with this function."
        return show(request, found, True, UnsavedProposal(choice, why_not), status=422)
    wake_workers()
    return HttpResponseRedirect(reverse("proposal-ran", args=[found.pk, asked.pk]))


@require_role(Role.EXPERT, GET)
def ran(request: HttpRequest, pk: int, run_pk: int) -> HttpResponse:
    """How far a run beside an edit is; once done, its report."""
    found = visible(request, pk)
    asked = get_object_or_404(function_edits.runs_beside(found), pk=run_pk)
    if "HX-Request" not in request.headers:
        return HttpResponseRedirect(reverse("proposal", args=[found.pk]) + "?edit=1")
    context = {"proposal": found, "run": proposals.run_view(asked)}
    return render(request, "annotation/missing_functions/_proposal_run.html", context)


def fillings(request: HttpRequest) -> QuerySet[Filling]:
    """The jobs that write for builds which the person may see."""
    return Filling.objects.filter(build__in=jobs_visible_to(request.user))


def visible(request: HttpRequest, pk: int) -> Proposal:
    rows = Proposal.objects.filter(filling__in=fillings(request))
    return get_object_or_404(rows.select_related(*proposals.RELATED), pk=pk)


def note_without_match(request: HttpRequest, filling: Filling, queries: list[int]) -> None:
    """A function is written for queries (ids) without a match: that tells each label of them."""
    mark_counts_seen(request.user, Case.objects.filter(build=filling.of_id), queries)


def to_proposal(found: Proposal) -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse("proposal", args=[found.pk]))


def show(
    request: HttpRequest,
    found: Proposal,
    editing_it: bool = False,
    said: UnsavedProposal | None = None,
    status: int = 200,
) -> HttpResponse:
    user = person(request)
    if found.case is not None:
        mark_seen(user, [found.case.pair_id])
    note_without_match(request, found.filling, [found.query_id])
    page = proposals.proposal_page(user, found, editing_it, said)
    pushed = reverse("proposal", args=[found.pk]) + ("?edit=1" if editing_it else "")
    response = answer(
        request, "annotation/missing_functions/proposal.html", page, status=status, pushed=pushed
    )
    if status != 200:
        response["HX-Retarget"], response["HX-Reswap"] = "#case", "outerHTML"
    return response
