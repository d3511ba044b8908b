"""Two builds, or two annotators, side by side."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from annotation.accounts.roles import GET, Role, builds_visible_to, refuse_while_blind, require_role
from annotation.models import Case
from annotation.review.hidden_labels import refuse_people
from annotation.studies.exposure import mark_counts_seen, mark_seen
from annotation.web.comparison.annotators import annotators_page
from annotation.web.comparison.page import comparison_page
from annotation.web.comparison.tables import build_comparison_tables
from annotation.web.shared.downloads import attach_table, list_table_files
from annotation.web.shared.pagination import whole_number
from retrieval.models import Annotator

ANNOTATORS: Final = "annotators"


@require_role(Role.READER, GET)
def compare(request: HttpRequest) -> HttpResponse:
    """Two builds or, with `of=annotators`, two annotators."""
    return compare_annotators(request) if request.GET.get("of") == ANNOTATORS else compare_builds(request)


def compare_builds(request: HttpRequest) -> HttpResponse:
    first, second = (whole_number(request.GET.get(name, "")) for name in ("first", "second"))
    page = comparison_page(builds_visible_to(request.user), first, second)
    if found := page["found"]:
        mark_counts_seen(request.user, Case.objects.filter(build=found.second), found.told_queries)
        tables = build_comparison_tables(page, (found.first.name, found.second.name))
        if "table" in request.GET:
            return attach_table(tables, request.GET, f"builds-{found.first.pk}-{found.second.pk}")
        page["files"] = list_table_files(tables, request.GET)
    status = 422 if "problem" in page else 200
    return render(request, "annotation/comparison/detail.html", {"page": page}, status=status)


@require_role(Role.READER, GET)
def annotators(request: HttpRequest) -> HttpResponse:
    """Where it was before both comparisons had one page."""
    asked = request.GET.copy()
    asked["of"] = ANNOTATORS
    return redirect(f"{reverse('compare')}?{asked.urlencode()}")


def compare_annotators(request: HttpRequest) -> HttpResponse:
    """Closed while the person rates: labels of anybody tell of the pairs of a study."""
    refuse_while_blind(request.user)
    first, second, first_round, second_round = (
        whole_number(request.GET.get(name, "")) for name in ("first", "second", "first_round", "second_round")
    )
    refuse_people(request.user, Annotator.objects.filter(pk__in=[first, second]))
    page = annotators_page(builds_visible_to(request.user), (first, second), (first_round, second_round))
    mark_seen(request.user, page["seen"])
    if page["found"]:
        tables = build_comparison_tables(page, page["names"])
        if "table" in request.GET:
            return attach_table(tables, request.GET, f"annotators-{first}-{second}")
        page["files"] = list_table_files(tables, request.GET)
    status = 422 if "problem" in page else 200
    return render(request, "annotation/comparison/annotators.html", {"page": page}, status=status)
