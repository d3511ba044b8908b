"""Money: nothing is paid twice, nothing stays reserved, and the totals say what the rows say."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import InterfaceError, OperationalError, connection
from django.utils import timezone

from annotation.agents import paper, screener
from annotation.builds.limits import budget
from annotation.builds.pipeline import llm_calls
from annotation.builds.pipeline.advance import Tools, advance_case
from annotation.builds.pipeline.llm_calls import obtain_answered_call
from annotation.llm import LLMError, Reply, Request, Usage
from annotation.models import Attempts, Build, Case, LLMCall, Price, Tally
from annotation.stages import Stage
from tests import factories
from tests.fakes import FakeLLM

pytestmark = pytest.mark.django_db

Make = Callable[..., tuple[Tools, FakeLLM]]
Fresh = Callable[[Case], Case]
YES = {"verdict": 1, "explanation": "plain to see"}


def one_case(cap: int | None = None, name: str = "first") -> Case:
    return factories.cases(factories.opened(name, cap=cap))[0]


def request_of(case: Case) -> Request:
    inputs = screener.ScreenerInputs(query=case.pair.query.text, code=case.pair.snippet.text)
    return paper.screener_request(inputs, case.build.model)


def priced(dollars: int = 1) -> None:
    Price.objects.create(
        model="small-model",
        effective_from=timezone.now() - timedelta(days=1),
        input=Decimal(dollars),
        output=Decimal(dollars),
    )


def a_reply(text: str = '{"verdict": 1}', **columns: str) -> Reply:
    told: dict[str, Any] = {
        "model": "small-model",
        "request_id": "fake-1",
        "stop_reason": "end_turn",
    } | columns
    return Reply(text=text, usage=Usage(500, 60), latency=0.1, **told)


def reserved_and_lost(case: Case, provider: str = "live") -> LLMCall:
    """A call whose worker died before a word came back."""
    call = budget.reserve_call(case, request_of(case), provider)
    LLMCall.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    return call


def money(case: Case) -> tuple[int, int]:
    tally = Tally.objects.get(pk=case.build_id)
    return tally.reserved, tally.spent


def test_a_reply_that_turns_up_late_corrects_what_was_counted_for_it() -> None:
    priced()
    case = one_case()
    call = reserved_and_lost(case)
    assert budget.give_up_lost() == 1
    assert money(case) == (0, call.bound)
    budget.settle_call(call, a_reply())
    assert money(case) == (0, 560_000)  # 500 + 60 tokens at a dollar a million
    assert LLMCall.objects.get().status == LLMCall.Status.SUCCEEDED


def test_a_failure_that_turns_up_late_takes_back_what_was_counted() -> None:
    priced()
    case = one_case()
    call = reserved_and_lost(case)
    budget.give_up_lost()
    budget.fail_call_attempt(call, "no answer")
    assert money(case) == (0, 0)


def test_a_request_that_may_be_billed_without_a_reply_counts_at_its_bound(
    tools_with: Make, fresh: Fresh
) -> None:
    priced()
    case = one_case()
    tools, llm = tools_with(LLMError("reset in the middle", retryable=True, maybe_billed=True), YES)
    advance_case(fresh(case), tools)
    lost = LLMCall.objects.get()
    assert (lost.status, lost.cost) == (LLMCall.Status.UNKNOWN, lost.bound)
    assert lost.error.startswith("reset in the middle")
    assert money(case) == (0, lost.bound)
    Case.objects.update(next_attempt_at=None)
    advance_case(fresh(case), tools)
    assert (fresh(case).stage, len(llm.calls)) == (Stage.SETTLED, 2)
    assert money(case) == (0, lost.bound + 560_000)


def test_an_interrupted_call_counts_at_its_bound(tools_with: Make, fresh: Fresh) -> None:
    priced()
    case = one_case()
    tools, _ = tools_with(RuntimeError("a bug"))
    advance_case(fresh(case), tools)
    assert money(case) == (0, LLMCall.objects.get().bound)


def test_a_reply_is_stored_when_the_database_is_back(
    tools_with: Make, fresh: Fresh, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = [OperationalError("the server closed the connection"), InterfaceError("closed")]
    settle = budget.settle_call

    def settle_later(call: LLMCall, reply: Reply, problem: str | None = None) -> LLMCall:
        if away:
            raise away.pop()
        return settle(call, reply, problem)

    monkeypatch.setattr(budget, "settle_call", settle_later)
    monkeypatch.setattr(llm_calls, "STORING", (0.0, 0.0))
    case = one_case()
    tools, llm = tools_with(YES)
    advance_case(fresh(case), tools)
    assert (fresh(case).stage, len(llm.calls)) == (Stage.SETTLED, 1)


def test_a_database_that_stays_away_is_waited_for_less_long_than_a_call_is_reserved() -> None:
    assert sum(llm_calls.STORING) < budget.RESERVATION.total_seconds() / 4


def test_a_call_is_settled_once_however_often_its_reply_comes() -> None:
    priced()
    case = one_case()
    call = budget.reserve_call(case, request_of(case), "live")
    for copy in (call, LLMCall.objects.select_related("build__tally", "price").get()):
        budget.settle_call(copy, a_reply())
    tally = Tally.objects.get(pk=case.build_id)
    assert (tally.calls, tally.reserved, tally.spent) == (1, 0, 560_000)


def test_a_lost_call_of_a_build_that_nobody_works_on_does_not_stay_reserved() -> None:
    priced()
    case = one_case()
    reserved_and_lost(case)
    Build.objects.update(state=Build.State.CANCELLED)
    budget.give_up_lost()
    assert Tally.objects.get(pk=case.build_id).reserved == 0


def test_an_exchange_by_file_costs_nothing_when_its_worker_dies() -> None:
    priced()
    case = one_case()
    reserved_and_lost(case, "exchange")
    budget.give_up_lost()
    assert money(case) == (0, 0)


@pytest.mark.parametrize(("provider", "counts"), [("live:anthropic", True), ("exchange", False)])
def test_a_call_that_was_interrupted_may_have_been_billed(provider: str, counts: bool) -> None:
    priced()
    case = one_case()
    with pytest.raises(KeyboardInterrupt):
        obtain_answered_call(case, FakeLLM(interrupted, name=provider), request_of(case))
    call = LLMCall.objects.get()
    assert call.status == LLMCall.Status.UNKNOWN and "interrupted" in call.error
    assert money(case) == (0, call.bound if counts else 0)


def interrupted(request: Request) -> str:
    raise KeyboardInterrupt


def test_a_request_that_was_answered_since_one_looked_is_not_paid_again() -> None:
    case = one_case()
    request = request_of(case)
    budget.settle_call(budget.reserve_call(case, request, "live"), a_reply())
    with pytest.raises(budget.AlreadyAsked):
        budget.reserve_call(case, request, "live")  # whoever looked for a reply just before it was stored
    assert LLMCall.objects.count() == 1


def test_calls_in_the_air_hold_the_budget_but_do_not_use_it_up(tools_with: Make, fresh: Fresh) -> None:
    priced()
    case = one_case()
    bound = budget.compute_request_cost_bound(request_of(case), Price.objects.get())
    Tally.objects.filter(pk=case.build_id).update(cap=bound + bound // 2)
    other = factories.cases(case.build)[1]
    budget.reserve_call(other, request_of(other), "live")
    advance_case(fresh(case), tools_with(YES)[0])
    case = fresh(case)
    assert (case.build.state, case.stage) == (Build.State.RUNNING, Stage.SCREENING)
    assert case.next_attempt_at is not None


@pytest.mark.parametrize("missing", [0, 1])
def test_a_cap_that_is_exactly_enough_is_enough(missing: int, tools_with: Make, fresh: Fresh) -> None:
    priced()
    case = one_case()
    request = request_of(case)
    amount = budget.compute_request_cost_bound(request, Price.objects.get())
    Tally.objects.filter(pk=case.build_id).update(cap=amount - missing)
    advance_case(fresh(case), tools_with(YES)[0])
    assert fresh(case).stage == (Stage.SCREENING if missing else Stage.SETTLED)
    assert fresh(case).build.state == (Build.State.PAUSED if missing else Build.State.RUNNING)


@pytest.mark.parametrize("hostile", ["small\x00model", "m" * 500, "\ud800"])
def test_whatever_a_provider_calls_itself_its_reply_is_kept(hostile: str) -> None:
    case = one_case()
    call = budget.reserve_call(case, request_of(case), "live")
    budget.settle_call(call, a_reply(model=hostile, request_id=hostile, stop_reason=hostile))
    assert LLMCall.objects.get().status == LLMCall.Status.SUCCEEDED


def test_a_reply_that_is_paid_and_of_no_use_is_never_taken_for_a_good_one() -> None:
    priced()
    case = one_case()
    call = budget.reserve_call(case, request_of(case), "live")
    budget.fail_call_attempt(call, "cut off", a_reply())
    stored = LLMCall.objects.get()
    assert (stored.status, stored.cost) == (LLMCall.Status.FAILED, 560_000)
    assert money(case) == (0, 560_000)


def test_a_call_that_waits_for_a_file_does_not_hold_up_a_model_that_can_answer() -> None:
    case = one_case()
    budget.park_reserved_call(budget.reserve_call(case, request_of(case), "exchange"))
    other = one_case(name="second")
    live = FakeLLM(YES, name="live")
    assert obtain_answered_call(other, live, request_of(other)).status == LLMCall.Status.SUCCEEDED


def test_another_builds_attempt_that_comes_in_between_is_seen() -> None:
    case, other = one_case(), one_case(name="second")
    known = Attempts.at(request_of(case).digest())
    budget.fail_call_attempt(budget.reserve_call(other, request_of(other), "live"), "no word")
    with pytest.raises(budget.AlreadyAsked):
        budget.reserve_call(case, request_of(case), "live", known)
    assert Tally.objects.get(build=case.build).reserved == 0
    assert budget.reserve_call(case, request_of(case), "live").attempt == 2


@pytest.mark.django_db(transaction=True)
def test_two_threads_that_ask_the_same_pay_once() -> None:
    builds = [factories.opened("first"), factories.opened("second")]
    llm = FakeLLM(YES, name="live")
    start = threading.Barrier(4)
    surprises: list[BaseException] = []

    def work(case: Case) -> None:
        start.wait()
        for _ in range(2000):
            try:
                obtain_answered_call(case, llm, request_of(case))
                break
            except budget.AlreadyAsked:
                time.sleep(0.01)
            except (LLMError, AssertionError) as surprise:
                surprises.append(surprise)
        connection.close()

    asking = [factories.cases(build)[0] for build in builds * 2]
    threads = [threading.Thread(target=work, args=(case,)) for case in asking]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not surprises
    assert len(llm.calls) == LLMCall.objects.count() == 1
    payer = LLMCall.objects.get().build_id
    assert all(case.reused == int(case.build_id != payer) for case in asking), "by the build that did not pay"
