"""Corpus statistics: of a build, a benchmark, a collection; `?table=` and `?format=` take one table home."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from annotation.access import Role, benchmarks_visible_to, builds_visible_to, needs
from annotation.pages import corpus as pages
from annotation.pages.corpus import CorpusPage
from annotation.pages.corpus_tables import Section
from annotation.studies.downloads import FORMATS, formats_of
from retrieval.models import Collection


@require_safe
@needs(Role.READER)
def build(request: HttpRequest, build_pk: int) -> HttpResponse:
    visible = builds_visible_to(request.user).select_related("mining", "tally")
    found = get_object_or_404(visible, pk=build_pk)
    back, pin = reverse("browse-build", args=[found.pk]), reverse("build-corpus-pin", args=[found.pk])
    sections = pages.of_build(found)
    views = pages.views_of(sections)
    page = CorpusPage(found.name, "build", back, views, moving=not found.is_over, pin=pin)
    return shown(request, page, sections)


@require_safe
@needs(Role.READER)
def benchmark(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    back, pin = reverse("benchmark", args=[found.pk]), reverse("benchmark-corpus-pin", args=[found.pk])
    sections = pages.of_benchmark(found)
    title = f"{found.name}, version {found.version}"
    return shown(request, CorpusPage(title, "benchmark", back, pages.views_of(sections), pin=pin), sections)


@require_safe
@needs(Role.ADMIN)
def collection(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Collection, pk=pk)
    back, pin = reverse("collection", args=[found.pk]), reverse("collection-corpus-pin", args=[found.pk])
    sections = pages.of_collection(found)
    return shown(
        request, CorpusPage(str(found), "collection", back, pages.views_of(sections), pin=pin), sections
    )


def shown(request: HttpRequest, page: CorpusPage, sections: tuple[Section, ...]) -> HttpResponse:
    """The page, or the file that is asked for."""
    if "table" in request.GET:
        return download(request, page.kind, sections)
    return render(request, "annotation/corpus.html", {"page": page})


def download(request: HttpRequest, kind: str, sections: tuple[Section, ...]) -> HttpResponse:
    made = {section.table.key: section.table for section in sections}
    table, wanted = made.get(request.GET["table"]), request.GET.get("format", "")
    if table is None or wanted not in formats_of(table):
        raise Http404("There is no such table or format.")
    write, content_type = FORMATS[wanted]
    response = HttpResponse(write(table), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{kind}-{table.key}.{wanted}"'
    return response
