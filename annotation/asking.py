"""Ask a model once for each request: reuse what was answered, pay for the rest, store before use."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from django.db import connection

from annotation import budget, limiter
from annotation.agents import InvalidReply, repair
from annotation.llm import LLM, LLMError, Request, Waiting
from annotation.models import Case, LLMCall

V = TypeVar("V")


class Unjudgeable(Exception):
    """The model gave nothing that can be used, twice: the case is abandoned with this reason."""


class Parked(Exception):
    """The request waits for a reply by file; `call` is its row."""

    def __init__(self, call: LLMCall) -> None:
        super().__init__(call.digest)
        self.call = call


def ask(case: Case, llm: LLM, request: Request, parse: Callable[[str], V]) -> tuple[V, LLMCall]:
    """The verdict on `request` and the call that gave it, after at most one repair call.

    A second reply that can't be used either is not used again, so that a person's retry asks anew.
    Raises Parked, Unjudgeable, budget.OverBudget, budget.BudgetHeld, budget.AlreadyAsked, limiter.Full and
    LLMError.
    """
    config = case.annotator.config
    request = replace(
        request,
        round=case.round,
        base_url=config.get("base_url", ""),
        sampling=config.get("sampling", {}),
        salt=config.get("salt", ""),
    )
    call = answered(case, llm, request)
    try:
        return parse(text_of(call)), call
    except InvalidReply as problem:
        second = answered(case, llm, repair(request, text_of(call), str(problem)))
    try:
        return parse(text_of(second)), second
    except InvalidReply as problem:
        budget.discard(second, f"the reply could not be used: {problem}")
        raise Unjudgeable(
            f"the {request.agent}'s reply could not be used, even when asked again: {problem}"
        ) from problem


def text_of(call: LLMCall) -> str:
    assert call.reply is not None, "a call that succeeded has its reply"
    return call.reply.text


def answered(case: Case, llm: LLM, request: Request) -> LLMCall:
    """The successful call of `request`: an earlier one, which costs nothing, or a new one."""
    digest = request.digest()
    earlier = LLMCall.objects.answered(digest)
    if earlier is not None:
        case.build.tally.change(reused=1)
        return earlier
    asked = LLMCall.objects.filter(digest=digest, status=LLMCall.Status.WAITING, provider=llm.name)
    waiting = asked.first()
    if waiting is not None:
        raise Parked(waiting)
    return pay(case, llm, request)


def pay(case: Case, llm: LLM, request: Request) -> LLMCall:
    """Reserve, ask with no database connection held, and store what came back."""
    call = budget.reserve(case, request, llm.name)
    try:
        with no_connection():
            reply = llm.ask(request)
    except Waiting as waiting:
        budget.park(call)
        raise Parked(call) from waiting
    except LLMError as error:
        budget.fail(call, error.message, error.reply)
        limiter.refused(case.build, error)
        raise
    except BaseException as error:
        budget.fail(call, f"interrupted: {error!r}")
        raise
    settled = budget.settle(call, reply)
    limiter.answered(case.build, reply)
    return settled


@contextlib.contextmanager
def no_connection() -> Iterator[None]:
    """Give the database connection back while something slow happens elsewhere."""
    if not connection.in_atomic_block:
        connection.close()
    yield
