"""How fast a model is asked: all workers share one limit, which the provider's refusals set.

Additive increase, multiplicative decrease: at the first refusal (HTTP 429) the limit is four fifths of the
calls that were in the air, and again at the first one of each later episode; when there was none for a while
it grows by one for each round of replies. Until a provider has refused anything, the number of workers is the
only limit. Other errors do not change it. What the provider says of pauses, in an error or with a reply,
holds for everybody.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Greatest, Least
from django.utils import timezone

from annotation.llm import LLMError, Reply, deadline
from annotation.models import Build, ConnectionTest, Limiter, LLMCall

LEAST: Final = 1.0
MOST: Final = 1000.0
SHRINK: Final = 0.8
EPISODE: Final = timedelta(seconds=2)
"""Refusals of calls that were sent before the limit fell say nothing about the new one."""
CLEAN: Final = timedelta(seconds=10)
"""So long after an episode nothing grows: else most of the time is spent above the provider's limit."""
LONGEST_CLOSE: Final = 3600.0
"""Seconds; no header closes a model for days."""
LONGEST_CALL: Final = timedelta(seconds=deadline.LONGEST * settings.LLM_TIMEOUT)
"""A call that has been in the air for longer is its dead worker's."""
TOO_MANY: Final = 429


class Full(Exception):
    """As many calls are in the air as may be, or the provider asked for a pause: the case is asked later."""


def learn_rate_from_error(build: Build, error: LLMError) -> None:
    """Learn from an error: slow down once an episode, and keep to the pause that was asked for."""
    if error.status != TOO_MANY or not is_limited(build):
        return
    build.looked_up["limiter"] = True
    slow_down(build.model, error)


def slow_down(model: str, error: LLMError) -> None:
    """Let all workers ask the model less at once, after it has refused a call."""
    now = timezone.now()
    flew = in_the_air(model, now) + 1.0
    fresh = Q(slowed_until__isnull=True) | Q(slowed_until__lte=now)
    slower = Greatest(Least(F("max_in_flight"), flew) * SHRINK, LEAST)
    find_or_create_limiter(model, flew).filter(fresh).update(max_in_flight=slower, slowed_until=now + EPISODE)
    if error.retry_after:
        pause_model_requests(model, error.retry_after)


def learn_rate_from_reply(build: Build, reply: Reply) -> None:
    """Learn from a reply: a little faster next time, unless its headers say that a limit is used up."""
    if reply.pause and is_limited(build):
        build.looked_up["limiter"] = True
        pause_model_requests(build.model, reply.pause)
    if not is_learnt(build):
        return
    clean = Limiter.objects.filter(model=build.model, slowed_until__lt=timezone.now() - CLEAN)
    clean.filter(max_in_flight__lt=MOST).update(max_in_flight=F("max_in_flight") + 1.0 / F("max_in_flight"))


def pause_model_requests(model: str, seconds: float) -> None:
    """Ask nothing for so long; a longer pause that holds already stays."""
    until = timezone.now() + timedelta(seconds=min(seconds, LONGEST_CLOSE))
    shorter = Q(closed_until__isnull=True) | Q(closed_until__lt=until)
    find_or_create_limiter(model, MOST).filter(shorter).update(closed_until=until)


def admit_reserved_call(build: Build) -> None:
    """Raises Full where the call that has just been reserved may not be made now."""
    found = Limiter.objects.filter(model=build.model).first() if is_learnt(build) else None
    if found is not None and not has_room(found, but=1):
        raise Full(f"{build.model} takes at most {found.max_in_flight:.0f} calls at once")


def is_limited(build: Build) -> bool:
    """Whether a provider answers, and not a file."""
    return build.provider == Build.Provider.LIVE


def is_learnt(build: Build) -> bool:
    """Whether its provider has refused a call of the model, or has asked for a pause, at any time.

    Looked up once for each handful of cases: what another worker was told counts from the next one on.
    """
    known = build.looked_up
    if is_limited(build) and "limiter" not in known:
        known["limiter"] = Limiter.objects.filter(model=build.model).exists()
    return is_limited(build) and bool(known["limiter"])


def at_once(build: Build) -> int | None:
    """How many calls its provider takes at once; None while it has refused nothing."""
    found = (
        Limiter.objects.filter(model=build.model, max_in_flight__lt=MOST).first()
        if is_limited(build)
        else None
    )
    return None if found is None else int(found.max_in_flight)


def full_models() -> list[str]:
    """The models that may not be asked now."""
    return [row.model for row in Limiter.objects.all() if not has_room(row)]


def has_room(row: Limiter, but: int = 0) -> bool:
    """Whether another call may be made; `but` so many of those in the air, which are the caller's own."""
    now = timezone.now()
    is_open = row.closed_until is None or row.closed_until <= now
    return is_open and in_the_air(row.model, now) - but < int(row.max_in_flight)


def in_the_air(model: str, now: datetime) -> int:
    """The calls to `model` that have no reply yet; a test of the connection makes one at a time."""
    reserved = LLMCall.objects.filter(model=model, status=LLMCall.Status.RESERVED)
    tests = ConnectionTest.objects.filter(
        model=model, configured=True, state=ConnectionTest.State.RUNNING, lease_until__gt=now
    )
    return reserved.filter(created_at__gt=now - LONGEST_CALL).count() + tests.count()


def find_or_create_limiter(model: str, most: float) -> QuerySet[Limiter]:
    """The model's row, made with `most` where there is none."""
    Limiter.objects.get_or_create(model=model, defaults={"max_in_flight": most})
    return Limiter.objects.filter(model=model)
