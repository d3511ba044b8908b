"""Ask a model once for each request: reuse what was answered, pay for the rest, store before use."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final, TypeAlias, TypeVar

from django.db import InterfaceError, OperationalError, connection
from django.db.models import Max, QuerySet

from annotation.agents import InvalidReply, build_repair_request
from annotation.builds.limits import budget, full_disk, poison_requests, rate_limit, unusable_replies
from annotation.builds.limits.awaited_replies import note_answering_models
from annotation.builds.limits.unusable_replies import Parser
from annotation.llm import LLM, LLMError, Reply, Request, Waiting
from annotation.llm.reply import CUT_OFF, HOPELESS
from annotation.llm.sampling import LONGER
from annotation.models import Attempts, Batch, Build, BuildEvent, Case, LLMCall, Proposal
from annotation.models.builds.calls import IN_WORK, BuildQuestion
from annotation.stages import Event, Stage
from retrieval.texts.hostile import mark_hostile_characters

V = TypeVar("V")
Asker: TypeAlias = Case | Proposal | BuildQuestion
"""Whose request it is: it names build, annotator and round."""
BY_BATCH: Final = frozenset({Stage.SCREENING, Stage.READING, Stage.WRITING_TEST})
"""The stages whose requests may wait for a batch: the others follow on each other, so they are asked live."""
BATCH_TRIES: Final = 2
COUNTED = "it may have been billed, so it counts at its bound"
log = logging.getLogger(__name__)
STORING: Final = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds between tries to store a reply while the database is away; together far less than a reservation."""


class Unjudgeable(Exception):
    """The model gave nothing that can be used: the case is abandoned with this reason, for this `call`."""

    def __init__(self, reason: str, call: LLMCall) -> None:
        super().__init__(reason)
        self.call = call


class Parked(Exception):
    """The request waits for a reply by file; `call` is its row."""

    def __init__(self, call: LLMCall) -> None:
        super().__init__(call.digest)
        self.call = call


def ask_with_repair(case: Asker, llm: LLM, request: Request, parse: Callable[[str], V]) -> tuple[V, LLMCall]:
    """The verdict on `request` and the call that gave it, after at most one repair call.

    A last reply that can't be used either is not used again, so that a person's retry asks anew; until then
    it stands for every case of the build whose question it is.
    Raises Parked, Unjudgeable, budget.OverBudget, budget.BudgetHeld, budget.AlreadyAsked, limiter.Full and
    LLMError.
    """
    config = case.annotator.config
    request = replace(
        request,
        round=case.round,
        base_url=config.get("base_url", ""),
        salt=config.get("salt", ""),
    ).sampled(config.get("sampling", {}))
    return ask_for_verdict(case, llm, request, parse, by_batch=may_wait(case))


def ask_for_verdict(
    case: Asker, llm: LLM, request: Request, parse: Callable[[str], V], *, by_batch: bool = False
) -> tuple[V, LLMCall]:
    """As `ask_with_repair`, for a request that is complete as it is; `by_batch`: its reply may come later."""
    call = obtain_answered_call(case, llm, request, parse, by_batch=by_batch)
    try:
        return verdict_of(call, parse), call
    except InvalidReply as problem:
        if call.stop_reason in HOPELESS:
            raise given_up(call, f"the {request.agent} gave no answer: {problem}") from problem
        second = obtain_answered_call(
            case, llm, build_repair_request(request, reply_text_of_call(call), str(problem)), parse
        )
    try:
        return verdict_of(second, parse), second
    except InvalidReply as problem:
        why = f"the {request.agent}'s reply could not be used, even when asked again: {problem}"
        why += f"; the sampling {LONGER} allows more" if second.stop_reason == CUT_OFF else ""
        raise given_up(second, why) from problem


def verdict_of(call: LLMCall, parse: Callable[[str], V]) -> V:
    """The verdict in a stored reply. Raises InvalidReply, also for one that was cut off or declined."""
    if call.error:
        raise InvalidReply(call.error)
    return parse(reply_text_of_call(call))


def given_up(call: LLMCall, why: str) -> Unjudgeable:
    budget.discard_call_reply(call, why)
    return Unjudgeable(why, call)


def reply_text_of_call(call: LLMCall) -> str:
    assert call.reply is not None, "a call that succeeded has its reply"
    return call.reply.text


def may_wait(case: Asker) -> bool:
    """Whether the case's stage is one that its build asks by batch."""
    return isinstance(case, Case) and case.build.batches and case.stage in BY_BATCH


def obtain_answered_call(
    case: Asker, llm: LLM, request: Request, parse: Parser | None = None, *, by_batch: bool = False
) -> LLMCall:
    """The successful call of `request`: an earlier one, which costs nothing, or a new one.

    Raises Parked where its reply comes later: by file, or `by_batch`. Until a reply was usable, a build by
    batch asks live, too.
    """
    attempts = Attempts.at(request.digest())
    earlier = attempts.first(LLMCall.Status.SUCCEEDED)
    if earlier is not None:
        return once_more(case, LLMCall.objects.select_related("reply").get(pk=earlier))
    refuse_given_up(case, attempts)
    for status in IN_WORK:
        waiting = attempts.first(status, llm.name)
        if waiting is not None:
            raise Parked(LLMCall.objects.get(pk=waiting))
    proven = by_batch and unusable_replies.has_usable_reply(case.build)  # a batch is paid whole
    if proven and not (attempts.rows and came_back(request.digest())):
        raise Parked(budget.reserve_call(case, request, llm.name, attempts, by_batch=True))
    return make_paid_call(case, llm, request, attempts, parse)


def once_more(case: Asker, call: LLMCall) -> LLMCall:
    """The call, counted as reused unless its own build waited for it, and nothing rests on it yet."""
    if case.build.provider == Build.Provider.EXCHANGE:
        note_answering_models(case.build, [call.answered_by])
    if call.build_id != case.build.pk or call.steps.exists():
        if isinstance(case, Case):
            case.reused += 1
        else:
            case.build.tally.change(reused=1)
    return call


def refuse_given_up(case: Asker, attempts: Attempts) -> None:
    """Raises Unjudgeable where the build has asked this in vain since the case was last retried.

    Several cases may share one question (`builds.pipeline.listwise`), which is paid for once. If the case
    itself was abandoned for it, somebody has retried the case.
    """
    in_vain = attempts.all(LLMCall.Status.UNUSABLE)
    if not in_vain or not isinstance(case, Case):
        return
    retried = case.steps.filter(event=Event.GAVE_UP).aggregate(last=Max("call"))["last"] or 0
    calls = LLMCall.objects.filter(pk__in=in_vain, pk__gt=retried, build=case.build_id)
    if (call := calls.order_by("-pk").first()) is not None:
        raise Unjudgeable(call.error, call)


def came_back(digest: str) -> bool:
    """Whether batches have returned the request so often without a reply that it is asked live."""
    gone = LLMCall.Status.FAILED, LLMCall.Status.UNKNOWN
    failed = LLMCall.objects.filter(digest=digest, status__in=gone, batch__isnull=False)
    return failed.exclude(batch__state=Batch.State.WITHDRAWN).count() >= BATCH_TRIES


def make_paid_call(
    case: Asker, llm: LLM, request: Request, attempts: Attempts, parse: Parser | None = None
) -> LLMCall:
    """Reserve, ask with no database connection held, and store what came back.

    Without `parse` the reply counts neither as usable nor as unusable.
    """
    call = budget.reserve_call(case, request, llm.name, attempts)
    try:
        with no_connection():
            reply = llm.ask(request)
        refuse_other_model(call, reply)
    except Waiting as waiting:
        budget.park_reserved_call(call)
        raise Parked(call) from waiting
    except LLMError as error:
        book_failed_call(call, error)
        rate_limit.learn_rate_from_error(case.build, error)
        refuse_hopeless(case, llm, request, call, error)
        if error.retryable or error.provider:
            raise
        raise given_up(call, error.message) from error
    except BaseException as error:
        budget.give_up(call, f"{poison_requests.INTERRUPTED}, {COUNTED}: {error!r}")
        raise
    problem = unusable_replies.find_reply_problem(case.build, request.agent, reply, parse) if parse else None
    settled = settle_paid_reply(call, reply, problem)
    unusable_replies.stop_if_due(case.build, problem)
    rate_limit.learn_rate_from_reply(case.build, reply)
    return settled


def refuse_hopeless(case: Asker, llm: LLM, request: Request, call: LLMCall, error: LLMError) -> None:
    """Raises Unjudgeable where the request has failed again and again while others were answered.

    Where nothing else is asked, a short question is, to see whose fault it is. `error` is told how many
    failures count, so that the pauses grow.
    """
    if not poison_requests.may_be_its_own(case.build, error):
        return
    failed = poison_requests.find_failed_attempts(call)
    if poison_requests.has_no_other_answer(call, failed):
        ask_another(case, llm, poison_requests.build_probe_request(request, call))
    error.failures = poison_requests.count_poison_failures(call, failed)
    if error.failures >= poison_requests.MOST and poison_requests.few_others_failed(call, failed):
        raise given_up(call, poison_requests.describe_poison_request(call, error, len(failed))) from error


def ask_another(case: Asker, llm: LLM, request: Request) -> None:
    """Ask something else; whether it was answered, its row says."""
    with contextlib.suppress(
        LLMError, Unjudgeable, budget.OverBudget, budget.BudgetHeld, budget.AlreadyAsked, rate_limit.Full
    ):
        make_paid_call(case, llm, request, Attempts.at(request.digest()))


def book_failed_call(call: LLMCall, error: LLMError) -> None:
    """What a failed call costs: what its reply says, nothing, or its bound where nobody can know."""
    if error.maybe_billed:
        budget.give_up(call, f"{error.message}; {COUNTED}")
    else:
        budget.fail_call_attempt(call, error.message, error.reply)


def refuse_other_model(call: LLMCall, reply: Reply) -> None:
    """A build never changes its model by itself, also where a server may name it as it likes.

    Raises LLMError, with the reply, where another model answers than before. A person who resumes the build
    after that takes the other one. A file of recorded replies may hold those of several.
    """
    if call.build.provider != Build.Provider.LIVE:
        return
    name, known = mark_hostile_characters(reply.model)[:120], call.build.looked_up
    if known.get("answered by") == name:
        return
    calls = LLMCall.objects.filter(build=call.build_id).order_by("-pk")
    same = calls.filter(status=LLMCall.Status.SUCCEEDED, model=call.model, provider=call.provider)
    before = same.values_list("answered_by", flat=True).first()
    if before is None or before == name or taken_by_a_person(calls, name):
        known["answered by"] = name
        return
    raise LLMError(
        f"{name} answered, and until now it was {before}: the provider has another model behind the name "
        f"{call.model}. Set it back there, or launch a new build: this one, resumed, would mix the two.",
        retryable=False,
        provider=True,
        reply=reply,
    )


def taken_by_a_person(calls: QuerySet[LLMCall], name: str) -> bool:
    """Whether somebody has resumed the build after it had stopped because `name` answered."""
    refused = calls.filter(status=LLMCall.Status.FAILED, answered_by=name).first()
    if refused is None or refused.finished_at is None:
        return False
    resumed = BuildEvent.objects.filter(build=refused.build_id, event="resume")
    return resumed.filter(at__gt=refused.finished_at).exists()


def settle_paid_reply(call: LLMCall, reply: Reply, problem: str | None = None) -> LLMCall:
    """The settled call. The reply is paid for: a database that is away for a moment does not lose it.

    While the disk is full it is kept here, however long that takes.
    """

    def store() -> LLMCall:
        return full_disk.retry_while_full(lambda: budget.settle_call(call, reply, problem))

    for pause in STORING:
        try:
            return store()
        except (OperationalError, InterfaceError):
            log.warning("the reply to %s can't be stored now; trying again in %.1f s", call, pause)
            with no_connection():
                time.sleep(pause)
    return store()


@contextlib.contextmanager
def no_connection() -> Iterator[None]:
    """Give the database connection back while something slow happens elsewhere."""
    give_connection_back()
    yield


def give_connection_back() -> None:
    if not connection.in_atomic_block:
        connection.close()
