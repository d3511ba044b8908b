"""What the drift check of a build found."""

from __future__ import annotations

from django.http import Http404, HttpRequest
from ninja import Path, Router

from annotation.access import Role
from annotation.api import visible
from annotation.api.auth import signed_in
from annotation.api.builds import dollars
from annotation.drift.asking import AGENT
from annotation.models import AgentBill, DriftCheck, DriftWatch
from annotation.schemas.drift import DriftCheckOut, DriftOut
from retrieval.schemas import Id

router = Router(tags=["builds"])
MOST_CHECKS = 200


@router.get("/{int:pk}/drift", response=DriftOut, auth=signed_in(Role.ADMIN))
def get_drift(request: HttpRequest, pk: Path[Id]) -> DriftOut:
    """The checks so far and what they cost; 404 where none was ordered. For admins."""
    watch = DriftWatch.objects.filter(build=visible.build(request, pk)).first()
    if watch is None:
        raise Http404
    bill = AgentBill.objects.filter(build=watch.pk, agent=AGENT).first()
    return DriftOut(
        every=watch.every,
        seed=watch.seed,
        pairs=watch.drawn,
        most=watch.most,
        calls=bill.calls if bill else 0,
        spent=dollars(bill.spent if bill else 0),
        checks=[check_out(check) for check in watch.checks.order_by("-number")[:MOST_CHECKS]],
    )


def check_out(check: DriftCheck) -> DriftCheckOut:
    return DriftCheckOut(
        number=check.number,
        is_baseline=check.is_baseline,
        settled=check.settled,
        began_at=check.began_at,
        finished_at=check.finished_at,
        agreed=check.agreed,
        higher=check.up,
        lower=check.down,
        unlike=check.unlike,
        apart=check.apart,
        odd=check.odd,
        p_value=check.p_value,
        level=check.level,
        shifted=check.shifted,
        cost=dollars(check.cost),
    )
