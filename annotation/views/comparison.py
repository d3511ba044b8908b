"""Two builds side by side."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.access import Role, builds_visible_to, needs
from annotation.pages.comparison import comparison_page
from annotation.pages.paging import whole_number


@require_safe
@needs(Role.READER)
def compare(request: HttpRequest) -> HttpResponse:
    first, second = (whole_number(request.GET.get(name, "")) for name in ("first", "second"))
    page = comparison_page(builds_visible_to(request.user), first, second)
    return render(request, "annotation/compare.html", {"page": page}, status=422 if page.problem else 200)
