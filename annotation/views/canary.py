"""What the canary of a large build found, for whoever decides whether all other pairs are paid for."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.access import Role, builds_visible_to, needs
from annotation.pages import canary as pages
from annotation.seen import mark_seen
from annotation.views.builds import visible


@require_safe
@needs(Role.ADMIN)
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    page = pages.page(visible(request, pk), builds_visible_to(request.user))
    if page is None:
        raise Http404("This build has no canary, or its pairs are not drawn yet.")
    mark_seen(request.user, [example.pair for example in page.examples])
    return render(request, "annotation/canary.html", {"page": page})
