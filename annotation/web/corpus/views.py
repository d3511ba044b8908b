"""Corpus statistics: of a build, a benchmark, a collection; `?table=` and `?format=` take one table home."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse

from annotation.accounts.roles import GET, Role, benchmarks_visible_to, builds_visible_to, require_role
from annotation.review.hidden_labels import counted_label
from annotation.web.corpus.distribution import distribution_page
from annotation.web.corpus.page import Of, of_benchmark, of_build, of_collection
from annotation.web.corpus.tables import Section
from annotation.web.shared.downloads import attach_table
from annotation.web.studies.figures import build_study_table_view
from retrieval.models import Collection

LISTS: Final = {"build": "browse", "benchmark": "benchmarks", "collection": "collections"}
"""The page that lists what the statistics are of, by kind."""


@require_role(Role.READER, GET)
def build(request: HttpRequest, build_pk: int) -> HttpResponse:
    visible = builds_visible_to(request.user).select_related("mining", "tally")
    found = get_object_or_404(visible, pk=build_pk)
    back = reverse("browse-build", args=[found.pk])
    # While it is worked on its counts are soon behind.
    more = {
        "moving": not found.is_over,
        "spread": partial(distribution_page, found, counted_label(request.user, found)),
    }
    return respond_with_corpus(request, "build", found, back, of_build(found), **more)


@require_role(Role.READER, GET)
def benchmark(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(benchmarks_visible_to(request.user), pk=pk)
    back, title = reverse("benchmark", args=[pk]), f"{found.name}, version {found.version}"
    return respond_with_corpus(request, "benchmark", found, back, of_benchmark(found), title=title)


@require_role(Role.ADMIN, GET)
def collection(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Collection, pk=pk)
    back = reverse("collection", args=[pk])
    return respond_with_corpus(request, "collection", found, back, of_collection(found))


def respond_with_corpus(
    request: HttpRequest, kind: str, what: Of, back: str, sections: tuple[Section, ...], **more: Any
) -> HttpResponse:
    """The page of a build, benchmark or collection, or the file that is asked for."""
    if "table" in request.GET:
        return attach_table((section.table for section in sections), request.GET, kind)
    page = {
        "title": str(what),
        "kind": kind,
        "back": back,
        "list": reverse(LISTS[kind]),
        "list_name": LISTS[kind].capitalize(),
        "pin": reverse(f"{kind}-corpus-pin", args=[what.pk]),
        "sections": [(build_study_table_view(section.table), section) for section in sections],
        **more,
    }
    return render(request, "annotation/corpus/detail.html", {"page": page})
