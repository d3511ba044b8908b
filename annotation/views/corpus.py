"""Corpus statistics: of a build, a benchmark, a collection; `?table=` and `?format=` take one table home."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotation.access import Role, benchmarks_visible_to, builds_visible_to, needs
from annotation.pages import corpus as pages
from annotation.pages.corpus_tables import Section
from annotation.studies.formats import FORMATS
from retrieval.models import Collection


@require_safe
@needs(Role.READER)
def build(request: HttpRequest, build_pk: int) -> HttpResponse:
    visible = builds_visible_to(request.user).select_related("mining", "tally")
    found = get_object_or_404(visible, pk=build_pk)
    back, sections = reverse("browse-build", args=[found.pk]), pages.of_build(found)
    return shown(request, found.name, "build", back, sections, moving=not found.is_over)


@require_safe
@needs(Role.READER)
def benchmark(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    back = reverse("benchmark", args=[found.pk])
    return shown(
        request, f"{found.name}, version {found.version}", "benchmark", back, pages.of_benchmark(found)
    )


@require_safe
@needs(Role.ADMIN)
def collection(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Collection, pk=pk)
    back = reverse("collection", args=[found.pk])
    return shown(request, str(found), "collection", back, pages.of_collection(found))


def shown(
    request: HttpRequest,
    title: str,
    kind: str,
    back: str,
    sections: tuple[Section, ...],
    *,
    moving: bool = False,
) -> HttpResponse:
    """The page, or the file that is asked for."""
    if "table" in request.GET:
        return download(request, kind, sections)
    return render(
        request, "annotation/corpus.html", {"page": pages.page(title, kind, back, sections, moving)}
    )


def download(request: HttpRequest, kind: str, sections: tuple[Section, ...]) -> HttpResponse:
    made = {section.table.key: section.table for section in sections}
    table, wanted = made.get(request.GET["table"]), request.GET.get("format", "")
    if table is None or wanted not in FORMATS or wanted == "svg":
        raise Http404("There is no such table or format.")
    write, content_type = FORMATS[wanted]
    response = HttpResponse(write(table), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{kind}-{table.key}.{wanted}"'
    return response
