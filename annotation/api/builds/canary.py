"""What the canary of a large build, or of an extension, found."""

from __future__ import annotations

from django.http import Http404, HttpRequest
from ninja import Path, Router

from annotation.accounts.roles import Role
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.builds.limits import canary
from annotation.builds.results import canary_statistics
from annotation.builds.results.canary_statistics import Measures
from annotation.models import Build, Canary
from annotation.schemas.builds.canary import CanaryOut
from annotation.web.canary import page
from retrieval.schemas import Id

router = Router(tags=["builds"])


@router.get("/{int:pk}/canary", response=CanaryOut, auth=signed_in(Role.ADMIN))
def get_canary(request: HttpRequest, pk: Path[Id]) -> CanaryOut:
    """The canary's figures so far, beside the last finished build's; 404 before it is drawn. For admins."""
    build = visible.build(request, pk)
    row = Canary.objects.of_whole_build(build).select_related("decided_by").exclude(pairs=0).first()
    if row is None:
        raise Http404
    other = canary_statistics.last_finished(visible.builds(request), build)
    return canary_out(build, row, other, canary_statistics.of_build(other) if other else None)


@router.get("/{int:pk}/extensions/{int:number}/canary", response=CanaryOut, auth=signed_in(Role.ADMIN))
def get_extension_canary(request: HttpRequest, pk: Path[Id], number: Path[Id]) -> CanaryOut:
    """The figures of an extension's canary, beside those of the build before it. For admins."""
    build = visible.build(request, pk)
    row = page.of_extension(build, number)
    if row is None:
        raise Http404
    return canary_out(build, row, build, canary_statistics.from_json(row.before) if row.before else None)


def canary_out(build: Build, row: Canary, other: Build | None, others: Measures | None) -> CanaryOut:
    found = canary_statistics.of_canary(row, canary.compute_canary_cost(row, build.tally))
    return CanaryOut.of(
        row,
        cases=len(row.drawn),
        waits_for_decision=build.state == Build.State.CANARY and row.decided_at is None,
        measures=found,
        projected_total=found.cost.times(row.pairs) if found.cost else None,
        compared_with=other.pk if other else None,
        compared_measures=others,
    )
