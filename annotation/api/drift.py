"""What the drift check of a build found."""

from __future__ import annotations

from django.http import Http404, HttpRequest
from ninja import Path, Query, Router

from annotation.access import Role
from annotation.api import visible
from annotation.api.auth import signed_in
from annotation.api.builds import dollars
from annotation.api.queries import text_head
from annotation.drift.asking import AGENT
from annotation.models import AgentBill, DriftAnswer, DriftCheck, DriftWatch
from annotation.pages.drift_pairs import CheckedPair, checked_pairs, finished_check
from annotation.schemas.drift import DriftAnswerOut, DriftCheckOut, DriftOut, DriftPairOut, DriftPairsPage
from annotation.seen import mark_seen
from retrieval.schemas import Id, Page, page_of

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


@router.get("/{int:pk}/drift/pairs", response=Page[DriftPairOut], auth=signed_in(Role.ADMIN))
def list_drift_pairs(request: HttpRequest, pk: Path[Id], wanted: Query[DriftPairsPage]) -> Page[DriftPairOut]:
    """The fixed pairs as drawn, with the first answers and a finished check's. For admins.

    404 where there is no such check.
    """
    check = finished_check(visible.build(request, pk), wanted.check)
    if check is None:
        raise Http404
    pairs = [pair for pair in checked_pairs(check) if not wanted.moved or pair.move == wanted.moved]
    behind = [pair for pair in pairs if pair.place > (wanted.after or 0)]
    page = page_of(behind[: wanted.limit + 1], wanted.limit, lambda pair: pair.place, pair_out)
    mark_seen(request.user, [one.pair for one in page.items])
    return page


def pair_out(pair: CheckedPair) -> DriftPairOut:
    case = pair.case
    return DriftPairOut(
        check=pair.check,
        place=pair.place,
        case=case.pk,
        pair=case.pair_id,
        query=text_head(case.pair.query),
        snippet=text_head(case.pair.snippet),
        label=case.label,
        first=answer_out(pair.first),
        again=answer_out(pair.again) if pair.again else None,
        now=answer_out(pair.now),
        moved=pair.move.value,
    )


def answer_out(answer: DriftAnswer) -> DriftAnswerOut:
    return DriftAnswerOut(verdict=answer.verdict, words=answer.words)


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
