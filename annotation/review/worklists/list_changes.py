"""What people do to many rows of a list at once: tags, and who is to review what. Nothing labels a pair.

All of one order is one transaction and one change, which its author can undo. Rows are added and ended, and
never overwritten.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from annotation.accounts.roles import Role, has_role
from annotation.models import Build, Case, ListChange, PairTag, ReviewAssignment
from annotation.review.tags import Tag

MOST_AT_ONCE: Final = 200
"""Rows that one order changes."""
MOST_SHARED: Final = 2_000
"""Pairs that are shared out at once."""
Mark = TypeVar("Mark", PairTag, ReviewAssignment)
Kind = ListChange.Kind


class ListChangeRefused(ValueError):
    """Nothing was changed; the message says why."""


def checked_cases(build: Build, ids: Iterable[int]) -> list[Case]:
    """The build's cases among these, one a pair. Raises ListChangeRefused for none, or for too many."""
    wanted = set(ids)
    if not wanted:
        raise ListChangeRefused("Tick at least one pair.")
    if len(wanted) > MOST_AT_ONCE:
        raise ListChangeRefused(f"At most {MOST_AT_ONCE} pairs can be changed at once.")
    cases = list(Case.objects.filter(build=build, round=1, pk__in=wanted).order_by("pk"))
    if not cases:
        raise ListChangeRefused("These pairs are not in this build.")
    return cases


def tag_cases(user: User, build: Build, cases: Sequence[Case], tag: Tag) -> int:
    """Put the tag on the cases' pairs; returns how many had it not from a list."""
    with transaction.atomic():
        change = ListChange.objects.create(build=build, user=user, kind=Kind.TAG)
        pairs = {case.pair_id for case in cases}
        return add_marks(PairTag(pair_id=pair, tag=tag.value, added=change) for pair in sorted(pairs))


def untag_cases(user: User, build: Build, cases: Sequence[Case], tag: Tag) -> int:
    """Take the tag off; one that somebody gave with a label stays with the label."""
    rows = PairTag.objects.filter(pair__in={case.pair_id for case in cases}, tag=tag.value)
    return end_marks(ListChange(build=build, user=user, kind=Kind.UNTAG), rows)


def assign_cases(user: User, build: Build, cases: Sequence[Case], expert: User) -> int:
    """Have the expert review the cases; returns how many were not theirs. Raises ListChangeRefused."""
    refuse_others_than_experts([expert])
    with transaction.atomic():
        change = ListChange.objects.create(build=build, user=user, kind=Kind.ASSIGN)
        return add_marks(ReviewAssignment(case=case, expert=expert, added=change) for case in cases)


def unassign_cases(user: User, build: Build, cases: Sequence[Case], expert: User) -> int:
    """The expert need not review them any more."""
    rows = ReviewAssignment.objects.filter(case__in=cases, expert=expert)
    return end_marks(ListChange(build=build, user=user, kind=Kind.UNASSIGN), rows)


def share_cases_out(
    user: User, build: Build, cases: Sequence[int], experts: Sequence[User], overlap: int, seed: int
) -> int:
    """Assign each case (id) to `overlap` of the experts; returns how many assignments are new.

    Raises ListChangeRefused.
    """
    refuse_others_than_experts(experts)
    if not cases:
        raise ListChangeRefused("No pair passes these filters.")
    if len(cases) > MOST_SHARED:
        raise ListChangeRefused(f"At most {MOST_SHARED:,} pairs can be shared out at once. Add a filter.")
    if not 1 <= overlap <= len(experts):
        raise ListChangeRefused("Each pair can go to as many experts as you choose, and to one at least.")
    shares = share_out(cases, [expert.pk for expert in experts], overlap, seed)
    with transaction.atomic():
        change = ListChange.objects.create(build=build, user=user, kind=Kind.SHARE)
        return add_marks(
            ReviewAssignment(case_id=case, expert_id=expert, added=change) for case, expert in shares
        )


def share_out(cases: Sequence[int], experts: Sequence[int], overlap: int, seed: int) -> list[tuple[int, int]]:
    """(case, expert), each case with `overlap` experts.

    Whoever has the fewest comes first, and the seed decides ties.
    """
    drawn = random.Random(seed)  # noqa: S311  # a share that can be drawn again, no secret
    order = sorted(cases)
    drawn.shuffle(order)
    held = dict.fromkeys(sorted(experts), 0)
    shares = []
    for case in order:
        ranked = sorted(held, key=lambda expert: (held[expert], drawn.random()))
        for expert in ranked[:overlap]:
            held[expert] += 1
            shares.append((case, expert))
    return shares


def refuse_others_than_experts(people: Sequence[User]) -> None:
    """Raises ListChangeRefused where somebody could not open the review page."""
    if not people:
        raise ListChangeRefused("Choose an expert.")
    for person in people:
        if not has_role(person, Role.EXPERT):
            raise ListChangeRefused(f"{person.get_username()} is no expert.")


def add_marks(marks: Iterable[Mark]) -> int:
    """Store the marks that are not there; returns how many those are."""
    rows = list(marks)
    if not rows:
        return 0
    table = type(rows[0])._default_manager
    before = table.filter(added=rows[0].added).count()
    table.bulk_create(rows, ignore_conflicts=True, batch_size=200)
    return table.filter(added=rows[0].added).count() - before


def end_marks(change: ListChange, rows: QuerySet[Mark]) -> int:
    """End the marks that are still there, by this change; returns how many those are."""
    with transaction.atomic():
        change.save()
        return rows.filter(removed=None).update(removed=change)


def last_change(user: User, build: Build) -> ListChange | None:
    """The person's latest change in the build that was not undone."""
    own = ListChange.objects.filter(build=build, user=user, undone_by=None)
    return own.exclude(kind=Kind.UNDO).order_by("-pk").first()


def undo_last_change(user: User, build: Build) -> ListChange:
    """Take back the person's latest change: what it added ends, what it ended is there again.

    Raises ListChangeRefused.
    """
    with transaction.atomic():
        last = last_change(user, build)
        if last is None:
            raise ListChangeRefused("You have nothing to undo in this list.")
        change, is_new = ListChange.objects.get_or_create(
            undoes=last, defaults={"build": build, "user": user, "kind": Kind.UNDO}
        )
        if not is_new:
            raise ListChangeRefused("This was undone already.")
        PairTag.objects.filter(added=last, removed=None).update(removed=change)
        ReviewAssignment.objects.filter(added=last, removed=None).update(removed=change)
        restore_marks(PairTag.objects.filter(removed=last))
        restore_marks(ReviewAssignment.objects.filter(removed=last))
    return last


def restore_marks(ended: QuerySet[Mark]) -> None:
    """Rows like these that are open again, each of the change that added it, which can be undone, too."""
    rows = list(ended)
    for mark in rows:
        mark.pk, mark.removed = None, None
    ended.model._default_manager.bulk_create(rows, ignore_conflicts=True, batch_size=MOST_AT_ONCE)
