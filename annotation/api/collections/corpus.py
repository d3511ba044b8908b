"""Statistics of what a build and a collection hold; those of a benchmark are with the benchmarks."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router

from annotation.accounts.roles import Role
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.api.shared.tables import answer_tables
from annotation.schemas.benchmarks.benchmarks import TableQuery
from annotation.web.corpus.page import of_build, of_collection
from retrieval.models import Collection
from retrieval.schemas import Id

router = Router()


@router.get("/builds/{int:pk}/corpus", response=dict[str, Any], tags=["builds"])
def get_build_corpus(
    request: HttpRequest, pk: Path[Id], wanted: Query[TableQuery]
) -> dict[str, Any] | HttpResponse:
    """Statistics of a build's queries, candidates and labels: all tables, or one as a file."""
    sections = of_build(visible.build(request, pk))
    return answer_tables((section.table for section in sections), wanted, "build")


@router.get(
    "/collections/{int:pk}/corpus",
    response=dict[str, Any],
    tags=["collections"],
    auth=signed_in(Role.ADMIN),
)
def get_collection_corpus(
    request: HttpRequest, pk: Path[Id], wanted: Query[TableQuery]
) -> dict[str, Any] | HttpResponse:
    """Statistics of a collection's texts: all tables, or one as a file. For admins."""
    sections = of_collection(get_object_or_404(Collection, pk=pk))
    return answer_tables((section.table for section in sections), wanted, "collection")
