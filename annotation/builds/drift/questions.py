"""Ask the questions of the checks that are open, each once and with a salt of its own."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotation.agents import screener
from annotation.builds.limits import budget, circuit_breaker, rate_limit
from annotation.builds.pipeline import claims
from annotation.builds.pipeline.advance import USUAL_WAIT, Tools
from annotation.builds.pipeline.llm_calls import Unjudgeable, ask_for_verdict
from annotation.llm import LLM, LLMError, Request
from annotation.models import Build, DriftAnswer, LLMCall
from retrieval.texts.hostile import mark_hostile_characters

AGENT: Final = "drift_check"
"""Under this name its calls are billed, apart from the screener's own."""
A_MOMENT: Final = timedelta(seconds=1)


@dataclass(frozen=True)
class DriftReply:
    """What came of a question; `verdict` is None where no verdict could be read."""

    verdict: float | None
    words: str
    call: LLMCall | None = None


def ask_one(tools: Tools) -> bool:
    """Ask one question that is due; says whether there was one."""
    answer = claim_drift_question()
    if answer is None:
        return False
    build = answer.case.build
    try:
        said = ask_drift_question(answer, tools.llm_of(build))
    except (budget.AlreadyAsked, budget.BudgetHeld, rate_limit.Full):
        put_back(answer, timezone.now() + A_MOMENT)
    except budget.OverBudget as over:
        circuit_breaker.stop_build_for_person(build, str(over))
        put_back(answer)
    except LLMError as error:
        provider_failed(answer, error)
    else:
        store_drift_answer(answer, said)
    return True


def provider_failed(answer: DriftAnswer, error: LLMError) -> None:
    """An outage is no answer: the question waits. One that is refused has none, and that is kept."""
    build = answer.case.build
    if error.retryable:
        circuit_breaker.record_provider_error(build, error)
        put_back(answer, timezone.now() + circuit_breaker.asked_pause(error, USUAL_WAIT))
    elif error.provider:
        circuit_breaker.stop_build_for_person(build, error.message, Build.State.WAITING)
        put_back(answer)
    else:
        store_drift_answer(answer, DriftReply(None, error.message))


def ask_drift_question(answer: DriftAnswer, llm: LLM) -> DriftReply:
    """Raises what `llm_calls.ask_with_repair` raises, but for Unjudgeable: a model that gives no verdict has
    said so."""
    try:
        verdict, call = ask_for_verdict(
            answer.case, llm, build_drift_request(answer), screener.ScreenerVerdict.of_reply
        )
    except Unjudgeable as why:
        return DriftReply(None, str(why))
    return DriftReply(verdict.verdict, verdict.explanation, call)


def build_drift_request(answer: DriftAnswer) -> Request:
    """The screener's question about the pair, which no reply of another check or case answers."""
    case, check = answer.case, answer.check_of
    config = case.annotator.config
    request = screener.build_screener_request(
        screener.ScreenerInputs(query=case.pair.query.text, code=case.pair.snippet.text),
        case.build.model,
        sampling=config.get("sampling", {}),
        base_url=config.get("base_url", ""),
        salt=f"drift check {check.number}.{answer.round} of build {case.build_id}",
    )
    return replace(request, agent=AGENT)


def open_questions(now: datetime) -> QuerySet[DriftAnswer]:
    """Questions of running builds that a worker may ask now."""
    free = Q(lease__isnull=True) | Q(lease_until__lt=now)
    due = Q(next_attempt_at__isnull=True) | Q(next_attempt_at__lte=now)
    return DriftAnswer.objects.filter(free, due, answered_at=None, case__build__state=Build.State.RUNNING)


def claim_drift_question() -> DriftAnswer | None:
    """Lease one question of a running build; None where none is due, or another worker was faster."""
    now = timezone.now()
    related = ("check_of", "case__build__tally", "case__annotator", "case__pair__query__body")
    row = open_questions(now).select_related(*related, "case__pair__snippet__body").first()
    if row is None:
        return None
    mine = DriftAnswer.objects.filter(pk=row.pk, lease=row.lease, answered_at=None)
    row.lease = uuid.uuid4()
    return row if mine.update(lease=row.lease, lease_until=now + claims.LEASE) else None


def put_back(answer: DriftAnswer, until: datetime | None = None) -> None:
    """Ask again at `until`, or at once."""
    mine = DriftAnswer.objects.filter(pk=answer.pk, lease=answer.lease)
    mine.update(lease=None, lease_until=None, next_attempt_at=until)


def store_drift_answer(answer: DriftAnswer, said: DriftReply) -> None:
    """Keep the answer, unless the lease has run out meanwhile: then another worker has the same reply."""
    with transaction.atomic():
        answer.case.build.tally.change()
        DriftAnswer.objects.filter(pk=answer.pk, lease=answer.lease, answered_at=None).update(
            verdict=said.verdict,
            explanation=mark_hostile_characters(said.words),
            call=said.call,
            answered_at=timezone.now(),
            lease=None,
            lease_until=None,
        )
