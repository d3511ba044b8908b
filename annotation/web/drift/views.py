"""The fixed pairs of a drift check, for whoever asks which of them moved."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.accounts.roles import GET, Role, require_role
from annotation.studies.exposure import mark_seen
from annotation.web.builds.views import find_visible_build
from annotation.web.drift.page import build_drift_pairs_page, finished_check


@require_role(Role.ADMIN, GET)
def pairs(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    build = find_visible_build(request, pk)
    check = finished_check(build, number)
    if check is None:
        raise Http404("This build has no such drift check, or it is still running.")
    page = build_drift_pairs_page(build, check, request.GET)
    mark_seen(request.user, page["told"])
    return render(request, "annotation/drift/pairs.html", {"page": page})
