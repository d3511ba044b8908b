"""Pause, resume or cancel a build, let it go on, retry what it abandoned. Who, when and why is recorded."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from django.db import transaction
from django.db.models import Count
from django.utils import timezone

from annotation.abandonment import describe_abandonment_cause
from annotation.builds.drift import watched_pairs
from annotation.builds.launch.launcher import Actor, account_of_actor, record_build_event
from annotation.builds.limits import canary, circuit_breaker, unusable_replies
from annotation.builds.results import history
from annotation.models import Batch, Build, Case, LostRace, Tally, Webhook
from annotation.stages import Event, Stage
from annotation.webhooks.outbox import announce_build

AT_ONCE: Final = 200
"""Cases that one transaction sends back: all moves of the build wait for it."""


class ControlRefused(ValueError):
    """The build is in no state for this; the message says which it is in."""


class Action(StrEnum):
    PAUSE = "pause"
    RESUME = "resume"
    GO_ON = "go_on"
    LEAVE = "leave"
    CANCEL = "cancel"
    RETRY = "retry"


def control_build(
    build: Build, action: Action, user: Actor = None, note: str = "", cause: str | None = None
) -> int:
    """Do `action`; returns how many cases it touched (only retry touches any). Raises ControlRefused.

    `cause` retries the cases alone that were abandoned for it.
    """
    if action is Action.RESUME and not note.strip() and watched_pairs.has_shifted(build):
        raise ControlRefused("The model has changed: say why the build may continue with it.")
    if action in RESUMING and build.state in STATES[action][0]:
        unusable_replies.forget_unusable_replies(build)  # before a worker can see it running
    touched = retry_abandoned(build, cause) if action is Action.RETRY else change_state(build, action, user)
    record_build_event(
        build,
        user,
        EVENTS.get(action, action.value),
        note if cause is None else of_group(cause, touched, note),
    )
    history.record_build_totals(build, timezone.now(), always=True)
    Tally.objects.get(build=build).change()
    return touched


RESUMING: Final = (Action.RESUME, Action.GO_ON)
EVENTS = {Action.GO_ON: "continued after the canary", Action.LEAVE: "left the other pairs"}
PAST = {
    Action.PAUSE: "paused",
    Action.RESUME: "resumed",
    Action.GO_ON: "sent on",
    Action.LEAVE: "left at its canary",
    Action.CANCEL: "cancelled",
}
STATES: dict[Action, tuple[tuple[str, ...], str]] = {
    Action.PAUSE: ((Build.State.RUNNING, Build.State.WAITING), Build.State.PAUSED),
    Action.RESUME: ((Build.State.PAUSED, Build.State.WAITING), Build.State.RUNNING),
    Action.GO_ON: ((Build.State.CANARY,), Build.State.RUNNING),
    Action.LEAVE: ((Build.State.CANARY,), Build.State.RUNNING),  # where a worker ends it
    Action.CANCEL: (
        (Build.State.RUNNING, Build.State.PAUSED, Build.State.WAITING, Build.State.CANARY),
        Build.State.CANCELLED,
    ),
}


@transaction.atomic
def change_state(build: Build, action: Action, user: Actor = None) -> int:
    before, after = STATES[action]
    found = Build.objects.filter(pk=build.pk, state__in=before)
    if not found.update(state=after, reason="", **circuit_breaker.NOT_WAITING):
        build.refresh_from_db(fields=["state"])
        raise ControlRefused(
            f"The build is {build.get_state_display().lower()}; it can't be {PAST[action]} now."
        )
    Batch.objects.wake(build)
    if action is Action.PAUSE:
        announce_build(build, Webhook.Event.BUILD_PAUSED)
    if action is Action.GO_ON:
        canary.record_canary_decision(build, account_of_actor(user))
    if action is Action.LEAVE and not canary.decline_extension_pairs(build, account_of_actor(user)):
        raise ControlRefused(
            "These pairs are the build's own, not an extension's: continue, or cancel the build."
        )
    return 0


def of_group(cause: str, cases: int, note: str) -> str:
    """What the history says of the retry of one group."""
    told = f"{cases:,} abandoned because: {describe_abandonment_cause(cause)[0]}"
    return f"{told}. {note}" if note else told


def retry_abandoned(build: Build, cause: str | None = None) -> int:
    """Send every abandoned case back to the stage that it left, or those of one cause; returns how many.

    Some at a time, and whatever stops it between two leaves the others abandoned, to be retried.
    """
    build.refresh_from_db()
    if build.state == Build.State.CANCELLED:
        raise ControlRefused("The build was cancelled; launch it again under another name.")
    rows = Case.objects.filter(build=build, stage=Stage.ABANDONED).order_by("pk")
    wanted = rows if cause is None else rows.filter(cause=cause)
    retried, last = 0, 0
    while some := list(wanted.filter(pk__gt=last).select_related("build__tally")[:AT_ONCE]):
        retried, last = retried + retry_some(build, some), some[-1].pk
    return retried


@transaction.atomic
def retry_some(build: Build, cases: list[Case]) -> int:
    """Send `cases` back into a build that works on them: both happen, or neither does."""
    build.tally.change()  # held from here on, so that nobody ends the build meanwhile
    retried = sum(map(retry_abandoned_case, cases))
    if retried:
        reopen_build(build)
    return retried


def reopen_build(build: Build) -> None:
    """Let a build run again that has ended, or stands at its canary; the caller holds its totals."""
    ended = Build.objects.filter(pk=build.pk, state__in=[Build.State.DONE, Build.State.CANARY])
    ended.update(state=Build.State.RUNNING, reason="", finished_at=None)


def retry_abandoned_case(case: Case) -> int:
    try:
        case.move(Event.RETRIED, note="retried by a person", reason="", left_stage="")
    except LostRace:
        return 0  # somebody else retried it at the same moment
    return 1


def abandoned_reasons(build: Build) -> list[tuple[str, int]]:
    """The reasons for abandoning, the most frequent first, with how many cases each has."""
    rows = Case.objects.filter(build=build, stage=Stage.ABANDONED).values_list("reason")
    return [
        (reason, count)
        for reason, count in rows.annotate(count=Count("id")).order_by("-count", "reason")[:20]
    ]
