"""A provider that fails again and again: the build waits, nobody is blamed, and it goes on by itself."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.builds.control.pause_resume import Action, control_build
from annotation.builds.limits import circuit_breaker
from annotation.builds.limits.circuit_breaker import FIRST_PAUSE, LONGEST_PAUSE, RUN
from annotation.builds.pipeline import claims
from annotation.builds.pipeline.advance import Tools
from annotation.jobs import worker
from annotation.llm import LLMError
from annotation.models import Build, Case, Tally
from annotation.stages import Stage
from tests import factories
from tests.fakes import Answer, FakeLLM

pytestmark = pytest.mark.django_db

Make = Callable[..., tuple[Tools, FakeLLM]]
YES = {"verdict": 1, "explanation": "plain to see"}
DOWN = LLMError("the provider is overloaded (HTTP 529)", retryable=True, status=529)


def work(tools: Tools, times: int) -> None:
    """So many rounds of a worker, with every pause of a case over."""
    for _ in range(times):
        Case.objects.update(next_attempt_at=None)
        worker.drain_queue("llm", tools)


def now_due() -> None:
    """The time of the next try has come."""
    Build.objects.filter(next_probe_at__isnull=False).update(next_probe_at=timezone.now())


def waiting(tools_with: Make, *answers: Answer) -> tuple[Build, Tools, FakeLLM]:
    """A build that waits after a run of errors; `answers` are what comes next."""
    tools, llm = tools_with(*[DOWN] * RUN, *answers)
    build = factories.opened()
    while len(llm.calls) < RUN:
        work(tools, 1)
    build.refresh_from_db()
    return build, tools, llm


def pause_of(build: Build) -> timedelta:
    build.refresh_from_db()
    assert build.next_probe_at is not None
    return build.next_probe_at - timezone.now()


def test_a_run_of_errors_makes_the_build_wait_and_no_case_loses_a_try(tools_with: Make) -> None:
    build, tools, llm = waiting(tools_with, YES)
    assert (build.state, build.reason) == (Build.State.WAITING, DOWN.message)
    assert build.waiting_since is not None
    assert timedelta() < pause_of(build) <= FIRST_PAUSE
    assert {(case.stage, case.attempts, case.lease) for case in Case.objects.all()} == {
        (Stage.SCREENING, 0, None)
    }
    work(tools, 3)
    assert len(llm.calls) == RUN
    event = build.events.get(event="waits for the provider")
    assert (event.note, event.user) == (DOWN.message, None)


def test_a_reply_among_the_errors_ends_their_run(tools_with: Make) -> None:
    tools, llm = tools_with(*[DOWN] * (RUN - 1), YES, *[DOWN] * (RUN - 1), YES)
    build = factories.opened()
    while len(llm.calls) < 2 * RUN:
        work(tools, 1)
    build.refresh_from_db()
    assert build.state == Build.State.RUNNING


def test_when_the_provider_answers_the_build_goes_on_and_says_how_long_it_waited(tools_with: Make) -> None:
    build, tools, llm = waiting(tools_with, YES)
    Build.objects.update(waiting_since=timezone.now() - timedelta(minutes=12))
    now_due()
    work(tools, 1)
    assert len(llm.calls) == RUN + 1
    build.refresh_from_db()
    assert (build.state, build.reason, build.waiting_since, build.next_probe_at, build.probe_count) == (
        Build.State.RUNNING,
        "",
        None,
        None,
        0,
    )
    assert build.events.get(event="continues by itself").note == (
        "the provider answers again, after 12 minutes and 1 try"
    )
    work(tools, 2)
    assert Tally.objects.get(build=build).settled == 9


def test_pauses_grow_up_to_the_longest_and_the_last_words_are_shown(tools_with: Make) -> None:
    build, tools, llm = waiting(tools_with, *[DOWN] * 8, LLMError("gone", retryable=True))
    for number in range(1, 9):
        now_due()
        work(tools, 1)
        expected = min(FIRST_PAUSE * 2**number, LONGEST_PAUSE)
        assert expected - timedelta(seconds=5) < pause_of(build) <= expected
        assert (build.probe_count, len(llm.calls)) == (number, RUN + number)
    now_due()
    work(tools, 1)
    build.refresh_from_db()
    assert (build.state, build.reason) == (Build.State.WAITING, "gone")
    assert build.events.filter(event="waits for the provider").count() == 1


def test_the_provider_is_not_tried_before_it_asked_for_it(tools_with: Make) -> None:
    build, tools, _ = waiting(tools_with, LLMError("later", retryable=True, retry_after=900.0))
    now_due()
    work(tools, 1)
    assert timedelta(seconds=890) < pause_of(build) <= timedelta(seconds=900)


def test_one_worker_tries_with_one_case(tools_with: Make) -> None:
    build, _, _ = waiting(tools_with)
    now_due()
    Case.objects.update(next_attempt_at=None)
    [due] = circuit_breaker.find_builds_to_probe()
    assert claims.claim_probe() is not None
    assert claims.claim_probe() is None
    assert not circuit_breaker.claim_build_probe(due)
    assert Case.objects.filter(lease__isnull=False).count() == 1
    assert pause_of(build) > timedelta(minutes=9)


def test_a_case_whose_answer_is_there_already_is_no_try(tools_with: Make) -> None:
    build, tools, llm = waiting(tools_with, DOWN)
    now_due()
    Case.objects.update(next_attempt_at=None)
    case = claims.claim_probe()
    assert case is not None
    claims.release_claims([case])
    circuit_breaker.conclude_build_probe(build, Tally.objects.get(build=build).provider_errors)
    build.refresh_from_db()
    assert (build.state, build.probe_count) == (Build.State.WAITING, 0)
    assert pause_of(build) <= timedelta()
    work(tools, 1)
    assert len(llm.calls) == RUN + 1


def test_a_build_whose_cases_need_no_model_goes_on(tools_with: Make) -> None:
    build, tools, _ = waiting(tools_with)
    for case in Case.objects.all():
        Case.objects.filter(pk=case.pk).update(stage=Stage.EXECUTING)
    now_due()
    work(tools, 1)
    build.refresh_from_db()
    assert build.state == Build.State.RUNNING


def test_a_wrong_key_found_by_a_try_waits_for_a_person(tools_with: Make) -> None:
    build, tools, llm = waiting(
        tools_with, LLMError("the key was revoked", retryable=False, provider=True), YES
    )
    now_due()
    work(tools, 2)
    build.refresh_from_db()
    assert (build.state, build.reason, build.next_probe_at) == (
        Build.State.WAITING,
        "the key was revoked",
        None,
    )
    assert build.waiting_since is not None and len(llm.calls) == RUN + 1
    assert build.events.filter(event="stopped for a person").count() == 1


@pytest.mark.parametrize(
    ("action", "state"),
    [
        (Action.RESUME, Build.State.RUNNING),
        (Action.PAUSE, Build.State.PAUSED),
        (Action.CANCEL, Build.State.CANCELLED),
    ],
)
def test_a_person_decides_otherwise(action: Action, state: str, tools_with: Make) -> None:
    build, tools, llm = waiting(tools_with, YES)
    control_build(build, action, factories.ada())
    build.refresh_from_db()
    assert (build.state, build.waiting_since, build.next_probe_at) == (state, None, None)
    work(tools, 1)
    assert len(llm.calls) == (RUN if action is not Action.RESUME else RUN + 4)


def test_what_a_dead_worker_was_trying_is_tried_by_another(tools_with: Make) -> None:
    build, tools, _ = waiting(tools_with, YES)
    now_due()
    Case.objects.update(next_attempt_at=None)
    assert claims.claim_probe() is not None
    assert not circuit_breaker.find_builds_to_probe().exists()
    now_due()
    work(tools, 1)
    build.refresh_from_db()
    assert build.state == Build.State.RUNNING


def test_working_until_idle_waits_for_the_provider_but_not_for_a_person(tools_with: Make) -> None:
    waiting(tools_with)
    assert worker.has_queued_work()
    Build.objects.update(next_probe_at=None)
    assert not worker.has_queued_work()
