"""Start, pause, resume and close a study; delete a draft. Who, when and why is kept."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.models import Quota, Study, Webhook
from annotation.studies.audit_log import Verb, append_audit_event
from annotation.studies.plan import creation
from annotation.studies.plan.effort import outlook_of
from annotation.studies.plan.plan import (
    StudyRefused,
    hash_plan,
    plan_of,
    refuse_unknown_rows,
    refuse_without_table,
)
from annotation.webhooks.outbox import announce_study

LONGEST_WHY: Final = 2_000


class Action(StrEnum):
    START = "start"
    PAUSE = "pause"
    RESUME = "resume"
    CLOSE = "close"
    DELETE = "delete"


State = Study.State
MOVES: Final[Mapping[Action, tuple[tuple[State, ...], State | None, Verb]]] = MappingProxyType(
    {
        Action.START: ((State.DRAFT,), State.RUNNING, Verb.STUDY_STARTED),
        Action.PAUSE: ((State.RUNNING,), State.PAUSED, Verb.STUDY_PAUSED),
        Action.RESUME: ((State.PAUSED,), State.RUNNING, Verb.STUDY_RESUMED),
        Action.CLOSE: ((State.RUNNING, State.PAUSED), State.CLOSED, Verb.STUDY_CLOSED),
        Action.DELETE: ((State.DRAFT,), None, Verb.STUDY_DELETED),
    }
)
"""From which states an action leads, where to, and how it is kept."""


def find_allowed_actions(study: Study) -> list[Action]:
    """What can be done with the study as it is."""
    return [action for action, (states, _, _) in MOVES.items() if study.state in states]


def perform_study_action(study: Study, action: Action, by: User, why: str = "") -> None:
    """Do it, in one transaction with its entry in the audit log. Raises StudyRefused."""
    states, after, verb = MOVES[action]
    with transaction.atomic():
        locked = Study.objects.select_for_update().get(pk=study.pk)
        if locked.state not in states:
            raise StudyRefused(f"The study is {locked.state}: it can't be changed like this.")
        detail = {
            "why": why.strip()[:LONGEST_WHY],
            "plan_hash": locked.plan_hash or hash_plan(plan_of(locked)),
        }
        if after is None:
            delete_draft_study(locked, by)
            return
        prepare_study_action(locked, action, by, why)
        locked.state = after
        locked.save()
        if action is Action.CLOSE:
            announce_study(locked, Webhook.Event.STUDY_DONE)
        append_audit_event(by, verb, locked.name, locked, detail)
    study.refresh_from_db()


def prepare_study_action(study: Study, action: Action, by: User, why: str) -> None:
    """What an action needs before the state changes. Raises StudyRefused."""
    if action is Action.START:
        refuse_start(study, by)
        open_quotas(study)
        study.started_at = timezone.now()
    elif action is Action.CLOSE:
        if (
            Quota.objects.filter(study_pair__study=study, study_pair__planted="", done=0).exists()
            and not why.strip()
        ):
            raise StudyRefused("Some pairs have no rating yet: say why the study is closed all the same.")
        study.closed_at = timezone.now()


def refuse_start(study: Study, by: User) -> None:
    if study.enrolments.filter(user__in=[by.pk, study.created_by_id]).exists():
        raise StudyRefused(
            "You are a rater of this study, so you can't start it: let another admin start it."
        )
    if not study.pairs.filter(planted="").exists():
        raise StudyRefused("The study has no pairs.")
    refuse_without_table(study.kind, study.comparisons, study.margin)
    refuse_unknown_rows(study)
    found = outlook_of(study)
    if found.problems:
        raise StudyRefused(" ".join(found.problems))


def open_quotas(study: Study) -> None:
    """A quota for each pair and condition: the plan's for sampled pairs, everybody for planted ones."""
    conditions = list(study.conditions.all())
    enrolled = {
        condition.pk: condition.enrolments.filter(finished_at__isnull=True).count()
        for condition in conditions
    }
    rows = [
        Quota(
            study_pair_id=pk,
            condition=condition,
            wanted=enrolled[condition.pk] if planted else condition.raters,
        )
        for pk, planted in study.pairs.values_list("pk", "planted")
        for condition in conditions
    ]
    Quota.objects.bulk_create(rows, batch_size=1000)


def delete_draft_study(study: Study, by: User) -> None:
    """Take a draft away; its name stays in the audit log."""
    append_audit_event(by, Verb.STUDY_DELETED, study.name, detail={"study": study.pk})
    creation.empty_draft_study(study)
    study.delete()
