"""One limit for all workers: refusals lower it, replies raise it, and what a provider asks for is kept to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.agents import screener
from annotation.builds.limits import budget, rate_limit
from annotation.builds.pipeline import claims
from annotation.builds.pipeline.advance import Tools, advance_case
from annotation.llm import LLMError, Reply, Usage
from annotation.models import Build, Case, Limiter, LLMCall
from annotation.stages import Stage
from tests import factories
from tests.fakes import FakeLLM

pytestmark = pytest.mark.django_db

Make = Callable[..., tuple[Tools, FakeLLM]]
REPLY = Reply("{}", "m", Usage(1, 1), 0.1, "id", "end_turn")
TOO_MANY = LLMError("slow down", retryable=True, status=429)
YES = {"verdict": 1, "explanation": "plain to see"}


@pytest.fixture
def build() -> Build:
    return factories.opened(provider=Build.Provider.LIVE)


def flying(build: Build, count: int) -> None:
    """So many calls of the build have no reply yet."""
    case = factories.cases(build)[0]
    for number in range(count):
        call = factories.llm_call(case, f"agent {number}", YES)
        LLMCall.objects.filter(pk=call.pk).update(status=LLMCall.Status.RESERVED)


def limit(build: Build) -> float:
    return Limiter.objects.get(model=build.model).max_in_flight


def test_without_a_refusal_the_workers_are_the_only_limit(build: Build) -> None:
    flying(build, 30)
    rate_limit.learn_rate_from_reply(build, REPLY)
    rate_limit.admit_reserved_call(build)
    assert not rate_limit.full_models() and not Limiter.objects.exists()


def test_the_first_refusal_sets_the_limit_to_four_fifths_of_what_was_in_the_air(build: Build) -> None:
    flying(build, 9)
    rate_limit.learn_rate_from_error(build, TOO_MANY)
    assert limit(build) == pytest.approx(8.0)


def test_the_limit_is_told_once_there_is_one(build: Build) -> None:
    assert rate_limit.at_once(build) is None
    flying(build, 9)
    rate_limit.learn_rate_from_error(build, TOO_MANY)
    assert rate_limit.at_once(build) == 8
    assert rate_limit.at_once(factories.opened("second", provider=Build.Provider.RECORDED)) is None


def test_an_episode_slows_down_once_and_the_next_one_again(build: Build) -> None:
    flying(build, 9)
    for _ in range(5):
        rate_limit.learn_rate_from_error(build, TOO_MANY)
    assert limit(build) == pytest.approx(8.0)
    Limiter.objects.update(slowed_until=timezone.now())
    rate_limit.learn_rate_from_error(build, TOO_MANY)
    assert limit(build) == pytest.approx(6.4)


def test_a_limit_that_had_grown_far_beyond_what_is_used_falls_to_what_is(build: Build) -> None:
    Limiter.objects.create(model=build.model, max_in_flight=900.0)
    flying(build, 4)
    rate_limit.learn_rate_from_error(build, TOO_MANY)
    assert limit(build) == pytest.approx(4.0)


def test_it_never_falls_below_one_call(build: Build) -> None:
    for _ in range(20):
        rate_limit.learn_rate_from_error(build, TOO_MANY)
        Limiter.objects.update(slowed_until=timezone.now())
    assert limit(build) == 1.0
    rate_limit.admit_reserved_call(build)


def test_it_grows_by_one_for_each_round_of_replies(build: Build) -> None:
    long_ago = timezone.now() - rate_limit.CLEAN - timedelta(seconds=1)
    Limiter.objects.create(model=build.model, max_in_flight=10.0, slowed_until=long_ago)
    for _ in range(10):
        rate_limit.learn_rate_from_reply(build, REPLY)
    assert limit(build) == pytest.approx(11.0, abs=0.1)


def test_it_does_not_grow_while_the_last_refusal_is_fresh(build: Build) -> None:
    flying(build, 9)
    rate_limit.learn_rate_from_error(build, TOO_MANY)
    rate_limit.learn_rate_from_reply(build, REPLY)
    assert limit(build) == pytest.approx(8.0)


@pytest.mark.parametrize("status", [500, 529, 408, None])
def test_other_errors_do_not_change_it(build: Build, status: int | None) -> None:
    rate_limit.learn_rate_from_error(build, LLMError("down", retryable=True, status=status))
    assert not Limiter.objects.exists()


def test_a_full_model_is_not_asked_and_a_case_waits_without_losing_a_try(
    build: Build, tools_with: Make
) -> None:
    Limiter.objects.create(model=build.model, max_in_flight=2.5)
    flying(build, 2)
    [case] = claims.claim_cases("llm", 1) or [factories.cases(build)[1]]
    tools, llm = tools_with(YES)
    advance_case(case, tools)
    case.refresh_from_db()
    assert (case.stage, case.attempts, llm.calls) == (Stage.SCREENING, 0, [])
    flying(build, 1)  # the one to be admitted is reserved already
    with pytest.raises(rate_limit.Full, match="at most 2 calls"):
        rate_limit.admit_reserved_call(build)


def test_no_case_of_a_full_model_is_claimed_but_those_of_others_are(build: Build) -> None:
    Limiter.objects.create(model=build.model, max_in_flight=1.0)
    flying(build, 1)
    assert claims.claim_cases("llm", 4) == []
    other = factories.opened("second", provider=Build.Provider.LIVE, model="another")
    assert {case.build_id for case in claims.claim_cases("llm", 4)} == {other.pk}
    recorded = factories.opened("third", provider=Build.Provider.RECORDED)
    assert recorded.pk in {case.build_id for case in claims.claim_cases("llm", 40)}


def test_calls_of_dead_workers_do_not_count(build: Build) -> None:
    Limiter.objects.create(model=build.model, max_in_flight=1.0)
    flying(build, 3)
    LLMCall.objects.update(created_at=timezone.now() - rate_limit.LONGEST_CALL - timedelta(seconds=1))
    rate_limit.admit_reserved_call(build)


@pytest.mark.parametrize("told_by", ["an error", "a reply"])
def test_a_pause_that_the_provider_asks_for_holds_for_all(build: Build, told_by: str) -> None:
    if told_by == "an error":
        rate_limit.learn_rate_from_error(
            build, LLMError("slow down", retryable=True, status=429, retry_after=60.0)
        )
    else:
        rate_limit.learn_rate_from_reply(build, replace(REPLY, pause=60.0))
    assert rate_limit.full_models() == [build.model] and claims.claim_cases("llm", 1) == []
    rate_limit.pause_model_requests(build.model, 1.0)
    row = Limiter.objects.get()
    assert row.closed_until is not None
    assert row.closed_until > timezone.now() + timedelta(seconds=50)
    Limiter.objects.update(closed_until=timezone.now())
    assert claims.claim_cases("llm", 1)


def test_no_header_closes_a_model_for_days(build: Build) -> None:
    rate_limit.pause_model_requests(build.model, 1e300)
    row = Limiter.objects.get()
    assert row.closed_until is not None and row.closed_until < timezone.now() + timedelta(minutes=61)


def test_files_have_no_limit() -> None:
    recorded = factories.opened(provider=Build.Provider.RECORDED)
    rate_limit.learn_rate_from_error(recorded, TOO_MANY)
    rate_limit.learn_rate_from_reply(recorded, replace(REPLY, pause=9.0))
    assert not Limiter.objects.exists()


def test_what_was_refused_is_given_back_to_the_budget(build: Build) -> None:
    Limiter.objects.create(model=build.model, max_in_flight=1.0)
    flying(build, 1)
    case = Case.objects.select_related("build__tally").filter(build=build).first()
    assert case is not None
    request = screener.build_screener_request(
        screener.ScreenerInputs("a query", "def f():\n    pass\n"), build.model
    )
    with pytest.raises(rate_limit.Full):
        budget.reserve_call(case, request, "live:anthropic")
    case.build.tally.refresh_from_db()
    assert case.build.tally.reserved == 0
