"""Given pairs, and the audit of their labels."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path as File

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router, Status

from annotation.accounts.roles import Role, refuse_while_blind
from annotation.api.builds.builds import collection
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.builds.launch.order import LaunchRefused
from annotation.label_audit import Audit, AuditRow, Figures, audit_of
from annotation.models import Build
from annotation.review.hidden_labels import refuse_experts_of
from annotation.schemas.builds.builds import GivenOut, PairsIn
from annotation.schemas.review.label_audit import (
    AuditBuildOut,
    AuditCellOut,
    AuditOut,
    AuditPaging,
    AuditPairOut,
    AuditVerdictOut,
)
from annotation.studies.exposure import mark_builds_seen
from annotation.web.label_audit.page import (
    Filters,
    is_kept_by_filters,
    load_cached_audit_figures,
    sort_differing_first,
)
from retrieval.given_pairs import NoPairs, Wanted, of_file
from retrieval.models import Pair, PairList
from retrieval.schemas import Id, Page

router = Router(tags=["builds"])
PROBLEMS_TOLD = 20


@router.post("/pairs", response={201: GivenOut}, auth=signed_in(Role.ADMIN))
def give_pairs(request: HttpRequest, wanted: PairsIn) -> Status[PairList]:
    """Pairs that builds can judge, by `pairs: {"list": id}` of an order; the same ones are kept once. For
    admins.
    """
    rows = (json.dumps(pair.dict(exclude_defaults=True)) for pair in wanted.pairs)
    with tempfile.TemporaryDirectory() as folder:
        path = File(folder) / "pairs.jsonl"
        path.write_text("\n".join(rows), "utf-8")
        try:
            read = of_file(
                Wanted(
                    path,
                    wanted.name.strip(),
                    collection(wanted.queries, "queries") if wanted.queries else None,
                    collection(wanted.functions, "snippets") if wanted.functions else None,
                    called=wanted.name.strip(),
                )
            )
        except NoPairs as why:
            told = "; ".join(
                f"pair {problem.record}: {problem.message}" for problem in why.problems[:PROBLEMS_TOLD]
            )
            raise LaunchRefused(f"{why} {told}".strip()) from why
    return Status(201, read.pairs)


@router.get("/builds/{int:pk}/audit", response=AuditOut)
def get_audit(request: HttpRequest, pk: Path[Id]) -> AuditOut:
    """The audit of a build's given pairs: who says what of which label, and shares with intervals.

    Closed while the caller rates in a study.
    """
    audit = audit_for(request, pk)
    figures = [load_cached_audit_figures(audit, place) for place in range(len(audit.builds))]
    return AuditOut.of(
        audit,
        pairs=len(audit.rows),
        queries=figures[0].queries,
        builds=[build_out(*of) for of in zip(audit.builds, figures, strict=True)],
    )


@router.get("/builds/{int:pk}/audit/pairs", response=Page[AuditPairOut])
def list_audited(request: HttpRequest, pk: Path[Id], wanted: Query[AuditPaging]) -> Page[AuditPairOut]:
    """The pairs of an audit, those that differ first; `after` is the last pair of the page before."""
    audit = audit_for(request, pk)
    names = Filters.__slots__
    filters = Filters(**{name: getattr(wanted, name) or "" for name in names})
    rows = sort_differing_first(row for row in audit.rows if is_kept_by_filters(row, filters))
    places = {row.pair: place for place, row in enumerate(rows)}
    start = places.get(wanted.after or 0, -1) + 1
    page = rows[start : start + wanted.limit]
    mark_builds_seen(request.user, [build.pk for build in audit.builds])  # those that differ come first
    more = len(rows) > start + wanted.limit
    return Page(items=pairs_out(audit, page), next=page[-1].pair if more else None)


def audit_for(request: HttpRequest, pk: int) -> Audit:
    """Raises Http404, KeptBlind, and StudyRefused where a sealed study's labels would be told."""
    refuse_while_blind(request.user)
    builds = visible.builds(request).filter(pair_list__isnull=False).select_related("pair_list__benchmark")
    build = get_object_or_404(builds.select_related("annotator", "tally", "pair_list__benchmark"), pk=pk)
    refuse_experts_of(request.user, build)
    return audit_of(build, visible.builds(request))


def build_out(build: Build, figures: Figures) -> AuditBuildOut:
    cells = [AuditCellOut.of(cell, pairs=pairs) for cell, pairs in figures.cells.items()]
    return AuditBuildOut.of(build, cells=cells, rates=figures.rates)


def pairs_out(audit: Audit, rows: Sequence[AuditRow]) -> list[AuditPairOut]:
    """One query."""
    texts = Pair.objects.select_related("query", "snippet").in_bulk([row.pair for row in rows])
    return [
        AuditPairOut.of(
            row,
            query=texts[row.pair].query,
            function=texts[row.pair].snippet,
            builds=[
                AuditVerdictOut.of(verdict, build=build.pk)
                for build, verdict in zip(audit.builds, row.verdicts, strict=True)
                if verdict is not None
            ],
        )
        for row in rows
    ]
