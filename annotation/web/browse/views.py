"""Pages for readers: builds, queries, candidates, matches side by side, evidence, the distribution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from annotation.accounts.roles import GET, Role, blind_in, builds_visible_to, has_role, require_role
from annotation.derived.rerun.sent_back import is_awaiting_test
from annotation.models import Build, Case, Proposal
from annotation.review.hidden_labels import find_hidden_pairs, hide_totals_in_force
from annotation.studies.exposure import mark_counts_seen, mark_list_seen, mark_seen
from annotation.web.browse.page import builds_page, list_told_cases, queries_number, queries_page
from annotation.web.cases import candidates, evidence
from annotation.web.cases.labels_in_force import load_shown_labels
from annotation.web.cases.matches import matches_page
from annotation.web.cases.row_counts import is_number_wanted, number_alone
from annotation.web.cases.traces import MOST_STEPS
from annotation.web.missing_functions import proposals
from annotation.web.review.calls import call_box
from retrieval.models import Text


@require_role(Role.READER, GET)
def index(request: HttpRequest) -> HttpResponse:
    page = builds_page(builds_visible_to(request.user), request.GET)
    hide_totals_in_force(request.user, page.rows)
    return render(request, "annotation/browse/detail.html", {"page": page, "blind": blind_in(request.user)})


@require_role(Role.READER, GET)
def queries(request: HttpRequest, build_pk: int) -> HttpResponse:
    visible = builds_visible_to(request.user)
    build = build_of(visible, build_pk)
    mark_list_seen(request.user, build.pk, list_told_cases(build, request.GET))
    if is_number_wanted(request):
        return number_alone(request, queries_number(build, visible, request.GET, request.user))
    page = queries_page(build, visible, request.GET, request.user)
    mark_counts_seen(request.user, Case.objects.filter(build=build, round=1), page["told"])
    mark_seen(request.user, page["picked"])
    return render(request, "annotation/browse/build.html", {"page": page})


@require_role(Role.READER, GET)
def distribution(request: HttpRequest, build_pk: int) -> HttpResponse:
    """A part of the corpus statistics; a browser keeps the place that the address names."""
    return redirect("build-corpus", build_pk=build_of(builds_visible_to(request.user), build_pk).pk)


@require_role(Role.READER, GET)
def query(request: HttpRequest, build_pk: int, query_pk: int) -> HttpResponse:
    visible = builds_visible_to(request.user)
    build = build_of(visible, build_pk)
    page = candidates.query_page(build, visible, query_of(build, query_pk), request.GET, request.user)
    note_seen(request, page)
    written = proposals.accepted_for(build, page["query"])
    context = {"page": page, "written": written, "crossing": has_role(request.user, Role.EXPERT)}
    return render(request, "annotation/browse/query.html", context)


@require_role(Role.READER, GET)
def matches(request: HttpRequest, build_pk: int, query_pk: int) -> HttpResponse:
    visible = builds_visible_to(request.user)
    build = build_of(visible, build_pk)
    page = matches_page(build, visible, query_of(build, query_pk), request.GET, request.user)
    note_seen(request, page)
    return render(request, "annotation/browse/matches.html", {"page": page})


@require_role(Role.READER, GET)
def case(request: HttpRequest, pk: int) -> HttpResponse:
    written = Proposal.objects.filter(case=pk).first()
    if written is not None and has_role(request.user, Role.EXPERT):
        return redirect("proposal", pk=written.pk)  # its case is a job's: no part of what is browsed
    cases = Case.objects.filter(build__in=builds_visible_to(request.user))
    found = get_object_or_404(cases.select_related(*evidence.RELATED), pk=pk)
    whole = request.GET.get("trace") == "all"
    shown = evidence.evidence_of(found, most_steps=None if whole else MOST_STEPS)
    mark_seen(request.user, [found.pair_id])
    user = request.user
    box = call_box(user, found) if isinstance(user, User) and has_role(user, Role.EXPERT) else None
    hidden = find_hidden_pairs(user, found.build, [found.pair_id])
    in_force = load_shown_labels([found], found.build.reviews_needed, hidden)[found.pk]
    context = {
        "evidence": shown,
        "in_force": in_force,
        "box": box,
        "sent_back": box is not None and not hidden and is_awaiting_test(found),
    }
    return render(request, "annotation/cases/case.html", context)


@require_role(Role.READER, GET)
def candidate(request: HttpRequest, pk: int) -> HttpResponse:
    """The whole text of a case's candidate, however long."""
    cases = Case.objects.filter(build__in=builds_visible_to(request.user))
    found = get_object_or_404(cases.select_related("pair__snippet__body"), pk=pk)
    return HttpResponse(found.pair.snippet.text, content_type="text/plain; charset=utf-8")


def note_seen(request: HttpRequest, page: Mapping[str, Any]) -> None:
    """The pairs on the page are seen, and those on its other pages where its counts tell each label."""
    mark_seen(request.user, page["pairs"])
    if page["counts"].alike:
        cases = Case.objects.filter(build=page["build"], round=1)
        mark_counts_seen(request.user, cases, [page["query"].pk])


def build_of(visible: QuerySet[Build], pk: int) -> Build:
    return get_object_or_404(visible, pk=pk)


def query_of(build: Build, pk: int) -> Text:
    """The query, if the build has candidates for it."""
    of_build = Exists(Case.objects.filter(build=build, query=OuterRef("pk")))
    return get_object_or_404(Text.objects.with_bodies().filter(of_build), pk=pk)
