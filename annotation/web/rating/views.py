"""A rater's pages: translate the request, call once, translate back. What they say is stored by `page`."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from annotation import draft_rules
from annotation.accounts.roles import FORM, GET, Role, require_role
from annotation.jobs.wake_up import wake_workers
from annotation.models import Assignment, CallRequest, Enrolment, TestProgram
from annotation.review.own_runs import calls
from annotation.review.own_runs.assertions import NoAssertion
from annotation.review.own_runs.own_tests import BadTest, TooManyWaiting
from annotation.review.own_runs.strength import NothingToChange
from annotation.studies.enrolment import rater_studies
from annotation.studies.enrolment.rater_studies import BadProfile, GuidelineChanged, Profile
from annotation.studies.exposure import mark_seen, mark_test_seen, pairs_of_study_rows
from annotation.studies.plan.guidelines import acknowledge_guideline
from annotation.studies.rating import drafts, runs, shown_pair, test_strength
from annotation.studies.rating.runs import NotNow
from annotation.web.cases.trial_views import show_strength
from annotation.web.rating import study_list
from annotation.web.rating.form import Sent
from annotation.web.rating.page import rating_page
from annotation.web.rating.runs import call_page, pair_url, run_page
from annotation.web.rating.test_strength import strength_page, trial_page
from annotation.web.review.call_views import PATIENCE, show_assertion
from annotation.web.review.drafts import keep_quietly, window_of
from annotation.web.review.keys import key_views
from annotation.web.shared.requests import answer, is_fragment, mark_rate_limited, person
from annotation.web.shared.requests import number as whole
from sandbox.expression_call import BadExpression

REFUSALS = (BadTest, runs.NotNow, TooManyWaiting)


@require_role(Role.EXPERT, FORM)
def study(request: HttpRequest, study_pk: int) -> HttpResponse:
    """What is read before the first pair; a POST joins with a profile and opens the first pair.

    Whoever has joined changes the profile with it.
    """
    enrolment = own_enrolment(request, study_pk)
    if request.method != "POST":
        return show_study(request, enrolment)
    sent = read_profile(request)
    try:
        if enrolment.accepted_at is None:
            shown = whole(request.POST, "guideline") if request.POST.get("guideline") else None
            rater_studies.join_study(enrolment, sent, shown)
            return HttpResponseRedirect(reverse("rate-next", args=[study_pk]))
        rater_studies.accept_study_information(enrolment, sent)
    except GuidelineChanged as changed:
        messages.warning(request, str(changed))
        page = study_list.study_page(enrolment, sent)
        return render(request, "annotation/rating/study.html", {"page": page}, status=409)
    except BadProfile as refused:
        page = study_list.study_page(enrolment, sent, refused.problems)
        return render(request, "annotation/rating/study.html", {"page": page}, status=422)
    messages.success(request, "Your profile is stored.")
    return to_study(study_pk)


def read_profile(request: HttpRequest) -> Profile:
    """What was sent of it; the hidden field says that languages were there to be ticked."""
    years, job, spoken = (request.POST.get(name, "") for name in ("years", "occupation", "languages"))
    offered = "offers_languages" in request.POST
    chosen = tuple(name[:40] for name in request.POST.getlist("code_languages")) if offered else None
    return Profile(years, job, spoken, chosen)


@require_role(Role.EXPERT, FORM)
def guidelines(request: HttpRequest, study_pk: int) -> HttpResponse:
    """The guidelines that hold now; a POST says that they were read, and goes on."""
    enrolment = own_enrolment(request, study_pk)
    if request.method != "POST":
        page = study_list.study_page(enrolment)
        return render(request, "annotation/rating/guidelines.html", {"page": page})
    read = enrolment.study.guideline
    if read is None or str(read.pk) == request.POST.get("guideline", ""):
        acknowledge_guideline(enrolment.study, person(request))
    else:
        messages.warning(request, "The guidelines were changed while you read. Here is the new version.")
        return HttpResponseRedirect(reverse("rate-guidelines", args=[study_pk]))
    following = "rate-study" if rater_studies.find_pending_requirements(enrolment) else "rate-next"
    return HttpResponseRedirect(reverse(following, args=[study_pk]))


@require_role(Role.EXPERT, GET)
def pair(request: HttpRequest, study_pk: int, number: int) -> HttpResponse:
    """One pair as the rater's condition shows it."""
    start = request.GET.get("start", "")
    return show_pair(request, own_assignment(request, study_pk, number), start=start)


@require_role(Role.EXPERT, GET)
def snippet(request: HttpRequest, study_pk: int, number: int) -> HttpResponse:
    """The whole text of a snippet, however long, without the docstrings that the study hides or folds."""
    found = own_assignment(request, study_pk, number)
    shown = shown_pair.side_called(found, request.GET.get("side", ""))
    return HttpResponse(shown.text.code, content_type="text/plain; charset=utf-8")


@require_role(Role.EXPERT, FORM)
def run(request: HttpRequest, study_pk: int, number: int) -> HttpResponse:
    """Keep the test that was sent and have it run. A GET runs nothing: it goes back to the pair."""
    found = own_assignment(request, study_pk, number)
    if request.method != "POST":
        return to_pair(found)
    source, side = request.POST.get("source", ""), named_side(request, found)
    try:
        asked = runs.run_rater_test(found, side.pair, source, window_of(request))
    except REFUSALS as why:
        keep_quietly(lambda: drafts.save_draft(found, "test", source, window_of(request)))
        return refused(request, found, why)
    wake_workers()
    return HttpResponseRedirect(pair_url("rate-ran", found, asked.pk))


@require_role(Role.EXPERT, GET)
def ran(request: HttpRequest, study_pk: int, number: int, pk: int) -> HttpResponse:
    """How far a run is; once done, its report."""
    found = own_assignment(request, study_pk, number)
    asked = get_object_or_404(runs.own_runs(found), pk=pk)
    return answer(request, "annotation/rating/run.html", run_page(found, asked), fragment="run")


@require_role(Role.EXPERT, FORM)
def call(request: HttpRequest, study_pk: int, number: int) -> HttpResponse:
    """Ask the snippet; what can't be asked is shown again as it was typed. A GET asks nothing."""
    found = own_assignment(request, study_pk, number)
    if request.method != "POST":
        return to_pair(found)
    text, side = request.POST.get("expression", ""), named_side(request, found)
    try:
        asked = runs.request_expression_call(found, side.pair, text)
    except (BadExpression, runs.NotNow, TooManyWaiting) as why:
        if runs.has_draft(found, side.pair):
            keep_quietly(lambda: drafts.save_draft(found, "call", text, None))
        return mark_rate_limited(show_calls(request, found, side, text, str(why), status=422), why)
    wake_workers()
    if is_fragment(request):
        calls.wait_for_call(asked, PATIENCE)
        return show_calls(request, found, side, asked.expression)
    return HttpResponseRedirect(pair_url("rate-answer", found, asked.pk))


@require_role(Role.EXPERT, GET)
def answered(request: HttpRequest, study_pk: int, number: int, pk: int) -> HttpResponse:
    """The answer of one's own call, once it is there, above those before it."""
    found = own_assignment(request, study_pk, number)
    asked = get_object_or_404(runs.rater_calls_of_assignment(found), pk=pk)
    calls.wait_for_call(asked, PATIENCE)
    return show_calls(request, found, side_of_call(found, asked), asked.expression)


@require_role(Role.EXPERT, FORM)
def assertion(request: HttpRequest, study_pk: int, number: int, pk: int) -> HttpResponse:
    """Make one's own call an assertion of one's own test; without JavaScript the editor shows it.

    The answer to htmx has no text: its event `asserted` carries the lines, for the editor that is open.
    """
    found = own_assignment(request, study_pk, number)
    asked = get_object_or_404(runs.rater_calls_of_assignment(found), pk=pk)
    if request.method != "POST":
        return to_pair(found)
    try:
        added = runs.add_assertion(found, asked, window_of(request))
    except (NoAssertion, draft_rules.DraftRefused) as why:
        return not_asserted(request, found, asked, str(why))
    return show_assertion(added) if is_fragment(request) else to_pair(found)


def not_asserted(request: HttpRequest, found: Assignment, asked: CallRequest, why: str) -> HttpResponse:
    """Said in the box of the call's own snippet."""
    side = side_of_call(found, asked)
    response = show_calls(request, found, side, "", why, status=422)
    response["HX-Retarget"] = "#calls-right" if side.name == "right" else "#calls"
    response["HX-Reswap"] = "innerHTML"
    return response


def side_of_call(found: Assignment, asked: CallRequest) -> shown_pair.SnippetSide:
    return next(side for side in shown_pair.sides_of(found) if side.pair.pk == asked.pair_id)


def own_enrolment(request: HttpRequest, study_pk: int) -> Enrolment:
    """The person's part in the study. Raises Http404 where there is none."""
    if found := rater_studies.find_enrolment(person(request), study_pk):
        return found
    raise Http404


def own_assignment(request: HttpRequest, study_pk: int, number: int) -> Assignment:
    """The person's assignment of the pair. Raises Http404 where there is none."""
    if found := shown_pair.assignment_of(person(request), study_pk, number):
        return found
    raise Http404


def named_side(request: HttpRequest, found: Assignment) -> shown_pair.SnippetSide:
    return shown_pair.side_called(found, request.POST.get("side", ""))


def show_study(request: HttpRequest, enrolment: Enrolment) -> HttpResponse:
    """The welcome; a part of another page that was sent here leaves that page."""
    if is_fragment(request):
        return HttpResponse(headers={"HX-Redirect": request.path})
    page = study_list.study_page(enrolment)
    if page.own:
        rows = enrolment.study.pairs.filter(pk__in=page.own.part.shown)
        mark_seen(request.user, pairs_of_study_rows(rows))
    return render(request, "annotation/rating/study.html", {"page": page})


def show_pair(
    request: HttpRequest, found: Assignment, sent: Sent | None = None, status: int = 200, *, start: str = ""
) -> HttpResponse:
    """The page of an assignment; whoever is shown something of the agents has seen the pair from now on."""
    page = rating_page(found, sent, start=start)
    if page.agents is not None:
        note_seen(found)
    pushed = pair_url("rate-pair", found)
    return answer(request, "annotation/rating/pair.html", page, status=status, pushed=pushed)


def note_seen(found: Assignment) -> None:
    """After *reveal* all is known; with the agents' test, that alone."""
    if shown_pair.shows_everything(found):
        mark_seen(found.rater, [found.study_pair.pair_id])
    else:
        mark_test_seen(found.rater, found.study_pair.pair_id)


def show_again(request: HttpRequest, found: Assignment, sent: Sent, status: int) -> HttpResponse:
    """The page as it is now, with what was sent and could not be stored."""
    now = own_assignment(request, found.enrolment.study_id, found.study_pair.number)
    return show_pair(request, now, sent, status)


def refused(request: HttpRequest, found: Assignment, why: Exception) -> HttpResponse:
    """What can't be run: said where the run would be, and without JavaScript on the pair's page."""
    if not is_fragment(request):
        messages.error(request, str(why))
        return to_pair(found)
    said = render(request, "annotation/rating/run.html#refused", {"problem": str(why)}, status=422)
    return mark_rate_limited(said, why)


def show_calls(
    request: HttpRequest,
    found: Assignment,
    side: shown_pair.SnippetSide,
    text: str,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    page = call_page(found, side, key_views(person(request)), text, problem)
    return answer(request, "annotation/review/call.html", page, fragment="calls", status=status)


def to_pair(found: Assignment) -> HttpResponseRedirect:
    return HttpResponseRedirect(pair_url("rate-pair", found))


def to_study(study_pk: int) -> HttpResponseRedirect:
    return HttpResponseRedirect(reverse("rate-study", args=[study_pk]))


@require_role(Role.EXPERT, FORM)
def strength(request: HttpRequest, study_pk: int, number: int, pk: int) -> HttpResponse:
    """How strong one test is; a POST asks for its runs beside mutants of its candidate."""
    found = own_assignment(request, study_pk, number)
    program = get_object_or_404(test_strength.programs_shown(found), pk=pk)
    note_test_seen(found, program)
    refused = asked(found, program) if request.method == "POST" else None
    if request.method == "POST" and refused is None and not is_fragment(request):
        return HttpResponseRedirect(request.path)
    page = strength_page(found, program, key_views(person(request)), str(refused or ""))
    return show_strength(request, page, refused)


@require_role(Role.EXPERT, GET)
def trial(request: HttpRequest, study_pk: int, number: int, pk: int) -> HttpResponse:
    """One run of a test beside a mutant, or beside the candidate itself."""
    found = own_assignment(request, study_pk, number)
    one = get_object_or_404(test_strength.trials_shown(found), pk=pk)
    note_test_seen(found, one.program)
    return render(request, "annotation/cases/trial.html", {"page": trial_page(found, one)})


def asked(found: Assignment, program: TestProgram) -> Exception | None:
    """Why the runs can't be asked for; None where they are."""
    try:
        test_strength.request_strength_runs(found, program)
    except (NotNow, NothingToChange, TooManyWaiting) as why:
        return why
    wake_workers()
    return None


def note_test_seen(found: Assignment, program: TestProgram) -> None:
    """Whoever is shown the agents' test has seen the pair."""
    if not test_strength.is_own(found, program):
        mark_test_seen(found.rater, program.pair_id)
