"""Money: reserve the upper bound before a call, settle what it cost after."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import NoReturn

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation import limiter
from annotation.llm import Reply, Request
from annotation.llm.exchange import ExchangeLLM
from annotation.models import (
    AgentBill,
    Build,
    Case,
    LLMCall,
    Price,
    ProjectTally,
    ReplyText,
    RequestText,
    SystemText,
    Tally,
)
from annotation.models.builds import NANO
from annotation.models.figures import add
from retrieval.hostile import clean

RESERVATION = timedelta(minutes=10)
USED_UP = "the budget is used up"
"""How the reason begins of a build that has stopped at its cap."""
CHARACTERS_A_TOKEN = 2
"""Deliberately low (English and code have about 3 to 4), so that the bound is an upper bound."""


class OverBudget(Exception):
    """The call could cost more than is left under the build's cap or the project's, as the message says."""


class AlreadyAsked(Exception):
    """Another worker is asking this very request, or has just asked it; wait for its reply."""


class BudgetHeld(Exception):
    """Calls in the air hold what is left under the cap; they cost less than their bounds: wait."""


def bound(request: Request, price: Price | None) -> int:
    """Nanodollars that `request` can cost at most; 0 where the model has no price."""
    if price is None:
        return 0
    characters = len(request.canonical())
    return price.cost(characters // CHARACTERS_A_TOKEN, request.max_tokens)


def reserve(case: Case, request: Request, provider: str) -> LLMCall:
    """A reserved call for `request`, paid by the case's build.

    Locked are the build's totals, then the project's, then the call's row: the same order everywhere.

    Raises OverBudget, BudgetHeld, limiter.Full, and AlreadyAsked when the same request is in the air or has
    its reply.
    """
    digest = request.digest()
    price = Price.objects.at(request.model, timezone.now())
    amount = bound(request, price)
    give_up_lost(digest)
    try:
        with transaction.atomic():
            if not case.build.tally.reserve(amount):
                refuse(case.build, amount)
            if counts(case.build) and not ProjectTally.objects.reserve(amount):
                refuse_project(amount)
            limiter.admit(case.build)
            return insert(case.build, request, provider, price, amount)
    except IntegrityError as error:
        raise AlreadyAsked(digest) from error


def refuse(build: Build, amount: int) -> NoReturn:
    """Say why `amount` can't be reserved: used up for good, or only held for a moment."""
    tally = Tally.objects.get(pk=build.pk)
    refuse_by(tally, amount, USED_UP)


def refuse_project(amount: int) -> NoReturn:
    """The same for the cap that all live builds share."""
    project = ProjectTally.objects.now()
    why = f"the project's cap of ${(project.cap or 0) / NANO:,.2f}, which all live builds share, is used up"
    refuse_by(project, amount, why, ". An admin can raise it on the dashboard, and then resume the build")


def refuse_by(tally: Tally | ProjectTally, amount: int, why: str, advice: str = "") -> NoReturn:
    if tally.cap is None or tally.spent + amount <= tally.cap:
        raise BudgetHeld(f"{tally.reserved / NANO:.6f} dollars are held by calls in the air")
    raise OverBudget(f"{why}: the next call may cost {amount / NANO:.6f} dollars, more than is left{advice}")


def counts(build: Build) -> bool:
    """Whether the build's money is the project's: replies from files cost nobody anything."""
    return build.provider == Build.Provider.LIVE


def book(build: Build, reserved: int = 0, spent: int = 0) -> None:
    """The project's share of a change of the build's totals, which are held already: always in this order."""
    if counts(build):
        ProjectTally.objects.book(reserved, spent)


def insert(build: Build, request: Request, provider: str, price: Price | None, amount: int) -> LLMCall:
    """The row of a new attempt.

    Raises AlreadyAsked while another attempt is in the air, and when one has been answered since the caller
    looked: the totals were waited for meanwhile.
    """
    digest = request.digest()
    # Read before the others are looked at: one that comes in between is seen, or has taken this number.
    attempt = LLMCall.objects.next_attempt(digest)
    others = LLMCall.objects.filter(digest=digest)
    if others.filter(status__in=[LLMCall.Status.RESERVED, LLMCall.Status.SUCCEEDED]).exists():
        raise AlreadyAsked(digest)
    return LLMCall.objects.create(
        digest=digest,
        attempt=attempt,
        status=LLMCall.Status.RESERVED,
        agent=request.agent,
        model=request.model,
        provider=provider,
        build=build,
        system=SystemText.keep(request.system),
        request=RequestText.keep(without_system(request)),
        price=price,
        bound=amount,
        expires_at=timezone.now() + RESERVATION,
    )


def without_system(request: Request) -> str:
    """The request as JSON without its system text, which is stored once for all requests of an agent."""
    data = request.to_dict()
    del data["system"]
    return json.dumps(data, sort_keys=True)


def give_up_lost(digest: str = "") -> int:
    """Attempts whose worker died count as spent at their bound, until a reply turns up; returns how many.

    Only those of one request where `digest` names it. Each is given up in a transaction of its own: two
    builds' totals are never held at once.
    """
    lost = LLMCall.objects.filter(status=LLMCall.Status.RESERVED, expires_at__lt=timezone.now())
    if digest:
        lost = lost.filter(digest=digest)
    return sum(give_up(call) for call in lost.select_related("build__tally"))


def give_up(call: LLMCall, why: str = "the worker that waited for it died") -> bool:
    """Count a lost attempt at its bound, unless its reply came meanwhile; nobody bills an exchange by file.

    `why` no word came back of a request that was sent: nobody can say whether it was billed.
    """
    with transaction.atomic():
        if held(call) != LLMCall.Status.RESERVED:
            return False
        cost = 0 if call.provider == ExchangeLLM.name else call.bound
        call.build.tally.change(reserved=-call.bound, spent=cost)
        book(call.build, -call.bound, cost)
        bill(call, spent=cost)
        LLMCall.objects.filter(pk=call.pk).update(
            status=LLMCall.Status.UNKNOWN, cost=cost, error=clean(why), finished_at=timezone.now()
        )
    return True


def held(call: LLMCall) -> str:
    """The call's status now; it stays so until the transaction ends, as its build's totals are held."""
    call.build.tally.change()
    call.refresh_from_db(fields=["status", "bound", "cost"])
    return call.status


def settle(call: LLMCall, reply: Reply) -> LLMCall:
    """Store the reply, its tokens and its cost, before anybody uses it. A call is settled once.

    A reply that turns up after its reservation was given up corrects what was counted for it. One with a
    defect is kept like any other, with the defect as its error: it was paid, and is not asked for again.
    """
    usage = reply.usage
    tokens = usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_write_tokens
    cost = call.price.cost(*tokens) if call.price else 0
    with transaction.atomic():
        before = held(call)
        if before in {LLMCall.Status.SUCCEEDED, LLMCall.Status.FAILED}:
            return LLMCall.objects.select_related("reply").get(pk=call.pk)
        reserved, spent = -call.bound if before == LLMCall.Status.RESERVED else 0, cost - call.cost
        call.build.tally.answered(
            calls=1,
            reserved=reserved,
            spent=spent,
            input_tokens=usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
            output_tokens=usage.output_tokens,
        )
        book(call.build, reserved, spent)
        bill(
            call,
            calls=1,
            spent=cost - call.cost,
            input_tokens=usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
            output_tokens=usage.output_tokens,
            milliseconds=round(1000 * reply.latency),
        )
        call.status, call.cost, call.reply = LLMCall.Status.SUCCEEDED, cost, ReplyText.keep(reply.text)
        call.input_tokens, call.output_tokens = usage.input_tokens, usage.output_tokens
        call.cache_read_tokens, call.cache_write_tokens = usage.cache_read_tokens, usage.cache_write_tokens
        call.latency, call.answered_by = reply.latency, clean(reply.model)[:120]
        call.provider_id, call.stop_reason = clean(reply.request_id)[:120], clean(reply.stop_reason)[:40]
        call.error = clean(reply.defect)
        call.finished_at = timezone.now()
        call.save()
    return call


def bill(call: LLMCall, **deltas: int) -> None:
    """What the call's agent has cost its build; the caller holds the build's totals."""
    add(AgentBill, {"build_id": call.build_id, "agent": call.agent}, **deltas)


def fail(call: LLMCall, error: str, reply: Reply | None = None) -> None:
    """Note that the attempt gave nothing usable; what was billed all the same is kept."""
    with transaction.atomic():
        if reply is not None:
            cost = settle(call, reply).cost
        else:
            before, cost = held(call), 0
            reserved = -call.bound if before == LLMCall.Status.RESERVED else 0
            # One that was given up had been counted at its bound.
            call.build.tally.change(reserved=reserved, spent=-call.cost)
            book(call.build, reserved, -call.cost)
            if call.cost:
                bill(call, spent=-call.cost)
        LLMCall.objects.filter(pk=call.pk).update(
            status=LLMCall.Status.FAILED, error=clean(error), cost=cost, finished_at=timezone.now()
        )


def discard(call: LLMCall, why: str) -> None:
    """A stored reply that no agent can use is not used again; it was paid, and its cost stays."""
    LLMCall.objects.filter(pk=call.pk).update(status=LLMCall.Status.FAILED, error=clean(why))


def park(call: LLMCall) -> None:
    """Turn the reservation into a request that waits for a reply by file; no money is involved."""
    with transaction.atomic():
        if held(call) == LLMCall.Status.RESERVED:
            call.build.tally.change(reserved=-call.bound)
            book(call.build, -call.bound)
        LLMCall.objects.filter(pk=call.pk).update(
            status=LLMCall.Status.WAITING, bound=0, cost=0, expires_at=None
        )
