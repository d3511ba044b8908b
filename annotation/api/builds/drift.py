"""What the drift check of a build found."""

from __future__ import annotations

from django.http import Http404, HttpRequest
from ninja import Path, Query, Router

from annotation.accounts.roles import Role
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.builds.drift.questions import AGENT
from annotation.models import AgentBill, DriftWatch
from annotation.schemas.builds.drift import DriftOut, DriftPairOut, DriftPairsPage
from annotation.studies.exposure import mark_seen
from annotation.web.drift.page import CheckedPair, checked_pairs, finished_check
from retrieval.schemas import Id, Page

router = Router(tags=["builds"])
MOST_CHECKS = 200


@router.get("/{int:pk}/drift", response=DriftOut, auth=signed_in(Role.ADMIN))
def get_drift(request: HttpRequest, pk: Path[Id]) -> DriftOut:
    """The checks so far and what they cost; 404 where none was ordered. For admins."""
    watch = DriftWatch.objects.filter(build=visible.build(request, pk)).first()
    if watch is None:
        raise Http404
    bill = AgentBill.objects.filter(build=watch.pk, agent=AGENT).first()
    return DriftOut.of(
        watch,
        calls=bill.calls if bill else 0,
        spent=bill.spent if bill else 0,
        checks=list(watch.checks.order_by("-number")[:MOST_CHECKS]),
    )


@router.get("/{int:pk}/drift/pairs", response=Page[DriftPairOut], auth=signed_in(Role.ADMIN))
def list_drift_pairs(request: HttpRequest, pk: Path[Id], wanted: Query[DriftPairsPage]) -> Page[CheckedPair]:
    """The fixed pairs as drawn, with the first answers and a finished check's. For admins.

    404 where there is no such check.
    """
    check = finished_check(visible.build(request, pk), wanted.check)
    if check is None:
        raise Http404
    every = checked_pairs(check)
    pairs = [pair for pair in every if not wanted.moved or pair.move == wanted.moved]
    behind = [pair for pair in pairs if pair.place > (wanted.after or 0)]
    page = wanted.page(behind, lambda pair: pair.place)
    told = every if wanted.moved else page.items
    mark_seen(request.user, [pair.case.pair_id for pair in told])
    return page
