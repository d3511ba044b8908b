"""The expert's queue of written functions: translate the request, call once, translate back."""

from __future__ import annotations

from contextlib import suppress

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation import tasks
from annotation.access import Role, jobs_visible_to, needs
from annotation.drafting import DraftChanged, DraftRefused, Window
from annotation.missing import deciding, editing
from annotation.missing.deciding import BadDecision, Choice, DecidedMeanwhile
from annotation.models import Case, Draft, Filling, Proposal
from annotation.pages import proposals as pages
from annotation.pages.paging import whole_number
from annotation.pages.proposals import Said
from annotation.review import NothingToUndo, drafts
from annotation.seen import mark_counts_seen, mark_seen
from annotation.views.drafting import kept, refused, window_of
from annotation.views.pacing import paced
from annotation.views.review import answer, number, person
from retrieval.models import Text


@needs(Role.EXPERT)
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """The jobs that write functions, with how many wait for an expert."""
    return render(request, "annotation/proposals.html", {"jobs": pages.job_lines(fillings(request))})


@needs(Role.EXPERT)
@require_safe
def listed(request: HttpRequest, pk: int) -> HttpResponse:
    """All functions of one job."""
    filling = get_object_or_404(fillings(request).select_related("build", "of"), pk=pk)
    lines = pages.lines(filling)
    mark_seen(request.user, [line.pair for line in lines if line.pair is not None])
    note_without_match(request, filling, [line.asked for line in lines])
    context = {"filling": filling, "lines": lines, "most": pages.MOST_LISTED}
    return render(request, "annotation/proposals_listed.html", context)


@needs(Role.EXPERT)
@require_safe
def following(request: HttpRequest, pk: int) -> HttpResponse:
    """To the function after `?after=` or before `?before=` that waits; the end of a queue has a page."""
    filling = get_object_or_404(fillings(request).select_related("of", "build__tally"), pk=pk)
    if "before" in request.GET:
        found = deciding.before(filling, whole_number(request.GET["before"]))
    else:
        found = deciding.next_of(filling, whole_number(request.GET.get("after", "")))
    if found is not None:
        return to_proposal(found)
    page = pages.nothing_waits(person(request), filling)
    return answer(
        request, "annotation/proposals_done.html", page, pushed=reverse("proposals-next", args=[pk])
    )


@needs(Role.EXPERT)
@require_safe
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One function with its check; with `?edit=1` its code stands in a field."""
    return show(request, visible(request, pk), editing_it="edit" in request.GET)


@needs(Role.EXPERT)
@require_http_methods(["GET", "HEAD", "POST"])
def decide(request: HttpRequest, pk: int) -> HttpResponse:
    """Store one decision and go on; what can't be stored is shown again as it was typed."""
    found, sent = visible(request, pk), request.POST
    if request.method != "POST":
        return to_proposal(found)  # somebody reloads the address of a form that was shown again
    choice = Choice(sent.get("action", ""), sent.get("reason", ""), sent.get("code", ""))
    edits = choice.action == "edit"
    try:
        made = deciding.decide(
            person(request), found, choice, number(sent, "seen_revision"), window_of(request)
        )
    except (BadDecision, editing.TooManyWaiting) as why:
        return show(request, found, edits, Said(choice, str(why)), status=422)
    except DecidedMeanwhile as conflict:
        return show(request, visible(request, pk), edits, Said(choice, conflict=conflict), status=409)
    tasks.wake()
    messages.success(request, f"{made.get_action_display().capitalize()}. Undo is beside the decision.")
    after = deciding.next_of(found.filling, found.pk)
    return to_proposal(after) if after else to_end(found)


@needs(Role.EXPERT)
@require_POST
def undo(request: HttpRequest, pk: int) -> HttpResponse:
    """Take back the standing decision about a function, and go to it."""
    found = visible(request, pk)
    try:
        deciding.undo(person(request), found, number(request.POST, "seen_revision"))
    except (NothingToUndo, DecidedMeanwhile) as why:
        messages.error(request, str(why))
    else:
        messages.success(request, "Taken back. The function waits for a decision again.")
    return to_proposal(found)


@needs(Role.EXPERT)
@require_POST
def draft(request: HttpRequest, pk: int) -> HttpResponse:
    """Keep what is being typed; 204, 409 with what another window has kept, or 400 with what is wrong."""
    found, field = visible(request, pk), request.POST.get("field", "")
    if field not in (Draft.Field.REASON, Draft.Field.CODE) or found.case is None:
        return refused("A draft is of the field reason or code.")
    user, pair, text = person(request), found.case.pair_id, request.POST.get("text", "")
    return kept(lambda: drafts.save(user, pair, field, text, window_of(request)))


@needs(Role.EXPERT)
@require_POST
def run(request: HttpRequest, pk: int) -> HttpResponse:
    """Run the function's test beside the edit that was sent; the edit is kept as a draft."""
    found, user, code = visible(request, pk), person(request), request.POST.get("code", "")
    if found.case is not None:
        keep_draft(user, found.case.pair_id, code, window_of(request))
    try:
        text = Text.objects.keep(deciding.checked_code(code))
        asked = editing.run_beside(user, found, text)
    except (BadDecision, editing.TooManyWaiting) as why:
        return paced(show(request, found, True, Said(Choice("edit", code=code), str(why)), status=422), why)
    if asked is None:
        why_not = "There is no test program to run: the agents did not come so far with this function."
        return show(request, found, True, Said(Choice("edit", code=code), why_not), status=422)
    tasks.wake()
    return HttpResponseRedirect(reverse("proposal-ran", args=[found.pk, asked.pk]))


def keep_draft(user: User, pair: int, code: str, window: Window | None) -> None:
    """What is run is kept as a draft, unless it is too long, or another window has kept another."""
    with suppress(DraftRefused, DraftChanged):
        drafts.save(user, pair, Draft.Field.CODE, code, window)


@needs(Role.EXPERT)
@require_safe
def ran(request: HttpRequest, pk: int, run_pk: int) -> HttpResponse:
    """How far a run beside an edit is; once done, its report."""
    found = visible(request, pk)
    asked = get_object_or_404(editing.runs_beside(found), pk=run_pk)
    if "HX-Request" not in request.headers:
        return HttpResponseRedirect(reverse("proposal", args=[found.pk]) + "?edit=1")
    context = {"proposal": found, "run": pages.run_view(asked)}
    return render(request, "annotation/_proposal_run.html", context)


def fillings(request: HttpRequest) -> QuerySet[Filling]:
    """The jobs that write for builds which the person may see."""
    return Filling.objects.filter(build__in=jobs_visible_to(request.user))


def visible(request: HttpRequest, pk: int) -> Proposal:
    rows = Proposal.objects.filter(filling__in=fillings(request))
    return get_object_or_404(rows.select_related(*pages.RELATED), pk=pk)


def note_without_match(request: HttpRequest, filling: Filling, queries: list[int]) -> None:
    """A function is written for queries (ids) without a match: that tells each label of them."""
    mark_counts_seen(request.user, Case.objects.filter(build=filling.of_id), queries)


def to_proposal(found: Proposal) -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse("proposal", args=[found.pk]))


def to_end(found: Proposal) -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse("proposals-next", args=[found.filling_id]))


def show(
    request: HttpRequest,
    found: Proposal,
    editing_it: bool = False,
    said: Said | None = None,
    status: int = 200,
) -> HttpResponse:
    user = person(request)
    if found.case is not None:
        mark_seen(user, [found.case.pair_id])
    note_without_match(request, found.filling, [found.query_id])
    page = pages.proposal_page(user, found, editing_it, said)
    pushed = reverse("proposal", args=[found.pk]) + ("?edit=1" if editing_it else "")
    response = answer(request, "annotation/proposal.html", page, status=status, pushed=pushed)
    if status != 200:
        response["HX-Retarget"], response["HX-Reswap"] = "#case", "outerHTML"
    return response
