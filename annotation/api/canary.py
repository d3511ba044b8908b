"""What the canary of a large build, or of an extension, found."""

from __future__ import annotations

from decimal import Decimal

from django.http import Http404, HttpRequest
from ninja import Path, Router

from annotation import canary, measures
from annotation.access import Role
from annotation.api import visible
from annotation.api.auth import signed_in
from annotation.api.builds import dollars
from annotation.intervals import Mean, Share
from annotation.measures import Measures
from annotation.models import AnyCanary, Build, Canary
from annotation.pages import canary as pages
from annotation.schemas.canary import CanaryOut, MeanOut, MeasuresOut, ShareOut
from retrieval.schemas import Id

router = Router(tags=["builds"])


@router.get("/{int:pk}/canary", response=CanaryOut, auth=signed_in(Role.ADMIN))
def get_canary(request: HttpRequest, pk: Path[Id]) -> CanaryOut:
    """The canary's figures so far, beside the last finished build's; 404 before it is drawn. For admins."""
    build = visible.build(request, pk)
    row = Canary.objects.select_related("decided_by").filter(build=build).exclude(pairs=0).first()
    if row is None:
        raise Http404
    other = measures.last_finished(visible.builds(request), build)
    return canary_out(build, row, other, measures.of_build(other) if other else None)


@router.get("/{int:pk}/extensions/{int:number}/canary", response=CanaryOut, auth=signed_in(Role.ADMIN))
def get_extension_canary(request: HttpRequest, pk: Path[Id], number: Path[Id]) -> CanaryOut:
    """The figures of an extension's canary, beside those of the build before it. For admins."""
    build = visible.build(request, pk)
    row = pages.of_extension(build, number)
    if row is None:
        raise Http404
    return canary_out(build, row, build, measures.from_json(row.before) if row.before else None)


def canary_out(build: Build, row: AnyCanary, other: Build | None, others: Measures | None) -> CanaryOut:
    found = measures.of_canary(row, canary.spent(row, build.tally))
    waits = build.state == Build.State.CANARY and row.decided_at is None
    return CanaryOut(
        pairs=row.pairs,
        cases=len(row.drawn),
        seed=row.seed,
        waits_for_decision=waits,
        done_at=row.done_at,
        decided_at=row.decided_at,
        decided_by=row.decided_by.username if row.decided_by else None,
        measures=measures_out(found),
        projected_total=mean_out(found.cost.times(row.pairs)) if found.cost else None,
        compared_with=other.pk if other else None,
        compared_measures=measures_out(others) if others else None,
    )


def measures_out(found: Measures) -> MeasuresOut:
    return MeasuresOut(
        finished=found.finished,
        units=found.units,
        cost=mean_out(found.cost) if found.cost else None,
        unclear=share_out(found.unclear),
        executable=share_out(found.executable),
        matches=share_out(found.matches),
        abandoned=share_out(found.abandoned),
        refused=share_out(found.refused),
    )


def mean_out(mean: Mean) -> MeanOut:
    return MeanOut(value=money(mean.value), low=money(mean.low), high=money(mean.high))


def money(nano: float | None) -> Decimal | None:
    return None if nano is None else dollars(round(nano))


def share_out(share: Share) -> ShareOut:
    return ShareOut(part=share.part, whole=share.whole, value=share.value, low=share.low, high=share.high)
