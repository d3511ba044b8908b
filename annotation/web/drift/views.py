"""The fixed pairs of a drift check, for whoever asks which of them moved."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.accounts.roles import GET, Role, require_role
from annotation.studies.exposure import mark_seen
from annotation.web.builds.views import find_visible_build
from annotation.web.drift.page import build_drift_pairs_page, finished_check
from annotation.web.drift.tables import build_drift_tables
from annotation.web.shared.downloads import attach_table, list_table_files


@require_role(Role.ADMIN, GET)
def pairs(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    build = find_visible_build(request, pk)
    check = finished_check(build, number)
    if check is None:
        raise Http404("This build has no such drift check, or it is still running.")
    tables = build_drift_tables(check)
    if "table" in request.GET:
        return attach_table(tables, request.GET, f"drift-{pk}")
    page = build_drift_pairs_page(build, check, request.GET)
    page["files"] = list_table_files(tables, request.GET)
    mark_seen(request.user, page["told"])
    return render(request, "annotation/drift/pairs.html", {"page": page})
