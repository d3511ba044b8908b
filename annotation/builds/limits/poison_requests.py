"""A request that fails again and again while others of its model are answered: the provider is there.

An outage fails every request, and a bad hour many of them: then none is to blame. So a failure counts against
its request only where another one was answered before the next try, and they are enough only where few others
failed meanwhile. A limit that is reached (HTTP 429) says nothing of a request.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from typing import Final

from django.db.models import Count, Max, Q, QuerySet

from annotation.builds.limits import budget, circuit_breaker
from annotation.builds.limits.rate_limit import TOO_MANY
from annotation.llm import LLMError, Message, Request
from annotation.models import Build, LLMCall

MOST: Final = 8
"""So many failures that count, and the request is given up."""
FEW: Final = 3
"""So many others have to be answered for each other one that failed."""
RUN: Final = circuit_breaker.RUN + 4
"""After so many errors of a build in a row something else is asked beside what it is tried with."""
AGENT: Final = "provider_check"
"""Under this name the calls are billed that show whether the provider is there."""
INTERRUPTED: Final = "interrupted"
"""How the error begins of a call that this process has broken off."""
SCHEMA: Final = {
    "type": "object",
    "properties": {"answer": {"type": "integer", "enum": [0, 1]}},
    "required": ["answer"],
    "additionalProperties": False,
}
GONE: Final = (LLMCall.Status.FAILED, LLMCall.Status.UNKNOWN)
NOBODYS: Final = (
    Q(error__contains=f"(HTTP {TOO_MANY},")
    | Q(error__startswith=INTERRUPTED)
    | Q(error__startswith=budget.DIED)
)
"""Failures that say nothing of the request."""


def may_be_its_own(build: Build, error: LLMError) -> bool:
    """Whether the request itself may have made the provider fail."""
    return build.provider == Build.Provider.LIVE and error.retryable and error.status != TOO_MANY


def find_failed_attempts(call: LLMCall) -> list[int]:
    """The live attempts at its request that failed since it was last given up, the oldest first."""
    tried = LLMCall.objects.filter(digest=call.digest)
    given_up = tried.filter(status=LLMCall.Status.UNUSABLE).aggregate(last=Max("pk"))["last"] or 0
    failed = tried.filter(pk__gt=given_up, status__in=GONE, batch=None, answered_by="").exclude(NOBODYS)
    return list(failed.order_by("pk").values_list("pk", flat=True))


def has_no_other_answer(call: LLMCall, failed: list[int]) -> bool:
    """Whether nobody else can tell if the provider is there: nothing was answered since the failure before.

    True only after a run of errors that has made the build wait, and from then on until the request is over.
    """
    if len(failed) < 2 or find_answered_requests(call, failed[-2]).exclude(agent=AGENT).exists():
        return False
    known = find_answered_requests(call, failed[0]).filter(agent=AGENT).exists()
    return known or circuit_breaker.SOURCES["llm"].run(call.build) >= RUN


def count_poison_failures(call: LLMCall, failed: list[int]) -> int:
    """How many of the failures count: another request was answered before the next try."""
    tries: Iterable[tuple[int, int | None]] = [*pairwise(failed), *((last, None) for last in failed[-1:])]
    return sum(find_answered_requests(call, first, then).exists() for first, then in tries)


def find_answered_requests(call: LLMCall, after: int, before: int | None = None) -> QuerySet[LLMCall]:
    """Requests that were asked live between two others, and answered."""
    found = find_other_live_calls(call, after).filter(status=LLMCall.Status.SUCCEEDED)
    return found if before is None else found.filter(pk__lt=before)


def find_other_live_calls(call: LLMCall, after: int) -> QuerySet[LLMCall]:
    """Live calls of other requests to the same model, later than `after`."""
    live = LLMCall.objects.filter(pk__gt=after, model=call.model, provider=call.provider, batch=None)
    return live.exclude(digest=call.digest)


def few_others_failed(call: LLMCall, failed: list[int]) -> bool:
    """Whether the provider answered most of the other requests since the first failure of this one."""
    counts = find_other_live_calls(call, failed[0]).aggregate(
        answered=Count("digest", distinct=True, filter=Q(status=LLMCall.Status.SUCCEEDED)),
        failed=Count("digest", distinct=True, filter=Q(status__in=GONE)),
    )
    return bool(counts["failed"] * FEW <= counts["answered"])


def build_probe_request(request: Request, call: LLMCall) -> Request:
    """A short question to the same model, no two alike; whatever is answered, the provider is there."""
    question = Message("user", f"Is {call.pk} + 1 = {call.pk + 1}?")
    return replace(
        request, agent=AGENT, system="Answer the question.", messages=(question,), schema=SCHEMA, salt=""
    )


def describe_poison_request(call: LLMCall, error: LLMError, times: int) -> str:
    """Why the request is given up."""
    return (
        f"the {call.agent}'s request has failed {times} times while the provider answered others of "
        f"{call.model}: {error.message}"
    )
