"""Raters whom an amendment excludes: their places go to others, what they said stays as history.

A rating that gave up its place is *left out*: it is in no figure, also where its rater is included again and
somebody else has taken the place meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.models import Assignment, Enrolment, Quota
from annotation.studies.enrolment import places
from annotation.studies.enrolment.places import CameTooLate, State
from annotation.studies.plan.plan import StudyRefused

TRIES: Final = 20
BECOMES: Final[Mapping[str, State]] = {
    State.RESERVED: State.LAPSED,
    State.LOCKED: State.LAPSED,
    State.DONE: State.LEFT_OUT,
}


@dataclass(frozen=True, slots=True)
class BroughtBack:
    """Of the ratings that were left out: how many count again, and how many lost their place to others."""

    counted: int
    taken: int


def leave_out(enrolment: Enrolment) -> int:
    """Free all places that the rater holds; returns how many ratings gave up theirs.

    To be called in the transaction that excludes the rater. Whatever the rater has under way finds its token
    or state changed, looks again, and is refused. Raises StudyRefused where that never comes to an end.
    """
    places.renew_tokens(enrolment)
    freed = 0
    for _ in range(TRIES):
        held = list(assignments_holding_places(enrolment))
        if not held:
            return freed
        freed += sum(is_freed(place) for place in held)
    raise StudyRefused(f"{enrolment.pseudonym} changes pairs at this moment. Exclude them in some seconds.")


def assignments_holding_places(enrolment: Enrolment) -> QuerySet[Assignment]:
    """What holds a place of the round that is asked now, or is open. Planted pairs have no places."""
    same = {name: OuterRef(name) for name in ("study_pair", "condition", "round")}
    counted = Q(Exists(Quota.objects.filter(**same)), state=State.DONE, study_pair__planted="")
    still = Q(state__in=[State.RESERVED, State.LOCKED])
    return enrolment.assignments.filter(counted | still).select_related("study_pair").order_by("study_pair")


def is_freed(held: Assignment) -> bool:
    """Give the place back; whether a rating was left out by that.

    One rating more, where the pair was asked for it, is wanted again only if the others are seen to split.
    """
    becomes = BECOMES[held.state]
    # Whoever is in the place of a rating that is left out came after that.
    ended = {"reserved_until": timezone.now()} if becomes is State.LEFT_OUT else {}
    if not places.try_state_change(held, becomes, **ended) or becomes is not State.LEFT_OUT:
        return False
    more = Quota.objects.filter(**places.quota_columns_of_assignment(held), wanted__gt=F("condition__raters"))
    more.filter(reserved__lt=F("wanted")).update(wanted=F("wanted") - 1)
    return True


def bring_back(enrolment: Enrolment) -> BroughtBack:
    """Let ratings count again whose places nobody has taken, in the transaction that includes their rater."""
    out = enrolment.assignments.filter(state=State.LEFT_OUT).select_related("study_pair")
    found = [is_back(assignment) for assignment in out.order_by("study_pair")]
    return BroughtBack(sum(found), len(found) - sum(found))


def is_back(held: Assignment) -> bool:
    """Take the place again, also one that was given up; False where it is taken, or the pair asked again."""
    try:
        with transaction.atomic():
            given_up = Quota.objects.filter(
                **places.quota_columns_of_assignment(held), wanted__lt=F("condition__raters")
            )
            given_up.filter(reserved=F("wanted")).update(wanted=F("wanted") + 1)
            if not is_replaced(held):
                open_one_more(held)
            places.change_assignment_state(held, State.DONE)
    except CameTooLate:
        return False
    return True


def is_replaced(held: Assignment) -> bool:
    """Whether somebody has come into the row of places since the rating was left out."""
    others = Assignment.objects.filter(**places.quota_columns_of_assignment(held), state__in=places.HOLDING)
    return others.exclude(done_at__lte=held.reserved_until).exists()


def open_one_more(held: Assignment) -> None:
    """Want the one rating more again that the exclusion had taken back, where it had."""
    rows = Quota.objects.filter(**places.quota_columns_of_assignment(held), condition__study__one_more=True)
    rows.filter(wanted=F("condition__raters"), reserved=F("wanted")).update(wanted=F("wanted") + 1)
