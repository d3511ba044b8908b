"""What a person asks of a candidate: refused or waiting, answered by a worker, kept as evidence."""

from __future__ import annotations

from collections import deque

import pytest
from django.contrib.auth.models import User
from django.db import connection

from annotation.accounts.roles import Role
from annotation.builds.pipeline import claims
from annotation.builds.pipeline.advance import Tools
from annotation.builds.pipeline.execution import SandboxProvider, fulfil_one
from annotation.jobs import worker
from annotation.models import Build, CallAnswer, CallRequest, Case, Draft
from annotation.review import drafts
from annotation.review.own_runs import calls, own_tests
from annotation.review.own_runs.own_tests import TooManyWaiting
from sandbox.expression_call import CALL_LIMITS, Answer, BadExpression, CallOutcome
from sandbox.program import Limits
from sandbox.runner import SandboxUnavailable
from tests import factories
from tests.fakes import FakeLLM, FakeSandbox, returned

pytestmark = pytest.mark.django_db


@pytest.fixture
def erin() -> User:
    return factories.erin()


@pytest.fixture
def case() -> Case:
    return factories.examined(factories.cases(factories.opened())[0], 1)


def work(*answers: Answer | Exception) -> FakeSandbox:
    """Let a worker do one piece of work."""
    box = FakeSandbox()
    box.answers = deque(answers or box.answers)
    assert fulfil_one(SandboxProvider(open=lambda: box), Limits())
    return box


def test_a_worker_asks_the_candidate_and_keeps_what_it_gave(erin: User, case: Case) -> None:
    asked = calls.request_candidate_call(erin, case, "  reverse([1, 2])\n")
    box = work(returned("[2, 1]", "list", candidate_hash="c" * 64))
    asked.refresh_from_db()

    assert (box.calls[0].candidate, box.calls[0].expression) == (case.pair.snippet.text, "reverse([1, 2])")
    assert (asked.state, asked.user, asked.expression) == ("done", erin, "reverse([1, 2])")
    kept = CallAnswer.objects.get()
    assert asked.answer == kept and kept.created_at > asked.created_at
    assert (kept.image, kept.backend, kept.limits) == ("fake", "fake", CALL_LIMITS.digest())
    assert (kept.candidate_hash, kept.outcome) == ("c" * 64, "returned")
    assert kept.whole() == returned("[2, 1]", "list", candidate_hash="c" * 64)


def test_the_same_question_asked_again_is_evidence_of_its_own(erin: User, case: Case) -> None:
    for _ in range(2):
        calls.request_candidate_call(erin, case, "reverse([])")
        work()

    assert CallAnswer.objects.count() == 2


def test_what_the_case_needs_is_installed_for_its_calls(erin: User, case: Case) -> None:
    case.dependencies = ["attrs"]
    calls.request_candidate_call(erin, case, "1")

    assert work().calls[0].dependencies == ("attrs",)


@pytest.mark.parametrize("expression", ["", "x = 1", "reverse("])
def test_what_has_no_value_is_refused_and_the_draft_stays(erin: User, case: Case, expression: str) -> None:
    drafts.save_draft(erin, case.pair_id, Draft.Field.CALL, "reverse(")
    with pytest.raises(BadExpression):
        calls.request_candidate_call(erin, case, expression)

    assert not CallRequest.objects.exists()
    assert drafts.load_drafts(erin, case.pair_id)


def test_the_draft_lasts_until_the_call_is_asked_for(erin: User, case: Case) -> None:
    drafts.save_draft(erin, case.pair_id, Draft.Field.CALL, "reverse([])")
    calls.request_candidate_call(erin, case, "reverse([])")

    assert drafts.load_drafts(erin, case.pair_id) == {}


def test_asking_twice_while_one_waits_asks_once(erin: User, case: Case) -> None:
    assert calls.request_candidate_call(erin, case, "reverse([])") == calls.request_candidate_call(
        erin, case, " reverse([])"
    )


def test_nobody_fills_the_queue(erin: User, case: Case) -> None:
    for number in range(own_tests.MOST_WAITING):
        calls.request_candidate_call(erin, case, f"reverse([{number}])")
    with pytest.raises(TooManyWaiting, match="of your calls are waiting"):
        calls.request_candidate_call(erin, case, "reverse([9])")

    assert calls.request_candidate_call(factories.person("eve", Role.EXPERT), case, "reverse([9])")


def test_a_call_goes_before_a_run(erin: User, case: Case) -> None:
    run = own_tests.run_own_test(erin, case, "assert 1", None)
    call = calls.request_candidate_call(erin, case, "reverse([])")
    work()
    run.refresh_from_db()
    call.refresh_from_db()

    assert (run.state, call.state) == ("waiting", "done")


@pytest.mark.parametrize("why", [SandboxUnavailable("Install bubblewrap."), RuntimeError("Install it.")])
def test_a_sandbox_that_is_not_there_is_no_answer(erin: User, case: Case, why: Exception) -> None:
    asked = calls.request_candidate_call(erin, case, "reverse([])")
    work(why)
    asked.refresh_from_db()

    assert (asked.state, asked.answer) == ("failed", None)
    assert "Install" in asked.message
    assert not CallAnswer.objects.exists()


def test_an_answer_that_says_unavailable_is_no_evidence(erin: User, case: Case) -> None:
    asked = calls.request_candidate_call(erin, case, "reverse([])")
    work(Answer(CallOutcome.UNAVAILABLE, detail="the engine is gone"))
    asked.refresh_from_db()

    assert (asked.state, asked.message) == ("failed", "the engine is gone")
    assert not CallAnswer.objects.exists()


def test_waiting_ends_with_the_answer_or_the_patience(erin: User, case: Case) -> None:
    asked = calls.request_candidate_call(erin, case, "reverse([])")
    calls.wait_for_call(asked, 0)
    assert asked.is_open

    work()
    calls.wait_for_call(asked, 60)
    assert asked.answer is not None


def test_ones_own_calls_are_listed_newest_first(erin: User, case: Case) -> None:
    first, second = (
        calls.request_candidate_call(erin, case, text) for text in ("reverse([])", "reverse([1])")
    )
    calls.request_candidate_call(factories.person("eve", Role.EXPERT), case, "1")

    assert list(calls.candidate_calls_of_user(erin, case.pair_id)) == [second, first]


def test_what_people_wait_for_never_uses_the_sandbox_of_builds(erin: User, case: Case) -> None:
    people, builds = FakeSandbox(), FakeSandbox()
    tools = Tools(
        llm_of=lambda build: FakeLLM(),
        sandbox=SandboxProvider(lambda: builds),
        reserved=SandboxProvider(lambda: people),
    )
    calls.request_candidate_call(erin, case, "reverse([])")
    own_tests.run_own_test(erin, case, "assert 1", None)
    while worker.drain_queue("interactive", tools):
        pass

    assert (len(people.calls), len(people.runs)) == (1, 1)
    assert (builds.calls, builds.runs) == ([], [])
    tools.close()
    assert people.closed


def test_a_call_that_waits_is_work(erin: User, case: Case) -> None:
    Build.objects.update(state=Build.State.CANCELLED)
    assert not worker.has_queued_work()
    calls.request_candidate_call(erin, case, "reverse([])")
    assert worker.has_queued_work()
    work()
    assert not worker.has_queued_work()


def test_a_call_whose_worker_died_is_asked_again(erin: User, case: Case) -> None:
    calls.request_candidate_call(erin, case, "reverse([])")
    assert claims.claim_call() is not None and claims.claim_call() is None
    claims.free_all()
    assert claims.claim_call() is not None


@pytest.mark.django_db(transaction=True)
def test_who_waits_for_a_value_holds_no_connection_of_the_pool(
    monkeypatch: pytest.MonkeyPatch, erin: User, case: Case
) -> None:
    held: list[bool] = []
    monkeypatch.setattr("time.sleep", lambda seconds: held.append(connection.connection is not None))
    calls.wait_for_call(calls.request_candidate_call(erin, case, "reverse([])"), 0.5)

    assert held and set(held) == {connection.vendor == "sqlite"}
