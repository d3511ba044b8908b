"""Pages for readers: builds, queries, candidates, matches side by side, evidence, the distribution."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_safe

from annotation.access import Role, blind_in, builds_visible_to, has_role, needs
from annotation.models import Build, Case, Proposal
from annotation.pages import browse, candidates, evidence, proposals
from annotation.pages import distribution as spread
from annotation.pages import matches as alike
from annotation.pages.review_calls import call_box
from annotation.pages.traces import MOST_STEPS
from annotation.rerunning.sent_back import waits
from annotation.seen import mark_counts_seen, mark_seen
from annotation.views.counting import is_number_wanted, number_alone
from retrieval.models import Text


@require_safe
@needs(Role.READER)
def index(request: HttpRequest) -> HttpResponse:
    page = browse.builds_page(builds_visible_to(request.user), request.GET)
    return render(request, "annotation/browse.html", {"page": page, "blind": blind_in(request.user)})


@require_safe
@needs(Role.READER)
def queries(request: HttpRequest, build_pk: int) -> HttpResponse:
    visible = builds_visible_to(request.user)
    build = build_of(visible, build_pk)
    if is_number_wanted(request):
        return number_alone(request, browse.queries_number(build, visible, request.GET))
    page = browse.queries_page(build, visible, request.GET)
    mark_counts_seen(request.user, Case.objects.filter(build=build, round=1), page.told)
    mark_seen(request.user, page.picked)
    return render(request, "annotation/browse_build.html", {"page": page})


@require_safe
@needs(Role.READER)
def distribution(request: HttpRequest, build_pk: int) -> HttpResponse:
    page = spread.distribution_page(build_of(builds_visible_to(request.user), build_pk))
    return render(request, "annotation/distribution.html", {"page": page})


@require_safe
@needs(Role.READER)
def query(request: HttpRequest, build_pk: int, query_pk: int) -> HttpResponse:
    visible = builds_visible_to(request.user)
    build = build_of(visible, build_pk)
    page = candidates.query_page(build, visible, query_of(build, query_pk), request.GET)
    note_seen(request, page)
    written = proposals.accepted_for(build, page.query)
    context = {"page": page, "written": written, "crossing": has_role(request.user, Role.EXPERT)}
    return render(request, "annotation/query.html", context)


@require_safe
@needs(Role.READER)
def matches(request: HttpRequest, build_pk: int, query_pk: int) -> HttpResponse:
    visible = builds_visible_to(request.user)
    build = build_of(visible, build_pk)
    page = alike.matches_page(build, visible, query_of(build, query_pk), request.GET)
    note_seen(request, page)
    return render(request, "annotation/matches.html", {"page": page})


@require_safe
@needs(Role.READER)
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
    context = {"evidence": shown, "box": box, "sent_back": box is not None and waits(found)}
    return render(request, "annotation/case.html", context)


def note_seen(request: HttpRequest, page: candidates.QueryPage | alike.MatchesPage) -> None:
    """The pairs on the page are seen, and those on its other pages where its counts tell each label."""
    mark_seen(request.user, page.pairs)
    if page.counts.alike:
        cases = Case.objects.filter(build=page.build, round=1)
        mark_counts_seen(request.user, cases, [page.query.pk])


def build_of(visible: QuerySet[Build], pk: int) -> Build:
    return get_object_or_404(visible, pk=pk)


def query_of(build: Build, pk: int) -> Text:
    """The query, if the build has candidates for it."""
    of_build = Exists(Case.objects.filter(build=build, query=OuterRef("pk")))
    return get_object_or_404(Text.objects.with_bodies().filter(of_build), pk=pk)
