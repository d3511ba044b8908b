"""A build whose model changes behind its name stops; one whose model stays the same goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from annotation.builds.control.pause_resume import Action, ControlRefused, control_build
from annotation.builds.drift import watched_pairs
from annotation.builds.drift.questions import AGENT, DriftReply, claim_drift_question, store_drift_answer
from annotation.builds.drift.verdict import look_after_all
from annotation.builds.launch.launcher import launch_build
from annotation.builds.launch.order import LaunchRefused
from annotation.builds.pipeline.advance import Tools
from annotation.jobs import notifications, worker
from annotation.llm import LLMError, Request
from annotation.models import (
    AgentBill,
    Build,
    Case,
    DriftAnswer,
    DriftCheck,
    DriftWatch,
    LLMCall,
    Price,
    Tally,
)
from annotation.models.notices import Notice
from annotation.stages import Stage
from tests import factories
from tests.annotation.builds.limits.test_canary import mined, order
from tests.fakes import Answer, FakeLLM

pytestmark = pytest.mark.django_db

Make = Callable[..., tuple[Tools, FakeLLM]]
DOWN = LLMError("the provider is overloaded (HTTP 529)", retryable=True, status=529)


class Model:
    """Answers every screener alike; a drift check's question by what it is set to say."""

    def __init__(self) -> None:
        self.says: Answer = {"verdict": 1, "explanation": "plain to see"}
        self.again: Answer = self.says
        self.from_check = 1

    def __call__(self, request: Request) -> str | Mapping[str, object]:
        number = check_of(request)
        said = self.again if number is not None and number >= self.from_check else self.says
        if isinstance(said, Exception):
            raise said
        assert not callable(said)
        return said


def check_of(request: Request) -> int | None:
    """The number of the check that asks; None where a case does."""
    return int(request.salt.split()[2].partition(".")[0]) if request.agent == AGENT else None


@pytest.fixture(autouse=True)
def small_scale(settings: Any) -> None:
    """A check every three settled cases; no canary."""
    settings.CANARY_ABOVE, settings.DRIFT_EVERY = 1000, 3
    settings.ANTHROPIC_API_KEY = "a-key"


@pytest.fixture
def model() -> Model:
    return Model()


def price() -> None:
    Price.objects.create(
        model="a-model", effective_from=datetime(2026, 1, 1, tzinfo=UTC), input=Decimal(1), output=Decimal(5)
    )


def step(tools: Tools) -> None:
    """One beat of each worker; pauses of cases and questions are over."""
    Case.objects.update(next_attempt_at=None)
    DriftAnswer.objects.update(next_attempt_at=None)
    for queue in ("control", "llm", "sandbox"):
        worker.drain_queue(queue, tools)


def settle(tools: Tools, build: Build, rounds: int = 200) -> None:
    """Work until the build stands still."""
    for _ in range(rounds):
        step(tools)
        build.refresh_from_db()
        if build.state != Build.State.RUNNING:
            return


def started(tools_with: Make, model: Model, **changes: Any) -> tuple[Build, Tools, FakeLLM]:
    tools, llm = tools_with(model)
    return mined(drift_check=True, **changes), tools, llm


def test_a_build_whose_model_stays_the_same_goes_on_and_every_check_is_on_the_books(
    tools_with: Make, model: Model
) -> None:
    build, tools, llm = started(tools_with, model)
    settle(tools, build)
    assert build.state == Build.State.DONE
    checks = list(DriftCheck.objects.all())
    assert [check.is_baseline for check in checks] == [True, False, False, False]
    assert [check.agreed for check in checks] == [9, 9, 9, 9]
    assert [check.p_value for check in checks[1:]] == [1.0, 1.0, 1.0]
    assert not any(check.shifted for check in checks)
    assert all(0 < check.settled // 3 < 4 for check in checks[1:])
    asked = [request for request in llm.calls if request.agent == AGENT]
    assert len(asked) == 9 * (2 + 3)
    assert len({request.digest() for request in asked}) == len(asked), "no reply answers another check"


def test_a_model_that_changes_its_verdicts_stops_the_build_with_a_reason(
    tools_with: Make, model: Model
) -> None:
    model.again = {"verdict": 0, "explanation": "not at all"}
    build, tools, llm = started(tools_with, model)
    settle(tools, build)
    assert build.state == Build.State.PAUSED
    assert "of 9 pairs asked again after" in build.reason
    assert "9 have another answer (0 higher, 9 lower)" in build.reason
    check = DriftCheck.objects.get(shifted=True)
    assert (check.number, check.lower, check.odd_ones, check.new_odd_ones) == (1, 9, 9, 9)
    assert check.p_value == pytest.approx(3**-9) and check.level == pytest.approx(0.01 / 3)
    assert build.events.get(event="stopped for a person").note == build.reason
    notifications.record_new_episodes()
    assert Notice.objects.get(kind=Notice.Kind.STOPPED).text == build.reason
    before = len(llm.calls)
    step(tools)
    assert len(llm.calls) == before


def test_who_resumes_it_says_why_and_the_model_as_it_is_now_becomes_the_baseline(
    tools_with: Make, model: Model
) -> None:
    model.again = {"verdict": 0, "explanation": "not at all"}
    build, tools, _ = started(tools_with, model)
    settle(tools, build)
    with pytest.raises(ControlRefused, match="say why"):
        control_build(build, Action.RESUME, factories.ada())
    control_build(build, Action.RESUME, factories.ada(), "the provider says that it is a better one")
    settle(tools, build)
    assert build.state == Build.State.DONE
    later = DriftCheck.objects.filter(number__gt=1)
    assert [check.is_baseline for check in later][:1] == [True]
    assert not later.filter(shifted=True).exists()
    assert not watched_pairs.has_shifted(build)


def test_a_model_that_begins_to_decline_has_shifted_and_nothing_counts_as_a_zero(
    tools_with: Make, model: Model
) -> None:
    model.again = LLMError("declined (stop reason 'refusal')", retryable=False)
    build, tools, _ = started(tools_with, model)
    settle(tools, build)
    check = DriftCheck.objects.get(number=1)
    assert (build.state, check.judged_once, check.lower) == (Build.State.PAUSED, 9, 0)
    assert set(check.answers.values_list("verdict", flat=True)) == {None}


def test_replies_that_cant_be_used_twice_are_an_answer_too(tools_with: Make, model: Model) -> None:
    model.again = "I would rather talk of something else."
    build, tools, _ = started(tools_with, model)
    settle(tools, build)
    assert DriftCheck.objects.get(number=1).judged_once == 9
    assert "could not be used" in DriftAnswer.objects.filter(check_of__number=1)[0].explanation


def test_an_outage_is_no_drift(tools_with: Make, model: Model) -> None:
    kept, model.again = model.again, DOWN
    build, tools, _ = started(tools_with, model)
    settle(tools, build)
    assert build.state == Build.State.WAITING
    assert not DriftAnswer.objects.filter(check_of__number=1, answered_at__isnull=False).exists()
    model.again = kept
    control_build(build, Action.RESUME)
    settle(tools, build)
    assert build.state == Build.State.DONE
    assert not DriftCheck.objects.filter(shifted=True).exists()


def test_its_calls_have_a_line_of_their_own_and_count_against_the_caps(
    tools_with: Make, model: Model
) -> None:
    price()
    build, tools, _ = started(tools_with, model, unpriced=False)
    settle(tools, build)
    calls = LLMCall.objects.filter(agent=AGENT)
    spent = sum(calls.values_list("cost", flat=True))
    assert AgentBill.objects.get(agent=AGENT).spent == spent > 0
    assert sum(DriftCheck.objects.values_list("cost", flat=True)) == spent
    whole = sum(LLMCall.objects.values_list("cost", flat=True))
    assert (Tally.objects.get().spent, Tally.objects.get().reserved) == (whole, 0)
    assert AgentBill.objects.get(agent="screener").calls == 9


def test_a_used_up_cap_stops_a_check_as_it_stops_cases(tools_with: Make, model: Model) -> None:
    price()
    build, tools, llm = started(tools_with, model, unpriced=False)
    worker.drain_queue("control", tools)
    Tally.objects.update(cap=1)
    settle(tools, build)
    assert (build.state, llm.calls) == (Build.State.PAUSED, [])
    assert build.reason.startswith("the budget is used up")


def test_what_a_killed_worker_asked_is_not_paid_twice(tools_with: Make, model: Model) -> None:
    build, tools, llm = started(tools_with, model)
    worker.drain_queue("control", tools)
    worker.drain_queue("llm", tools)
    done = DriftAnswer.objects.get(answered_at__isnull=False)
    # It died after the reply was stored and before the answer was.
    DriftAnswer.objects.filter(pk=done.pk).update(
        answered_at=None, verdict=None, call=None, lease="0" * 32, lease_until=timezone.now()
    )
    before = len(llm.calls)
    settle(tools, build)
    assert build.state == Build.State.DONE
    digests = [request.digest() for request in llm.calls]
    assert len(set(digests)) == len(digests) > before


def test_a_worker_whose_lease_ran_out_stores_nothing(tools_with: Make, model: Model) -> None:
    _, tools, _ = started(tools_with, model)
    worker.drain_queue("control", tools)
    slow = claim_drift_question()
    assert slow is not None
    DriftAnswer.objects.filter(pk=slow.pk).update(lease_until=timezone.now())
    other = claim_drift_question()
    assert other is not None and other.pk == slow.pk
    store_drift_answer(slow, DriftReply(0.0, "late"))
    assert DriftAnswer.objects.get(pk=slow.pk).answered_at is None
    store_drift_answer(other, DriftReply(1.0, "in time"))
    assert DriftAnswer.objects.get(pk=slow.pk).verdict == 1.0


def test_a_check_is_begun_once_however_many_workers_look(tools_with: Make, model: Model) -> None:
    started(tools_with, model)
    tools, _ = tools_with(model)
    worker.drain_queue("control", tools)
    watch = DriftWatch.objects.get()
    stale = DriftWatch.objects.select_related("build__tally").get()
    watched_pairs.begin_drift_check(watch)
    watched_pairs.begin_drift_check(stale)
    look_after_all()
    assert DriftCheck.objects.count() == 1
    assert DriftAnswer.objects.count() == 18


def test_the_build_ends_only_after_its_last_check(tools_with: Make, model: Model) -> None:
    model.again, model.from_check = {"verdict": 0, "explanation": "not at all"}, 3
    build, tools, _ = started(tools_with, model)
    settle(tools, build)
    assert (build.state, Tally.objects.get().open) == (Build.State.PAUSED, 0)
    control_build(build, Action.RESUME, factories.ada(), "what is settled stays")
    settle(tools, build)
    assert build.state == Build.State.DONE


def test_the_pairs_are_drawn_from_the_canary_once_the_rest_is_opened(
    tools_with: Make, model: Model, settings: Any
) -> None:
    settings.CANARY_ABOVE, settings.CANARY_CASES = 8, 4
    build, tools, llm = started(tools_with, model)
    settle(tools, build)
    assert build.state == Build.State.CANARY
    assert not any(request.agent == AGENT for request in llm.calls), "a canary's cost is its own"
    control_build(build, Action.GO_ON, factories.ada())
    settle(tools, build)
    watch = DriftWatch.objects.get()
    chosen = Case.objects.filter(pk__in=watch.drawn).values_list("candidate", flat=True)
    assert set(chosen) == set(build.canaries.get().drawn)
    assert (watch.max_checks, build.state) == (3, Build.State.DONE)


def test_a_build_that_ends_before_its_first_check_has_none(
    tools_with: Make, model: Model, settings: Any
) -> None:
    settings.DRIFT_EVERY = 10
    build, tools, llm = started(tools_with, model)
    settle(tools, build)
    assert (build.state, len(llm.calls)) == (Build.State.DONE, 9)
    assert build.events.get(event="no drift check").note == "it has fewer than 10 pairs"


def test_without_the_order_nothing_is_asked_again(tools_with: Make, model: Model) -> None:
    tools, llm = tools_with(model)
    build = mined()
    settle(tools, build)
    assert (build.state, len(llm.calls)) == (Build.State.DONE, 9)


def test_only_a_live_model_can_drift() -> None:
    with pytest.raises(LaunchRefused, match="live model"):
        launch_build(order(provider=Build.Provider.EXCHANGE, drift_check=True))


def test_a_paused_build_asks_nothing(tools_with: Make, model: Model) -> None:
    build, tools, llm = started(tools_with, model)
    worker.drain_queue("control", tools)
    control_build(build, Action.PAUSE)
    step(tools)
    assert llm.calls == []
    assert Case.objects.filter(stage=Stage.SCREENING).count() == 9
