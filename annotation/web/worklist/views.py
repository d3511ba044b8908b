"""The list of a build's pairs: shown, changed in bulk, saved, shared out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.contrib import messages
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from annotation.accounts.roles import FORM, GET, POST, Role, builds_visible_to, require_role
from annotation.builds.launch.launcher import record_build_event
from annotation.models import Build, Case, SavedList
from annotation.models.reviews.worklists import LONGEST_LIST
from annotation.review.tags import Tag, tag_name
from annotation.review.worklists.case_list import ListFilters, filter_listed_cases
from annotation.review.worklists.list_changes import (
    MOST_SHARED,
    ListChangeRefused,
    assign_cases,
    checked_cases,
    share_cases_out,
    tag_cases,
    unassign_cases,
    undo_last_change,
    untag_cases,
)
from annotation.studies.exposure import mark_list_seen, mark_seen
from annotation.web.shared.forms import attempt
from annotation.web.shared.pagination import count_some, said_count, whole_number
from annotation.web.shared.requests import action_of, number, person, render_form, say_refusals
from annotation.web.worklist.filters import describe_filters, filters_of
from annotation.web.worklist.page import list_experts, list_page
from annotation.web.worklist.share import ShareForm
from retrieval.texts.hostile import mark_hostile_characters
from retrieval.texts.plurals import count_noun

LONGEST_NAME = 80


class ListAction(StrEnum):
    """What a form of the list asks for."""

    TAG = "tag"
    UNTAG = "untag"
    ASSIGN = "assign"
    UNASSIGN = "unassign"
    UNDO = "undo"


class SavedAction(StrEnum):
    """What is done with a list's filters."""

    SAVE = "save"
    DELETE = "delete"


@require_role(Role.EXPERT, GET)
def listed(request: HttpRequest, build_pk: int) -> HttpResponse:
    """One page of the build's pairs."""
    build, user = visible_build(request, build_pk), person(request)
    filters = filters_of(request.GET)
    mark_filtered_seen(user, build, filters)
    page = list_page(user, build, request.GET)
    mark_seen(user, [row.case.pair_id for row in page["rows"]])
    return render(request, "annotation/worklist/detail.html", {"page": page})


def mark_filtered_seen(user: User, build: Build, filters: ListFilters) -> None:
    """Remember what a filtered list, or the number of its pairs, tells of all the build's pairs."""
    if filters.tells:
        mark_list_seen(user, build.pk, Case.objects.filter(build=build))


@require_role(Role.EXPERT, POST)
def change(request: HttpRequest, build_pk: int) -> HttpResponse:
    """Tag or assign the ticked pairs, or undo the latest change; then the same page of the list."""
    build, user = visible_build(request, build_pk), person(request)
    action = action_of(request, ListAction)
    with say_refusals(request, ListChangeRefused):
        if action is ListAction.UNDO:
            undone = undo_last_change(user, build)
            messages.success(request, f"Undone: {undone.get_kind_display()}.")
        else:
            messages.success(request, change_ticked(request, user, build, action))
    return to_list(build, request.POST.get("filters", ""))


def change_ticked(request: HttpRequest, user: User, build: Build, action: ListAction) -> str:
    """Do it to the ticked pairs; returns what was done in words. Raises ListChangeRefused."""
    sent = request.POST
    ticked = sent.getlist("shown" if "all" in sent else "case")
    cases = checked_cases(build, map(whole_number, ticked))
    if action in {ListAction.TAG, ListAction.UNTAG}:
        if sent.get("tag") not in set(Tag):
            raise ListChangeRefused("Choose a tag.")
        tag = Tag(sent["tag"])
        done = (tag_cases if action is ListAction.TAG else untag_cases)(user, build, cases, tag)
        verb = "Tagged" if action is ListAction.TAG else "Removed from"
        return f"{verb} {count_noun(done, 'pair')}: {tag_name(tag)}."
    expert = list_experts().filter(pk=number(sent, "expert")).first()
    if expert is None:
        raise ListChangeRefused("Choose an expert.")
    done = (assign_cases if action is ListAction.ASSIGN else unassign_cases)(user, build, cases, expert)
    verb = "assigned to" if action is ListAction.ASSIGN else "no longer assigned to"
    return f"{count_noun(done, 'pair')} {verb} {expert.get_username()}."


@require_role(Role.EXPERT, POST)
def saved(request: HttpRequest, build_pk: int) -> HttpResponse:
    """Keep the filters by a name, or forget a list of one's own."""
    build, user = visible_build(request, build_pk), person(request)
    query = filters_of(QueryDict(request.POST.get("filters", ""))).query
    if action_of(request, SavedAction) is SavedAction.DELETE:
        SavedList.objects.filter(build=build, user=user, pk=number(request.POST, "list")).delete()
        messages.success(request, "The list was deleted.")
    else:
        name, shared = request.POST.get("name", ""), "shared" in request.POST
        with say_refusals(request, ListChangeRefused):
            made = keep_list(user, build, name, query, shared=shared)
            messages.success(request, f"Saved as “{made.name}”.")
    return to_list(build, query)


def keep_list(user: User, build: Build, name: str, query: str, *, shared: bool) -> SavedList:
    """Keep filters by a name. Raises ListChangeRefused."""
    kept = mark_hostile_characters(name).strip()
    if not kept or len(kept) > LONGEST_NAME or len(query) > LONGEST_LIST:
        raise ListChangeRefused(f"Give the list a name of at most {LONGEST_NAME} characters.")
    try:
        with transaction.atomic():
            return SavedList.objects.create(build=build, user=user, name=kept, query=query, shared=shared)
    except IntegrityError as taken:
        raise ListChangeRefused(f"You already have a list “{kept}”. Choose another name.") from taken


@require_role(Role.ADMIN, FORM)
def share(request: HttpRequest, build_pk: int) -> HttpResponse:
    """Share the pairs of a list out among experts; the filters are in the address."""
    build, user = visible_build(request, build_pk), person(request)
    filters = filters_of(request.GET)
    mark_filtered_seen(user, build, filters)  # how many pairs they are
    form = ShareForm(request.POST or None)
    rows = filter_listed_cases(user, build, filters).order_by("pk")
    if form.is_valid():
        wanted = list(form.cleaned_data["experts"]), form.cleaned_data["overlap"], form.cleaned_data["seed"]
        made = attempt(form, lambda: share_listed_pairs(user, build, filters, *wanted), ListChangeRefused)
        if made is not None:
            messages.success(request, made.told)
            return to_list(build, filters.query)
    context = {"build": build, "filters": filters, "count": said_count(count_some(rows))}
    more = {"described": describe_filters(filters), "most": MOST_SHARED}
    return render_form(request, "annotation/worklist/share.html", form, **context, **more)


@dataclass(frozen=True, slots=True)
class SharedPairs:
    """How many pairs were shared out, and how many assignments of them are new."""

    pairs: int
    assignments: int

    @property
    def told(self) -> str:
        new = count_noun(self.assignments, "new assignment")
        return f"{count_noun(self.pairs, 'pair')} shared out: {new}."


def share_listed_pairs(
    user: User, build: Build, filters: ListFilters, experts: Sequence[User], overlap: int, seed: int
) -> SharedPairs:
    """Share out the pairs that pass the filters, with a line in the history. Raises ListChangeRefused."""
    rows = filter_listed_cases(user, build, filters).order_by("pk")
    cases = list(rows.values_list("pk", flat=True)[: MOST_SHARED + 1])
    made = SharedPairs(len(cases), share_cases_out(user, build, cases, experts, overlap, seed))
    names = ", ".join(expert.get_username() for expert in experts)
    record_build_event(build, user, "pairs shared out", f"{made.told} To {names}; seed {seed}.")
    return made


def visible_build(request: HttpRequest, pk: int) -> Build:
    builds = builds_visible_to(request.user).select_related("tally", "snippets")
    return get_object_or_404(builds, pk=pk)


def to_list(build: Build, query: str) -> HttpResponse:
    """Back to the list, as an address that was checked: only known filters, and the place on the list."""
    sent = QueryDict(query[: 2 * LONGEST_LIST])
    kept = QueryDict(filters_of(sent).query, mutable=True)
    for place in ("after", "before"):
        if whole_number(sent.get(place, "")) > 0:
            kept[place] = sent[place]
    url = reverse("review-list", args=[build.pk])
    return HttpResponseRedirect(f"{url}?{kept.urlencode()}" if kept else url)
