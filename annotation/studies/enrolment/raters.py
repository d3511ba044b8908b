"""Raters of a study: enrol one, change what one can be given, let one go. Amendments once it is frozen."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, F, Min, Q, QuerySet
from django.utils import timezone

from annotation.accounts.roles import Role, has_role
from annotation.models import Assignment, AuditEvent, Condition, Enrolment, Quota, Study
from annotation.studies.audit_log import Verb, append_audit_event
from annotation.studies.enrolment import exclusion, extra_raters, places, queue
from annotation.studies.enrolment.exclusion import BroughtBack
from annotation.studies.plan.creation import MOST_CAPACITY, RaterWish, add_wished_raters
from annotation.studies.plan.plan import StudyRefused, change_with_amendment

NO_EXPERT: Final = "{} is no expert, or is locked out; an account gets its role with cosqa admin account."


def find_rater_candidates(study: Study | None, by: User) -> list[User]:
    """Who can be a rater: experts and admins, but not who makes or started the study, nor who is in it."""
    people = find_active_experts().exclude(pk=by.pk)
    if study:
        people = people.exclude(enrolments__study=study).exclude(pk__in=find_study_starters(study))
        people = people.exclude(pk=study.created_by_id) if study.created_by_id else people
    return list(people.order_by("username"))


def find_study_starters(study: Study) -> QuerySet[AuditEvent, int]:
    """The accounts (ids) of whoever started it."""
    rows = AuditEvent.objects.filter(study=study, verb=Verb.STUDY_STARTED, user__isnull=False)
    return rows.order_by().values_list("user", flat=True)


def find_active_experts() -> QuerySet[User]:
    """The accounts that have the role to rate, and are not locked out."""
    may_rate = Q(groups__name__in=[Role.EXPERT, Role.ADMIN]) | Q(is_superuser=True)
    return User.objects.filter(may_rate, is_active=True).distinct()


def rates_in(user: User, study: Study) -> bool:
    """Whether the study runs and the person is one of its raters: then its own page is closed to them."""
    return study.is_live and study.enrolments.filter(user=user).exists()


def add_rater(study: Study, user: User, condition: Condition, capacity: int, why: str, by: User) -> Enrolment:
    """Another rater. Raises StudyRefused."""
    refuse_capacity(capacity)
    if user.pk in {study.created_by_id, by.pk, *find_study_starters(study)}:
        raise StudyRefused("Who made, started or changed a study can't rate in it.")
    if not has_role(user, Role.EXPERT):
        raise StudyRefused(NO_EXPERT.format(user))
    with change_with_amendment(study, why, by) as row:
        if row.enrolments.filter(user=user).exists():
            raise StudyRefused(f"{user} is in the study already.")
        add_wished_raters(row, [RaterWish(user, condition.kind, capacity)])
        find_planted_quotas(row, condition).update(wanted=F("wanted") + 1)
        made = row.enrolments.get(user=user)
        detail = {"pseudonym": made.pseudonym, "condition": condition.kind, "capacity": capacity, "why": why}
        append_audit_event(by, Verb.RATER_ENROLLED, f"{user} in {study.name}", row, detail)
    extra_raters.request_extra_ratings(study)
    return made


def change_capacity(enrolment: Enrolment, capacity: int, why: str, by: User) -> None:
    """What a rater can be given from now on; never less than they have been given. Raises StudyRefused."""
    refuse_capacity(capacity)
    with change_with_rater_paused(enrolment, why, by) as row:
        given = pairs_given(enrolment)
        if capacity < given:
            raise StudyRefused(
                f"{given} pairs were given already; a smaller capacity than that says nothing."
            )
        before = enrolment.capacity
        Enrolment.objects.filter(pk=enrolment.pk).update(capacity=capacity)
        detail = {"pseudonym": enrolment.pseudonym, "before": before, "after": capacity, "why": why}
        append_audit_event(by, Verb.RATER_CHANGED, f"{enrolment.user} in {row.name}", row, detail)
    extra_raters.request_extra_ratings(enrolment.study)
    enrolment.refresh_from_db()


def remove_rater(enrolment: Enrolment, why: str, by: User, exclude: bool = False) -> int:
    """Let a rater go: nothing more is given. The ratings stay; `exclude` leaves them out of every figure, and
    gives their places to others, also where the rater has left before.

    Returns how many places of ratings that is. Raises StudyRefused.
    """
    freed = apply_rater_removal(enrolment, why, by, exclude)
    extra_raters.request_extra_ratings(enrolment.study)
    return freed


@contextmanager
def change_with_rater_paused(enrolment: Enrolment, why: str, by: User) -> Iterator[Study]:
    """As `changing`, while no rater can do anything; the rater's row is read anew. Raises StudyRefused."""
    with transaction.atomic():
        places.pause_parts(enrolment.study_id)
        try:
            enrolment.refresh_from_db(fields=["left_at"])
        except Enrolment.DoesNotExist:
            raise StudyRefused(f"{enrolment.pseudonym} is no rater of the study any more.") from None
        with change_with_amendment(enrolment.study, why, by) as row:
            yield row


def apply_rater_removal(enrolment: Enrolment, why: str, by: User, exclude: bool) -> int:
    """The change itself, as one amendment; whoever was finished and can take a place goes on.

    Raises StudyRefused.
    """
    freed = 0
    with change_with_rater_paused(enrolment, why, by) as row:
        if row.state == Study.State.DRAFT:
            enrolment.delete()
        else:
            if not why.strip():
                raise StudyRefused("Say why the rater leaves.")
            mark_rater_left(enrolment, exclude)
            freed = exclusion.leave_out(enrolment) if exclude else 0
            queue.reopen_finished_raters(enrolment.study)
        detail = {"pseudonym": enrolment.pseudonym, "why": why, "excluded": exclude, "places": freed}
        append_audit_event(by, Verb.RATER_REMOVED, f"{enrolment.user} in {row.name}", row, detail)
    return freed


def include_excluded_rater(enrolment: Enrolment, why: str, by: User) -> BroughtBack:
    """Let an excluded rater's ratings count again, except where somebody has taken their place.

    The rater is given nothing more. Raises StudyRefused.
    """
    with change_with_rater_paused(enrolment, why, by) as row:
        if not row.enrolments.filter(pk=enrolment.pk, excluded=True).update(excluded=False):
            raise StudyRefused(f"{enrolment.pseudonym} is not excluded.")
        if not why.strip():
            raise StudyRefused("Say why the rater counts again.")
        found = exclusion.bring_back(enrolment)
        detail = {"pseudonym": enrolment.pseudonym, "why": why, **asdict(found)}
        append_audit_event(by, Verb.RATER_INCLUDED, f"{enrolment.user} in {row.name}", row, detail)
    extra_raters.request_extra_ratings(enrolment.study)
    return found


def mark_rater_left(enrolment: Enrolment, exclude: bool) -> None:
    """What is open is given back by the next look for lapsed reservations.

    Locked pairs don't run out, so their places are given back here; the blind labels stay.
    """
    now = timezone.now()
    for held in enrolment.assignments.filter(state=Assignment.State.LOCKED).select_related("study_pair"):
        queue.give_back(held)
    open_ones = enrolment.assignments.filter(state=Assignment.State.RESERVED)
    open_ones.update(reserved_until=now)
    given, left_at = pairs_given(enrolment), enrolment.left_at
    Enrolment.objects.filter(pk=enrolment.pk).update(
        finished_at=now, left_at=left_at or now, capacity=max(1, given), removed=True, excluded=exclude
    )
    if left_at is not None:
        return
    find_planted_quotas(enrolment.study, enrolment.condition).filter(wanted__gt=F("reserved")).update(
        wanted=F("wanted") - 1
    )


def find_planted_quotas(study: Study, condition: Condition) -> QuerySet[Quota]:
    """The quotas of planted pairs, which everybody of the condition is asked."""
    return Quota.objects.filter(condition=condition, study_pair__study=study).exclude(study_pair__planted="")


def pairs_given(enrolment: Enrolment) -> int:
    """How much of the capacity is used: a pair that was asked again counts once."""
    return enrolment.assignments.values("study_pair").distinct().order_by().count()


def refuse_capacity(capacity: int) -> None:
    if not 0 < capacity <= MOST_CAPACITY:
        raise StudyRefused(f"A capacity is 1 to {MOST_CAPACITY:,} pairs.")


def load_rater_progress(study: Study) -> QuerySet[Enrolment]:
    """The study's raters with what each was given, did, skipped and let lapse. One query.

    `halves` are pairs with a locked first label that nobody has open any more: they wait for their rater.
    """
    state = Assignment.State
    ran_out = Q(assignments__state=state.LOCKED, assignments__reserved_until__lt=timezone.now())
    counts = {
        "given": Count("assignments"),
        "done": Count("assignments", filter=Q(assignments__state=state.DONE)),
        "skipped": Count("assignments", filter=Q(assignments__state=state.SKIPPED)),
        "lapsed": Count("assignments", filter=Q(assignments__state=state.LAPSED)),
        "left_out": Count("assignments", filter=Q(assignments__state=state.LEFT_OUT)),
        "halves": Count("assignments", filter=ran_out),
        "waits_since": Min("assignments__reserved_until", filter=ran_out),
        "open": Count("assignments", filter=Q(assignments__state__in=[state.RESERVED, state.LOCKED])),
    }
    return study.enrolments.select_related("user", "condition").annotate(**counts).order_by("pseudonym")
