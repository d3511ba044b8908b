"""The fixed pairs of a drift check, for whoever asks which of them moved."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.access import Role, needs
from annotation.pages import drift_pairs
from annotation.seen import mark_seen
from annotation.views.builds import visible


@require_safe
@needs(Role.ADMIN)
def pairs(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    page = drift_pairs.page(visible(request, pk), number, request.GET)
    if page is None:
        raise Http404("This build has no such drift check, or its questions are still asked.")
    mark_seen(request.user, [row.pair for row in page.rows])
    return render(request, "annotation/drift_pairs.html", {"page": page})
