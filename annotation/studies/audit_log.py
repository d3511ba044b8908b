"""The audit log: facts that admins filter and export, written in the transaction of what they tell."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time
from enum import StrEnum
from typing import Any, Final

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db.models import QuerySet
from django.utils import timezone

from annotation.models import AuditEvent, Study
from annotation.studies.exposure import pairs_of_study_rows
from retrieval.texts.hostile import clean_json, mark_hostile_characters

LONGEST_DETAIL: Final = 20_000
"""Characters of JSON; what is larger keeps its beginning, and says so."""
LONGEST_WORDS: Final = 300
Who = AbstractBaseUser | AnonymousUser | None


class Verb(StrEnum):
    """What is kept. A fact's verb is one of these, so that filters are complete."""

    STUDY_MADE = "study made"
    STUDY_CHANGED = "study changed"
    STUDY_DELETED = "study deleted"
    STUDY_STARTED = "study started"
    STUDY_PAUSED = "study paused"
    STUDY_RESUMED = "study resumed"
    STUDY_CLOSED = "study closed"
    STUDY_FROZEN = "plan frozen"
    STUDY_AMENDED = "plan amended"
    STUDY_PUBLISHED = "study published"
    RATER_ENROLLED = "rater enrolled"
    RATER_CHANGED = "rater changed"
    RATER_REMOVED = "rater removed"
    RATER_INCLUDED = "rater included again"
    GUIDELINE_WRITTEN = "guidelines written"
    GUIDELINE_READ = "guidelines acknowledged"
    ASKED_AGAIN = "pairs asked again"
    RATINGS_GIVEN_UP = "missing ratings given up"
    SPLIT_DECIDED = "split decided"
    VERSION_SCORED = "version scored"
    EXPORTED = "exported"
    RESTORED = "restored"
    ACCOUNT_CHANGED = "account changed"
    INVITATION_MADE = "invitation made"
    INVITATION_ACCEPTED = "invitation accepted"
    INVITATION_REVOKED = "invitation revoked"
    LOGGED_IN = "logged in"
    LOGIN_FAILED = "log-in failed"
    TOKEN_MADE = "token made"  # noqa: S105 – a verb
    TOKEN_WITHDRAWN = "token withdrawn"  # noqa: S105 – a verb
    WEBHOOK_MADE = "webhook made"
    WEBHOOK_SWITCHED = "webhook switched"
    WEBHOOK_DELETED = "webhook deleted"


def append_audit_event(
    user: Who, verb: Verb, what: str, study: Study | None = None, detail: Mapping[str, Any] | None = None
) -> AuditEvent:
    """Append one fact. Call it in the transaction of what it tells, so that neither is without the other."""
    return AuditEvent.objects.create(
        user=user if isinstance(user, User) else None,
        verb=verb.value,
        what=mark_hostile_characters(what)[:LONGEST_WORDS],
        detail=cap_event_detail(detail or {}),
        study=study,
    )


def decided_on(rows: Iterable[AuditEvent]) -> set[int]:
    """The pairs (ids) of which these facts tell what was decided; all of the study's where a fact was cut."""
    found: set[int] = set()
    for row in rows:
        if row.verb == Verb.SPLIT_DECIDED and row.study is not None:
            number = row.detail.get("pair")
            pairs = row.study.pairs.all() if number is None else row.study.pairs.filter(number=number)
            found |= pairs_of_study_rows(pairs)
    return found


def last_change(study: Study) -> AuditEvent | None:
    """The fact that last changed what a study asks; None where nobody wrote one down."""
    rows = AuditEvent.objects.filter(study=study, verb__in=(Verb.STUDY_MADE, Verb.STUDY_CHANGED))
    return rows.select_related("user").order_by("-pk").first()


def cap_event_detail(detail: Mapping[str, Any]) -> object:
    """`detail`, clean; where it is too large, the beginning of its JSON and how long it was."""
    cleaned = clean_json(dict(detail))
    text = json.dumps(cleaned, ensure_ascii=False)
    if len(text) <= LONGEST_DETAIL:
        return cleaned
    return {"cut_after": LONGEST_DETAIL, "characters": len(text), "beginning": text[:LONGEST_DETAIL]}


def find_audit_events(
    who: str = "",
    verb: str = "",
    study: int | None = None,
    since: date | None = None,
    until: date | None = None,
) -> QuerySet[AuditEvent]:
    """The facts that match, the newest first; `until` is the last day that counts."""
    wanted = {
        "user__username": who,
        "verb": verb,
        "study": study,
        "at__gte": since and combine_day_and_time(since, time.min),
        "at__lte": until and combine_day_and_time(until, time.max),
    }
    asked = {name: value for name, value in wanted.items() if value not in (None, "")}
    return AuditEvent.objects.select_related("user", "study").filter(**asked).order_by("-pk")


def combine_day_and_time(day: date, at: time) -> datetime:
    return timezone.make_aware(datetime.combine(day, at))
