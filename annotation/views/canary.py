"""What a canary found, for whoever decides whether all other pairs are paid for."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from annotation.access import Role, builds_visible_to, needs
from annotation.pages import canary as pages
from annotation.pages.canary import CanaryPage
from annotation.seen import mark_seen
from annotation.views.builds import visible


@require_safe
@needs(Role.ADMIN)
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    return shown(request, pages.page(visible(request, pk), builds_visible_to(request.user)))


@require_safe
@needs(Role.ADMIN)
def of_extension(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    return shown(request, pages.extension_page(visible(request, pk), number))


def shown(request: HttpRequest, page: CanaryPage | None) -> HttpResponse:
    """Raises Http404 where there is no such canary."""
    if page is None:
        raise Http404("There is no such canary, or its pairs are not drawn yet.")
    mark_seen(request.user, [example.pair for example in page.examples])
    return render(request, "annotation/canary.html", {"page": page})
