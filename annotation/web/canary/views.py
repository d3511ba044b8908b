"""What a canary found, for whoever decides whether all other pairs are paid for."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.accounts.roles import GET, Role, builds_visible_to, require_role
from annotation.studies.exposure import mark_seen
from annotation.web.builds.views import find_visible_build
from annotation.web.canary.page import build_canary_page, extension_page


@require_role(Role.ADMIN, GET)
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    return render_canary(
        request, build_canary_page(find_visible_build(request, pk), builds_visible_to(request.user))
    )


@require_role(Role.ADMIN, GET)
def of_extension(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    return render_canary(request, extension_page(find_visible_build(request, pk), number))


def render_canary(request: HttpRequest, page: dict[str, Any] | None) -> HttpResponse:
    """Raises Http404 where there is no such canary."""
    if page is None:
        raise Http404("There is no such canary, or its pairs are not drawn yet.")
    mark_seen(request.user, [case.pair_id for case, _ in page["examples"]])
    return render(request, "annotation/canary/detail.html", {"page": page})
