"""Places and the pairs that hold them: the only module that changes a Quota or an Assignment's state.

Locks are taken in one order everywhere, several of a kind by their keys:

1. raters' parts: by raters in share (`hold_part`, `hold_parts`), by whoever ends a part alone (`pause_part`,
   `pause_parts`);
2. the study;
3. the pair's quotas;
4. the assignment;
5. the rows of finished raters who have work again (`resume_finished_raters`); then come
inserts.

The last step is on rows of the first, so an admin who has paused parts would be waited for by a rater whom
the admin waits for. A rater who may get there therefore holds all parts from the beginning (`hold_parts`);
that is in share with other raters, and with the last step, which changes no key.

Every change is conditional on what the caller has read, so that of two that meet one finds that it came too
late. What raters have under way while an admin changes the study's raters is stored before that, or refused.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from annotation.models import Assignment, Enrolment, Quota
from retrieval.models import statements

State = Assignment.State
LEASE: Final = timedelta(minutes=30)
"""How long a pair is held for a rater whose page does not report any more."""
HOLDING: Final = (State.RESERVED, State.LOCKED, State.DONE)
"""The states that hold a place of the pair's quota."""


class CameTooLate(Exception):
    """Another request changed the assignment or took the place meanwhile; nothing was stored."""


def compute_reservation_expiry() -> datetime:
    """When a reservation that is renewed now runs out."""
    return timezone.now() + LEASE


def new_token() -> str:
    return secrets.token_hex(16)


class Part(NamedTuple):
    """Whether an admin has ended a rater's part, and whether the rater has."""

    removed: bool
    left: bool


def hold_part(enrolment: int) -> bool:
    """Let nobody end the rater's part before this transaction is over; whether an admin has ended it.

    To be called before anything that the rater changes is read: else a removal could come between.
    """
    return held_part(enrolment).removed


def hold_parts(study: int) -> None:
    """The same of all raters of the study, for a change that may let others go on who were finished.

    Nobody becomes finished meanwhile either, who would not be told of what has come up.
    """
    statements.look_and_hold(Enrolment, ["id"], {"study": study})


def held_part(enrolment: int) -> Part:
    """The same, with who has ended it."""
    rows = statements.look_and_hold(Enrolment, ["removed", "left_at"], {"id": enrolment})
    return Part(any(removed for removed, _ in rows), any(left is not None for _, left in rows))


def pause_parts(study: int) -> None:
    """Wait for what the study's raters have under way, and let nothing more begin before this transaction is
    over: for an admin who changes raters or pairs, so that no two of them wait for each other.

    To be called before the study's row is held: a first label holds both in that order.
    """
    if connection.features.has_select_for_update:  # else the transaction holds the whole database
        list(Enrolment.objects.filter(study=study).order_by("pk").select_for_update().values_list("pk"))


def pause_part(enrolment: int) -> None:
    """The same for one rater, who ends their part: no other window of theirs is given a pair meanwhile."""
    Enrolment.objects.select_for_update().get(pk=enrolment)


def resume_finished_raters(enrolments: Collection[int]) -> int:
    """Let those of the raters go on who were finished and did not leave; returns how many.

    Rows of others are not held: an admin may have them.
    """
    with transaction.atomic():
        over = Enrolment.objects.filter(pk__in=enrolments, left_at=None, finished_at__isnull=False)
        held = list(over.order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True))
        return Enrolment.objects.filter(pk__in=held).update(finished_at=None)


def take_rating_place(study_pair: int, condition: int, round_: int) -> bool:
    """Count one more rating as handed out; False where all that are wanted are, or a new round has begun."""
    row = {"study_pair": study_pair, "condition": condition, "round": round_}
    return statements.update_rows(Quota, row, grow={"reserved": 1}, provided="reserved < wanted") == 1


def renew_tokens(enrolment: Enrolment) -> None:
    """Let no window of the rater go on from what holds no place: the tokens are other ones."""
    enrolment.assignments.exclude(state__in=HOLDING).update(token=new_token())


def change_assignment_state(
    assignment: Assignment, to: State, *, if_ended: datetime | None = None, **columns: Any
) -> None:
    """Change the state, and the counts of the pair's quota with it; in a transaction.

    `if_ended`: only if the reservation had run out by then. Raises CameTooLate where no place is free, or
    where the assignment is not as it was read.
    """
    if not assignment.study_pair.planted:
        update_quota_counts(assignment, to)
    was = {"id": assignment.pk, "state": assignment.state, "token": assignment.token}
    put = {"state": to.value, **columns}
    ended = [] if if_ended is None else [connection.ops.adapt_datetimefield_value(if_ended)]
    provided = "reserved_until < %s" if ended else ""
    if statements.update_rows(Assignment, was, put=put, provided=provided, values=ended) != 1:
        raise CameTooLate
    for name, value in put.items():
        setattr(assignment, name, value)


def try_state_change(
    assignment: Assignment, to: State, *, if_ended: datetime | None = None, **columns: Any
) -> bool:
    """The same in a transaction of its own; False where it came too late."""
    try:
        with transaction.atomic():
            change_assignment_state(assignment, to, if_ended=if_ended, **columns)
    except CameTooLate:
        return False
    return True


def hold_anew(assignment: Assignment, to: State) -> None:
    """Give the rater the pair under a new token. Raises CameTooLate."""
    ends = compute_reservation_expiry()
    change_assignment_state(assignment, to, token=new_token(), reserved_until=ends)


def update_quota_counts(assignment: Assignment, to: State) -> None:
    """What a move changes in the quota of the pair. Raises CameTooLate where no place is free.

    A quota counts one round: what is left over from an earlier one ends without it.
    """
    held, done = assignment.state in HOLDING, assignment.state == State.DONE
    grow = {"reserved": int(to in HOLDING) - int(held), "done": int(to == State.DONE) - int(done)}
    if not any(grow.values()):
        return
    if (
        statements.update_rows(
            Quota, quota_columns_of_assignment(assignment), grow=grow, provided=quota_growth_condition(**grow)
        )
        == 1
    ):
        return
    if grow["reserved"] > 0 or Quota.objects.filter(**quota_columns_of_assignment(assignment)).exists():
        raise CameTooLate


def quota_growth_condition(reserved: int, done: int) -> str:
    """That a quota that has grown so holds together: else what the caller has read is not true any more."""
    return f"reserved + {reserved} <= wanted AND done + {done} BETWEEN 0 AND reserved + {reserved}"


def quota_columns_of_assignment(assignment: Assignment) -> dict[str, int]:
    return {
        "study_pair": assignment.study_pair_id,
        "condition": assignment.condition_id,
        "round": assignment.round,
    }


def is_free(assignment: Assignment) -> bool:
    """Whether a place of the pair is free, for one that holds none. Planted pairs have no limit."""
    if assignment.study_pair.planted:
        return True
    return Quota.objects.filter(**quota_columns_of_assignment(assignment), reserved__lt=F("wanted")).exists()
