"""Given pairs, and the audit of their labels."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path as File
from typing import Literal, cast

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router, Status

from annotation.access import Role, refuse_while_blind
from annotation.api import visible
from annotation.api.auth import signed_in
from annotation.api.builds import collection, given_out
from annotation.api.queries import text_head
from annotation.label_audit import Audit, Experts, Figures, Row, Verdict, audit_of
from annotation.launching import LaunchRefused
from annotation.models import Build
from annotation.pages.label_audit import Filters, kept, ordered, passes
from annotation.schemas.builds import GivenOut, PairsIn
from annotation.schemas.label_audit import (
    AuditBuildOut,
    AuditCellOut,
    AuditOut,
    AuditPaging,
    AuditPairOut,
    AuditRateOut,
    ExpertsSay,
    Said,
    SaidOut,
)
from annotation.seen import mark_seen
from retrieval.given_pairs import NoPairs, Wanted, of_file
from retrieval.models import Pair
from retrieval.schemas import Id, Page

router = Router(tags=["builds"])
PROBLEMS_TOLD = 20


@router.post("/pairs", response={201: GivenOut}, auth=signed_in(Role.ADMIN))
def give_pairs(request: HttpRequest, wanted: PairsIn) -> Status[GivenOut]:
    """Pairs that builds can judge, by `pairs: {"list": id}` of an order; the same ones are kept once. For
    admins.
    """
    rows = (json.dumps(one.dict(exclude_defaults=True)) for one in wanted.pairs)
    with tempfile.TemporaryDirectory() as folder:
        path = File(folder) / "pairs.jsonl"
        path.write_text("\n".join(rows), "utf-8")
        try:
            read = of_file(
                Wanted(
                    path,
                    wanted.name.strip(),
                    collection(wanted.queries) if wanted.queries else None,
                    collection(wanted.snippets) if wanted.snippets else None,
                    called=wanted.name.strip(),
                )
            )
        except NoPairs as why:
            told = "; ".join(f"pair {one.record}: {one.message}" for one in why.problems[:PROBLEMS_TOLD])
            raise LaunchRefused(f"{why} {told}".strip()) from why
    return Status(201, given_out(read.pairs))


@router.get("/builds/{int:pk}/audit", response=AuditOut)
def get_audit(request: HttpRequest, pk: Path[Id]) -> AuditOut:
    """The audit of a build's given pairs: who says what of which label, and shares with intervals.

    Closed while the caller rates in a study.
    """
    audit = audit_for(request, pk)
    figures = [kept(audit, place) for place in range(len(audit.builds))]
    return AuditOut(
        given=given_out(audit.given),
        pairs=len(audit.rows),
        queries=figures[0].queries,
        builds=[build_out(*one) for one in zip(audit.builds, figures, strict=True)],
        left_out=list(audit.left_out),
    )


@router.get("/builds/{int:pk}/audit/pairs", response=Page[AuditPairOut])
def list_audited(request: HttpRequest, pk: Path[Id], wanted: Query[AuditPaging]) -> Page[AuditPairOut]:
    """The pairs of an audit, those that differ first; `after` is the last pair of the page before."""
    audit = audit_for(request, pk)
    names = Filters.__slots__
    filters = Filters(**{name: getattr(wanted, name) or "" for name in names})
    rows = ordered(row for row in audit.rows if passes(row, filters))
    places = {row.pair: place for place, row in enumerate(rows)}
    start = places.get(wanted.after or 0, -1) + 1
    page = rows[start : start + wanted.limit]
    mark_seen(request.user, [row.pair for row in page])
    more = len(rows) > start + wanted.limit
    return Page(items=pairs_out(audit, page), next=page[-1].pair if more else None)


def audit_for(request: HttpRequest, pk: int) -> Audit:
    """Raises Http404, KeptBlind, and StudyRefused where a sealed study's labels would be told."""
    refuse_while_blind(request.user)
    builds = visible.builds(request).filter(given__isnull=False).select_related("given__benchmark")
    build = get_object_or_404(builds.select_related("annotator", "tally", "given__benchmark"), pk=pk)
    return audit_of(build, visible.builds(request))


def told_of(experts: Experts) -> ExpertsSay:
    return experts.value


def said_out(build: Build, said: Verdict) -> SaidOut:
    return SaidOut(build=build.pk, case=said.case, label=said.label, how=said.how.value, cause=said.cause)


def build_out(build: Build, figures: Figures) -> AuditBuildOut:
    return AuditBuildOut(
        build=build.pk,
        name=build.name,
        state=build.state,
        cells=[
            AuditCellOut(original=original, said=cast(Said, said), experts=told_of(experts), pairs=pairs)
            for (original, said, experts), pairs in figures.cells.items()
        ],
        rates=[
            AuditRateOut(
                what=cast(Literal["upheld", "unjudged"], one.what),
                original=one.original,
                by=one.by,
                part=one.share.part,
                whole=one.share.whole,
                value=cast(float, one.share.value),
                low=one.share.low,
                high=one.share.high,
            )
            for one in figures.rates
        ],
    )


def pairs_out(audit: Audit, rows: Sequence[Row]) -> list[AuditPairOut]:
    """One query."""
    texts = Pair.objects.select_related("query", "snippet").in_bulk([row.pair for row in rows])
    return [
        AuditPairOut(
            pair=row.pair,
            query=text_head(texts[row.pair].query),
            snippet=text_head(texts[row.pair].snippet),
            original=row.original,
            builds=[
                said_out(build, one)
                for build, one in zip(audit.builds, row.verdicts, strict=True)
                if one is not None
            ],
            experts=told_of(row.experts),
            differs=row.differs,
        )
        for row in rows
    ]
