"""Money: reserve the upper bound before a call, settle what it cost after."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, NoReturn

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.builds.limits import rate_limit, unusable_replies
from annotation.llm import Reply, Request
from annotation.llm.exchange import ExchangeLLM
from annotation.models import (
    AgentBill,
    Attempts,
    Batch,
    Build,
    Case,
    LLMCall,
    Price,
    ProjectTally,
    Proposal,
    ReplyText,
    RequestText,
    SystemText,
    Tally,
)
from annotation.models.builds.batches import compute_batch_price
from annotation.models.builds.build import NANO
from annotation.models.builds.calls import HOLDING, OVER, BuildQuestion
from annotation.models.builds.figures import increment_figure_counters
from retrieval.models import statements
from retrieval.texts.hostile import mark_hostile_characters

RESERVATION = max(timedelta(minutes=10), rate_limit.LONGEST_CALL * 1.25)
"""Longer than any one call may take."""
DIED = "the worker that waited for it died"
USED_UP = "the budget is used up"
"""How the reason begins of a build that has stopped at its cap."""
PROJECT_USED_UP = "the project's cap of"
"""The same where it is the cap of all live builds."""
CHARACTERS_A_TOKEN = 2
"""Deliberately low (English and code have about 3 to 4), so that the bound is an upper bound."""


class OverBudget(Exception):
    """The call could cost more than is left under the build's cap or the project's, as the message says."""


class RepliesUnusable(OverBudget):
    """The last replies could not be used: the next call would be money for nothing. The message says so."""


class AlreadyAsked(Exception):
    """Another worker is asking this very request, or has just asked it; wait for its reply."""


class BudgetHeld(Exception):
    """Calls under way hold what is left under the cap; they cost less than their bounds: wait."""


def compute_request_cost_bound(request: Request, price: Price | None) -> int:
    """Nanodollars that `request` can cost at most; 0 where the model has no price."""
    if price is None:
        return 0
    characters = len(request.canonical())
    return price.most(characters // CHARACTERS_A_TOKEN, request.max_tokens)


def reserve_call(
    case: Case | Proposal | BuildQuestion,
    request: Request,
    provider: str,
    attempts: Attempts | None = None,
    *,
    by_batch: bool = False,
) -> LLMCall:
    """A reserved call for `request`, paid by the case's build; `attempts` are those that the caller knows of.

    `by_batch` it is one of the batch that now fills, at half price.

    Locked are the call's row, then its batch, then the build's totals, then the project's: the same order
    everywhere, and what all workers wait for comes last. Whoever was not seen in `attempts` has taken the
    next number.

    Raises OverBudget, BudgetHeld, limiter.Full, and AlreadyAsked when the same request is in the air or has
    its reply.
    """
    digest = request.digest()
    attempt = free_attempt(digest, Attempts.at(digest) if attempts is None else attempts)
    price = price_of(case.build, request.model)
    amount = (
        compute_batch_price(compute_request_cost_bound(request, price))
        if by_batch
        else compute_request_cost_bound(request, price)
    )
    texts = system_text(case.build, request.system), RequestText.keep(without_system(request))
    try:
        with transaction.atomic():
            call = insert_call_attempt(case.build, request, provider, price, amount, attempt, texts)
            if by_batch:
                assert isinstance(case, Case), "batches are of stages"
                join_filling_batch(call, case.stage, request)
            reserve_amount(case.build, amount)
            if not by_batch:
                unusable_replies.admit_first_call(case.build)
                rate_limit.admit_reserved_call(case.build)
    except IntegrityError as error:
        raise AlreadyAsked(digest) from error
    return call


def free_attempt(digest: str, attempts: Attempts) -> int:
    """The number of the next attempt. Raises AlreadyAsked where one is in the air or has its reply."""
    if attempts.first(LLMCall.Status.RESERVED) and give_up_lost(digest):
        attempts = Attempts.at(digest)
    if any(attempts.first(status) for status in (*HOLDING, LLMCall.Status.SUCCEEDED)):
        raise AlreadyAsked(digest)
    return attempts.next


def join_filling_batch(call: LLMCall, stage: str, request: Request) -> None:
    """Make the call one of the batch that now fills."""
    call.batch = Batch.objects.joined(call.build, stage, len(request.canonical()))
    call.status, call.expires_at = LLMCall.Status.BATCHED, None
    call.save(update_fields=["batch", "status", "expires_at"])


def price_of(build: Build, model: str) -> Price | None:
    """The price in force; looked up once for each handful of cases, as each claim reads its builds anew."""
    key = f"price of {model}"
    if key not in build.looked_up:
        build.looked_up[key] = Price.objects.at(model, timezone.now())
    found: Price | None = build.looked_up[key]
    return found


def system_text(build: Build, text: str) -> SystemText:
    """The stored rules of an agent, which many requests share; looked up as prices are."""
    if text not in build.looked_up:
        build.looked_up[text] = SystemText.keep(text)
    found: SystemText = build.looked_up[text]
    return found


def reserve_amount(build: Build, amount: int) -> None:
    """Hold `amount` of the build's money, then of the project's. Raises OverBudget or BudgetHeld."""
    if not build.tally.reserve(amount):
        refuse_reservation(build, amount)
    if is_charged_to_project(build) and not ProjectTally.objects.reserve(amount):
        refuse_project(amount)


def refuse_reservation(build: Build, amount: int) -> NoReturn:
    """Say why `amount` can't be reserved: unusable replies, used up for good, or only held for a moment."""
    tally = Tally.objects.get(pk=build.pk)
    if why := unusable_replies.why_stop(tally.unusable_run, (), share_accepted=True):
        raise RepliesUnusable(unusable_replies.describe_stop(why))
    refuse_by(tally, amount, USED_UP)


def refuse_project(amount: int) -> NoReturn:
    """The same for the cap that all live builds share."""
    project = ProjectTally.objects.now()
    why = project_used_up(project.cap or 0)
    refuse_by(project, amount, why, ". An admin can raise it on the dashboard, and then resume the build")


def project_used_up(cap: int) -> str:
    """How the reason begins of a build that has stopped at this cap of all live builds."""
    return f"{PROJECT_USED_UP} ${cap / NANO:,.2f}, which all live builds share, is used up"


def refuse_by(tally: Tally | ProjectTally, amount: int, why: str, advice: str = "") -> NoReturn:
    if tally.cap is None or tally.spent + amount <= tally.cap:
        raise BudgetHeld(f"{tally.reserved / NANO:.6f} dollars are held by calls that still run")
    left = max(0, tally.cap - tally.spent) / NANO
    raise OverBudget(f"{why}: ${left:,.6f} is left, and the next call may cost ${amount / NANO:,.6f}{advice}")


def is_charged_to_project(build: Build) -> bool:
    """Whether the build's money is the project's: replies from files cost nobody anything."""
    return build.provider == Build.Provider.LIVE


def book_project_share(build: Build, reserved: int = 0, spent: int = 0) -> None:
    """The project's share of a change of the build's totals, which are held already: always in this order."""
    if is_charged_to_project(build):
        ProjectTally.objects.book(reserved, spent)


def insert_call_attempt(
    build: Build,
    request: Request,
    provider: str,
    price: Price | None,
    amount: int,
    attempt: int,
    texts: tuple[SystemText, RequestText],
) -> LLMCall:
    """The row of a new attempt. Raises IntegrityError where another one has its number."""
    call = LLMCall(
        digest=request.digest(),
        attempt=attempt,
        status=LLMCall.Status.RESERVED,
        agent=request.agent,
        model=request.model,
        provider=provider,
        build=build,
        system=texts[0],
        request=texts[1],
        price=price,
        bound=amount,
        expires_at=timezone.now() + RESERVATION,
    )
    statements.insert_row(call)
    return call


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


def give_up(call: LLMCall, why: str = DIED) -> bool:
    """Count a lost attempt at its bound, unless its reply came meanwhile; nobody bills an exchange by file.

    `why` no word came back of a request that was sent: nobody can say whether it was billed.
    """
    with transaction.atomic():
        cost = 0 if call.provider == ExchangeLLM.name else call.bound
        told = {"cost": cost, "error": mark_hostile_characters(why), "finished_at": timezone.now()}
        if not change_reserved_call(call, LLMCall.Status.UNKNOWN, told):
            return False
        call.build.tally.change(reserved=-call.bound, spent=cost)
        book_project_share(call.build, -call.bound, cost)
        bill_agent_cost(call, spent=cost)
    return True


def change_reserved_call(call: LLMCall, status: str, told: Mapping[str, Any]) -> bool:
    """Change a reserved or batched call, whose row is held from here on; False where it is that no more."""
    known = call.status if call.status in HOLDING else LLMCall.Status.RESERVED
    row = {"id": call.pk, "status": str(known)}
    return statements.update_rows(LLMCall, row, put={"status": str(status), **told}) == 1


def lock_call_status(call: LLMCall) -> str:
    """The call's status now; it stays so until the transaction ends."""
    found = LLMCall.objects.select_for_update().only("status", "bound", "cost").get(pk=call.pk)
    call.status, call.bound, call.cost = found.status, found.bound, found.cost
    return call.status


def settle_call(call: LLMCall, reply: Reply, problem: str | None = None) -> LLMCall:
    """Store the reply, its tokens and its cost, before anybody uses it. A call is settled once.

    A reply that turns up after its reservation was given up corrects what was counted for it. One with a
    defect is kept like any other, with the defect as its error: it was paid, and is not asked for again.
    `problem`: why no agent can use it, empty where one can; None where that is not counted.
    """
    told = columns_of(reply, call.cost_of(reply.usage)) | {"reply_id": ReplyText.keep(reply.text).digest}
    with transaction.atomic():
        reserved, counted = -call.bound, 0
        if not change_reserved_call(call, LLMCall.Status.SUCCEEDED, told):
            if lock_call_status(call) in OVER:
                return LLMCall.objects.select_related("reply").get(pk=call.pk)
            reserved, counted = 0, call.cost
            LLMCall.objects.filter(pk=call.pk).update(status=LLMCall.Status.SUCCEEDED, **told)
        count_settled(call, reply, reserved, told["cost"] - counted, problem)
    for name, value in told.items():
        setattr(call, name, value)
    call.status, call.reply = LLMCall.Status.SUCCEEDED, ReplyText.packed(reply.text)
    return call


def columns_of(reply: Reply, cost: int) -> dict[str, Any]:
    """What a call's row says of its reply."""
    usage = reply.usage
    return {
        "cost": cost,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "latency": reply.latency,
        "answered_by": mark_hostile_characters(reply.model)[:120],
        "provider_id": mark_hostile_characters(reply.request_id)[:120],
        "stop_reason": mark_hostile_characters(reply.stop_reason)[:40],
        "error": mark_hostile_characters(reply.defect),
        "finished_at": timezone.now(),
    }


def count_settled(call: LLMCall, reply: Reply, reserved: int, spent: int, problem: str | None = None) -> None:
    """Add a reply to the totals of its build, of the project and of its agent."""
    usage = reply.usage
    counted = {
        "calls": 1,
        "spent": spent,
        "input_tokens": usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
    }
    call.build.tally.answered(None if problem is None else not problem, reserved=reserved, **counted)
    if problem:
        unusable_replies.note_unusable_reply(call)
    book_project_share(call.build, reserved, spent)
    bill_agent_cost(call, milliseconds=round(1000 * reply.latency), **counted)


def bill_agent_cost(call: LLMCall, **deltas: int) -> None:
    """What the call's agent has cost its build; the caller holds the build's totals."""
    increment_figure_counters(AgentBill, {"build_id": call.build_id, "agent": call.agent}, **deltas)


def fail_call_attempt(call: LLMCall, error: str, reply: Reply | None = None) -> None:
    """Note that the attempt gave nothing usable; what was billed all the same is kept."""
    with transaction.atomic():
        cost = settle_call(call, reply).cost if reply is not None else unbook_call_cost(call)
        LLMCall.objects.filter(pk=call.pk).update(
            status=LLMCall.Status.FAILED,
            error=mark_hostile_characters(error),
            cost=cost,
            finished_at=timezone.now(),
        )


def unbook_call_cost(call: LLMCall) -> int:
    """Take back what is reserved for the call, or was counted when it was given up; gives its cost, 0."""
    reserved = -call.bound if lock_call_status(call) in HOLDING else 0
    call.build.tally.change(reserved=reserved, spent=-call.cost)
    book_project_share(call.build, reserved, -call.cost)
    if call.cost:
        bill_agent_cost(call, spent=-call.cost)
    return 0


def discard_call_reply(call: LLMCall, why: str) -> None:
    """What gave nothing that an agent can use is not used again; what it cost stays."""
    LLMCall.objects.filter(pk=call.pk).update(
        status=LLMCall.Status.UNUSABLE, error=mark_hostile_characters(why)
    )


def park_reserved_call(call: LLMCall) -> None:
    """Turn the reservation into a request that waits for a reply by file; no money is involved."""
    put = {"bound": 0, "cost": 0, "expires_at": None}
    with transaction.atomic():
        if change_reserved_call(call, LLMCall.Status.WAITING, put):
            call.build.tally.change(reserved=-call.bound)
            book_project_share(call.build, -call.bound)
        else:
            LLMCall.objects.filter(pk=call.pk).update(status=LLMCall.Status.WAITING, **put)
