"""Two builds, or two annotators, side by side."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.access import Role, builds_visible_to, needs, refuse_while_blind
from annotation.models import Case
from annotation.pages.annotators import annotators_page
from annotation.pages.comparison import comparison_page
from annotation.pages.paging import whole_number
from annotation.seen import mark_counts_seen, mark_seen


@require_safe
@needs(Role.READER)
def compare(request: HttpRequest) -> HttpResponse:
    first, second = (whole_number(request.GET.get(name, "")) for name in ("first", "second"))
    page = comparison_page(builds_visible_to(request.user), first, second)
    if page.found:
        mark_counts_seen(request.user, Case.objects.filter(build=page.found.second), page.found.told)
    return render(request, "annotation/compare.html", {"page": page}, status=422 if page.problem else 200)


@require_safe
@needs(Role.READER)
def annotators(request: HttpRequest) -> HttpResponse:
    """Closed while the person rates: labels of anybody tell of the pairs of a study."""
    refuse_while_blind(request.user)
    first, second, first_round, second_round = (
        whole_number(request.GET.get(name, "")) for name in ("first", "second", "first_round", "second_round")
    )
    page = annotators_page(builds_visible_to(request.user), (first, second), (first_round, second_round))
    mark_seen(request.user, page.seen)
    status = 422 if page.problem else 200
    return render(request, "annotation/compare_annotators.html", {"page": page}, status=status)
