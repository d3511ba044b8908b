"""Ask the questions of the checks that are open, each once and with a salt of its own."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotation import budget, claims, limiter, outages
from annotation.agents import screener
from annotation.asking import Unjudgeable, judged
from annotation.llm import LLM, LLMError, Request
from annotation.models import Build, DriftAnswer, LLMCall
from annotation.pipeline import USUAL_WAIT, Tools
from retrieval.hostile import clean

AGENT: Final = "drift_check"
"""Under this name its calls are billed, apart from the screener's own."""
A_MOMENT: Final = timedelta(seconds=1)


@dataclass(frozen=True)
class Said:
    """What came of a question; `verdict` is None where no verdict could be read."""

    verdict: float | None
    words: str
    call: LLMCall | None = None


def ask_one(tools: Tools) -> bool:
    """Ask one question that is due; says whether there was one."""
    answer = claimed()
    if answer is None:
        return False
    build = answer.case.build
    try:
        said = asked(answer, tools.llm_of(build))
    except (budget.AlreadyAsked, budget.BudgetHeld, limiter.Full):
        put_back(answer, timezone.now() + A_MOMENT)
    except budget.OverBudget as over:
        outages.stop(build, str(over))
        put_back(answer)
    except LLMError as error:
        provider_failed(answer, error)
    else:
        store(answer, said)
    return True


def provider_failed(answer: DriftAnswer, error: LLMError) -> None:
    """An outage is no answer: the question waits. One that is refused has none, and that is kept."""
    build = answer.case.build
    if error.retryable:
        outages.failed(build, error)
        put_back(answer, timezone.now() + outages.asked_pause(error, USUAL_WAIT))
    elif error.provider:
        outages.stop(build, error.message, Build.State.WAITING)
        put_back(answer)
    else:
        store(answer, Said(None, error.message))


def asked(answer: DriftAnswer, llm: LLM) -> Said:
    """Raises what `asking.ask` raises, but for Unjudgeable: a model that gives no verdict has said so."""
    try:
        verdict, call = judged(answer.case, llm, question(answer), screener.parse)
    except Unjudgeable as why:
        return Said(None, str(why))
    return Said(verdict.verdict, verdict.explanation, call)


def question(answer: DriftAnswer) -> Request:
    """The screener's question about the pair, which no reply of another check or case answers."""
    case, check = answer.case, answer.check_of
    config = case.annotator.config
    request = screener.request(
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


def claimed() -> DriftAnswer | None:
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


def store(answer: DriftAnswer, said: Said) -> None:
    """Keep the answer, unless the lease has run out meanwhile: then another worker has the same reply."""
    with transaction.atomic():
        answer.case.build.tally.change()
        DriftAnswer.objects.filter(pk=answer.pk, lease=answer.lease, answered_at=None).update(
            verdict=said.verdict,
            words=clean(said.words),
            call=said.call,
            answered_at=timezone.now(),
            lease=None,
            lease_until=None,
        )
