"""The expert's pages: translate the request, call once, translate back."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from annotation import review
from annotation.accounts.roles import (
    FORM,
    GET,
    POST,
    Role,
    blind_in,
    builds_visible_to,
    can_see_every_build,
    require_role,
)
from annotation.jobs.wake_up import wake_workers
from annotation.models import Build, Case, Draft, ExecutionRequest, TestProgram
from annotation.review import Beside, drafts, layout, shortcuts
from annotation.review.carried_labels import submit_earlier_label
from annotation.review.comments import mark_mentions_read, mark_pair_mentions_read
from annotation.review.hidden_labels import hides_labels_from, refuse_people
from annotation.review.own_runs import own_tests
from annotation.review.tags import Tag
from annotation.review.worklists import order
from annotation.review.worklists.order import Apart, Disputed, Flipped, Parted, Show, Tagged, Worklist
from annotation.studies.exposure import mark_list_seen, mark_seen, mark_test_seen
from annotation.studies.plan.seals import is_open
from annotation.web.cases.evidence import RELATED
from annotation.web.cases.panes import execution_pane
from annotation.web.review import page, runs, words
from annotation.web.review.drafts import kept, refused, window_of
from annotation.web.review.keys import key_views, keys_page
from annotation.web.review.page import UnsavedReview, case_page, nothing_left, stored_page
from annotation.web.shared.pagination import whole_number
from annotation.web.shared.requests import answer, is_fragment, mark_rate_limited, number, person
from annotation.web.worklist.filters import list_named
from retrieval.models import Annotator
from retrieval.models.prepared_query import PreparedQuery

APART = re.compile(r"apart-([0-9]{1,15})\.([0-9]{1,4})-([0-9]{1,15})\.([0-9]{1,4})")
LABELS: Mapping[str, int | None] = {"1": 1, "0": 0, "unsure": None}


@require_role(Role.EXPERT, GET)
def next_case(request: HttpRequest, build_pk: int) -> HttpResponse:
    """To the case after `?after=` or before `?before=` in the list `?show=`; the end of a list has a page."""
    build = get_object_or_404(builds_visible_to(request.user).select_related("tally"), pk=build_pk)
    show, user = list_of(request, request.GET), person(request)
    mark_worklist_seen(user, build, show)
    before = neighbour(build, request.GET.get("before", ""))
    if before is not None:
        return to_case(order.previous_case(user, build, show, before) or before, show)
    found = order.next_case(user, build, show, neighbour(build, request.GET.get("after", "")))
    if found is not None:
        return to_case(found, show)
    page = nothing_left(user, build, show)
    return answer(request, "annotation/review/done.html", page, pushed=to_end(build.pk, show).url)


def to_following(user: User, case: Case, show: order.Worklist) -> HttpResponse:
    """To the case after the one that was just labelled, or to the end of the list."""
    mark_worklist_seen(user, case.build, show)
    following = order.next_case(user, case.build, show, case)
    return to_case(following, show) if following else to_end(case.build_id, show)


def mark_worklist_seen(user: User, build: Build, show: order.Worklist) -> None:
    """Remember what the order of a list tells of all the build's pairs, also of those that never come."""
    if order.tells_of_agents(build, show):
        mark_list_seen(user, build.pk, Case.objects.filter(build=build))


@require_role(Role.EXPERT, GET)
def case(request: HttpRequest, pk: int) -> HttpResponse:
    """One case with all its evidence and the person's label."""
    return show_case(request, visible_case(request, pk), list_of(request, request.GET))


@require_role(Role.EXPERT, FORM)
def label(request: HttpRequest, pk: int) -> HttpResponse:
    """Store one label and go on to the next case; what can't be stored is shown again as it was typed.

    A GET stores nothing: it is somebody who reloads the address of a form that was shown again.
    """
    cases = Case.objects.filter(build__in=builds_visible_to(request.user)).select_related("build")
    found = get_object_or_404(cases, pk=pk)  # without its texts: storing a label needs none of them
    user, sent = person(request), request.POST
    show = list_of(request, sent)
    if request.method != "POST":
        return to_case(found, show)
    lines = sent.get("lines", "")
    beside = Beside(sent.getlist("tags"), number(sent, "seconds"), window_of(request), lines)
    said = UnsavedReview(sent.get("reason", ""), sent.get("label", ""), tuple(beside.tags), lines)
    evidence = sent.get("evidence", "")
    try:
        made = review.submit_label(
            user, found, label_of(sent), said.reason, evidence, number(sent, "seen_revision"), beside
        )
    except review.EvidenceChanged as why:
        again = replace(said, problem=str(why), changed=True)
        return show_case(request, visible_case(request, pk), show, again, status=409)
    except review.Conflict as conflict:
        return form_again(request, pk, show, replace(said, conflict=conflict), status=409)
    except (review.OverrideNeedsReason, review.BadReview) as why:
        return form_again(request, pk, show, replace(said, problem=str(why)), status=422)
    messages.success(request, words.labelled_message(user, made, is_fragment(request)))
    painted = painted_case(request, found)
    return show_stored(request, painted, show) if painted else to_following(user, found, show)


@require_role(Role.EXPERT, POST)
def undo(request: HttpRequest, pk: int) -> HttpResponse:
    """Take back the person's latest label of the case, and go to the case."""
    found, user = visible_case(request, pk), person(request)
    try:
        review.undo_latest_label(user, found, number(request.POST, "seen_revision"))
    except review.NothingToUndo as why:
        messages.error(request, str(why))
    except review.Conflict:
        messages.error(request, words.CHANGED_SINCE)
    else:
        messages.success(request, words.undone_message(user, found))
    return to_case(found, list_of(request, request.POST))


@require_role(Role.EXPERT, POST)
def draft(request: HttpRequest, pk: int) -> HttpResponse:
    """Keep what is being typed; 204, 409 with what another window has kept, or 400 with what is wrong."""
    found, field = visible_case(request, pk), request.POST.get("field", "")
    if field not in Draft.Field.values:
        return refused(f"A draft is of the field {', '.join(Draft.Field.values)}.")
    user, text = person(request), request.POST.get("text", "")
    return kept(lambda: drafts.save_draft(user, found.pair_id, field, text, window_of(request)))


@require_role(Role.EXPERT, POST)
def run(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask for another run of the case's test program, or of `program`, one of the same pair."""
    found = visible_case(request, pk)
    program = program_of(found, request.POST.get("program", "")) or found.program
    if program is None:
        messages.error(request, "This pair has no test. Write one, then run it.")
        return to_case(found, list_of(request, request.POST))
    try:
        asked = own_tests.request_execution(person(request), program, found.dependencies)
    except own_tests.TooManyWaiting as why:
        return not_run(request, found, why)
    return to_run(asked, found)


@require_role(Role.EXPERT, FORM)
def edited_test(request: HttpRequest, pk: int) -> HttpResponse:
    """The editor with a copy of a test program; a POST saves the copy as one's own and has it run."""
    found, user = visible_case(request, pk), person(request)
    if request.method != "POST":
        parent = program_of(found, request.GET.get("program", "")) or program_of(found, str(found.program_id))
        if parent is not None:
            mark_test_seen(user, found.pair_id)
        return show_editor(request, runs.editor_page(user, found, parent))
    parent, source = program_of(found, request.POST.get("parent", "")), request.POST.get("source", "")
    try:
        asked = own_tests.run_own_test(user, found, source, parent, window_of(request))
    except (own_tests.BadTest, own_tests.TooManyWaiting) as why:
        page = runs.editor_page(user, found, parent, source, str(why))
        return mark_rate_limited(show_editor(request, page, status=422), why)
    return to_run(asked, found)


@require_role(Role.EXPERT, GET)
def execution(request: HttpRequest, pk: int) -> HttpResponse:
    """How far a person's execution is; once done, its report beside the recorded one."""
    related = "program__source", "program__author", "execution__report", "user"
    asked = get_object_or_404(ExecutionRequest.objects.select_related(*related), pk=pk, assignment=None)
    cases = visible_cases(request).filter(pair=asked.program.pair_id).order_by("-pk")
    named = cases.filter(pk=number(request.GET, "case")).first()
    found = named or cases.filter(program=asked.program).first() or get_object_or_404(cases[:1])
    mark_seen(request.user, [found.pair_id])
    page = runs.run_page(asked, found)
    if page["execution"]:
        page["pane"] = execution_pane(page["execution"], None, key_views(person(request)))
    return answer(request, "annotation/review/run.html", page, fragment="run")


@require_role(Role.EXPERT, FORM)
def keys(request: HttpRequest) -> HttpResponse:
    """Change, switch off or restore one's keys."""
    user, action = person(request), request.POST.get("action", "")
    if request.method != "POST":
        return show_keys(request, keys_page(shortcuts.keys_of(user)))
    if action == "restore":
        shortcuts.restore_keys(user)
    elif action in {"on", "off"}:
        shortcuts.switch_keys(user, on=action == "on")
    else:
        wanted = {key: request.POST[key.value] for key in shortcuts.Action if key.value in request.POST}
        on = "on" in request.POST
        try:
            shortcuts.save_keys(user, wanted, on)
        except shortcuts.KeysRefused as refused:
            page = keys_page(shortcuts.Keys({**shortcuts.keys_of(user).of, **wanted}, on), refused.problems)
            return show_keys(request, page, status=422)
    messages.success(request, "Your keys are stored.")
    return HttpResponseRedirect(reverse("review-keys"))


@require_role(Role.EXPERT, POST)
def arrange(request: HttpRequest) -> HttpResponse:
    """Remember how the person arranged the page `?page=`; 204, or 400 with what is wrong."""
    sizes = {
        name.removeprefix("size-"): request.POST.get(name, "")
        for name in request.POST
        if name.startswith("size-")
    }
    try:
        place = layout.place_of(request.GET.get("page", layout.LayoutPage.REVIEW))
        layout.save_layout(person(request), sizes, place)
    except layout.BadLayout as why:
        return HttpResponse(str(why), status=400, content_type="text/plain")
    return HttpResponse(status=204)


def visible_cases(request: HttpRequest) -> QuerySet[Case]:
    cases = Case.objects.filter(build__in=builds_visible_to(request.user))
    return cases.select_related(*RELATED, "build__tally")


ANY_CASE: PreparedQuery[Case] = PreparedQuery(
    lambda pk: (
        Case.objects.filter(pk=pk, build__filling=None).select_related(*RELATED, "build__tally").order_by()
    ),
    int,
)
"""A case of any build that writes no functions."""


def visible_case(request: HttpRequest, pk: int) -> Case:
    """Raises Http404 where there is no such case for the person."""
    if not can_see_every_build(request.user):
        return get_object_or_404(visible_cases(request), pk=pk)
    if found := ANY_CASE.first(pk):
        return found
    raise Http404


def painted_case(request: HttpRequest, labelled: Case) -> Case | None:
    """The case that was fetched ahead and is on the screen already, if the person may see it."""
    painted = whole_number(request.headers.get("Painted", ""))
    cases = Case.objects.filter(
        build=labelled.build_id, build__in=builds_visible_to(request.user), pk=painted
    )
    return cases.select_related("build").first() if "Painted" in request.headers else None


def neighbour(build: Build, pk: str) -> Case | None:
    """The case of the build that a link started from; None for none, or for one that is gone."""
    return Case.objects.filter(build=build, pk=whole_number(pk)).order_by("pk").first() if pk else None


def program_of(found: Case, pk: str) -> TestProgram | None:
    """A program of the case's pair, with its source."""
    programs = TestProgram.objects.filter(pair=found.pair_id, assignment=None)
    return programs.select_related("source").filter(pk=whole_number(pk)).first()


def list_of(request: HttpRequest, values: QueryDict) -> Worklist:
    """The list that an address or a form names; that of the waiting cases for anything else."""
    wanted = values.get("show", "")
    if wanted in set(Show):
        return Show(wanted)
    if wanted == str(Parted()):
        return Parted()
    if wanted == str(Disputed()) and not blind_in(request.user):
        return Disputed()
    kind, _, other = wanted.partition("-")
    if kind == "list" and (found := list_named(other)) is not None:
        return found
    if kind == "tagged" and other in set(Tag):
        return Tagged(Tag(other))
    if kind == "apart" and (named := APART.fullmatch(wanted)) and not blind_in(request.user):
        one, its_round, other_one, other_round = map(int, named.groups())
        if open_between(person(request), one, other_one):
            return Apart((one, its_round), (other_one, other_round))
    seen = kind == "flipped" and builds_visible_to(request.user).filter(pk=whole_number(other)).exists()
    return Flipped(int(other)) if seen else Show.WAITING


def open_between(user: User, one: int, other: int) -> bool:
    """Whether the flips of two annotators (ids) may be known: not where they tell of a sealed study."""
    known = Annotator.objects.in_bulk([one, other])
    refuse_people(user, known.values())
    return len(known) < 2 or is_open(known[one], known[other])


def label_of(values: QueryDict) -> int | None:
    """The label that a button sent. Raises BadReview."""
    chosen = values.get("label", "")
    if chosen not in LABELS:
        raise review.BadReview("Choose a label: match, no match or unsure.")
    return LABELS[chosen]


def address(name: str, pk: int, **query: object) -> str:
    asked = {key: value for key, value in query.items() if value != Show.WAITING}
    return reverse(name, args=[pk]) + (f"?{urlencode(asked)}" if asked else "")


def to_case(found: Case, show: Worklist) -> HttpResponseRedirect:
    return HttpResponseRedirect(address("review-case", found.pk, show=show))


def to_end(build: int, show: Worklist) -> HttpResponseRedirect:
    return HttpResponseRedirect(address("review-next", build, show=show))


def to_run(asked: ExecutionRequest, found: Case) -> HttpResponseRedirect:
    wake_workers()
    return HttpResponseRedirect(address("review-execution", asked.pk, case=found.pk))


def not_run(request: HttpRequest, found: Case, why: Exception) -> HttpResponse:
    """What can't be run: said where the run would be, and without JavaScript on the case's page."""
    if not is_fragment(request):
        messages.error(request, str(why))
        return to_case(found, list_of(request, request.POST))
    said = {"problem": str(why), "case": found.pk}
    return mark_rate_limited(render(request, "annotation/review/run.html#refused", said, status=422), why)


def show_case(
    request: HttpRequest, found: Case, show: Worklist, said: UnsavedReview | None = None, status: int = 200
) -> HttpResponse:
    user = person(request)
    mark_seen(user, [found.pair_id])
    pushed = address("review-case", found.pk, show=show)
    page = case_page(user, found, show, said) | {"url": pushed}
    if "Fetched-Ahead" not in request.headers:  # read is what was on the screen
        mark_mentions_read(page["unread"])
    return answer(request, "annotation/review/detail.html", page, status=status, pushed=pushed)


def show_stored(request: HttpRequest, painted: Case, show: Worklist) -> HttpResponse:
    """After a label whose next page was fetched ahead: what the label changes there, and no pair."""
    user = person(request)
    mark_worklist_seen(user, painted.build, show)
    if not hides_labels_from(user, painted.build):  # else comments are not on the screen yet
        mark_pair_mentions_read(user, painted.pair_id)
    page = stored_page(user, painted, show)
    return answer(request, "annotation/review/detail.html", page, fragment="stored")


def form_again(
    request: HttpRequest, pk: int, show: Worklist, said: UnsavedReview, status: int
) -> HttpResponse:
    """The label form with what is wrong; the evidence on screen stays where it was scrolled to."""
    found = visible_case(request, pk)
    if not is_fragment(request):
        return show_case(request, found, show, said, status)
    page = case_page(person(request), found, show, said) | {"form_alone": True}
    response = answer(request, "annotation/review/detail.html", page, fragment="form", status=status)
    response["HX-Retarget"], response["HX-Reswap"] = "#label-form", "outerHTML"
    return response


def show_editor(request: HttpRequest, page: dict[str, Any], status: int = 200) -> HttpResponse:
    response = answer(request, "annotation/review/test.html", page, fragment="editor", status=status)
    if status != 200:
        response["HX-Retarget"], response["HX-Reswap"] = "#test-panel", "innerHTML"
    return response


def show_keys(request: HttpRequest, page: dict[str, Any], status: int = 200) -> HttpResponse:
    return render(request, "annotation/review/keys.html", {"page": page}, status=status)


@require_role(Role.EXPERT, FORM)
def as_before(request: HttpRequest, pk: int) -> HttpResponse:
    """Carry the earlier label over and go on to the next case. A GET stores nothing."""
    found, user, sent = visible_case(request, pk), person(request), request.POST
    show, evidence = list_of(request, sent), request.POST.get("evidence", "")
    if request.method != "POST":
        return to_case(found, show)
    try:
        made = submit_earlier_label(
            user, found, number(sent, "source"), evidence, number(sent, "seen_revision")
        )
    except review.Conflict as conflict:
        return show_case(request, found, show, page.UnsavedReview(conflict=conflict), status=409)
    except review.EvidenceChanged as why:
        return show_case(request, found, show, page.UnsavedReview(problem=str(why), changed=True), status=409)
    except review.BadReview as why:
        return show_case(request, found, show, page.UnsavedReview(problem=str(why)), status=422)
    messages.success(request, f"As before. {words.labelled_message(user, made, is_fragment(request))}")
    return to_following(user, found, show)
