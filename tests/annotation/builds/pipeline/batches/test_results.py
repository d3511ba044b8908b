"""Results: in any order, twice, broken off, or without a reply; each counts once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation.builds.control.pause_resume import Action, control_build
from annotation.builds.pipeline import batches, llm_calls
from annotation.builds.pipeline.advance import Tools
from annotation.builds.pipeline.execution import SandboxProvider
from annotation.jobs import worker
from annotation.llm.live import LiveLLM
from annotation.llm.profiles import ANTHROPIC
from annotation.models import Batch, Build, Case, LLMCall, Tally
from tests.annotation.builds.pipeline.batches.by_batch import balanced, batched, fill, tend, work
from tests.fake_messages import Answer, Drop, Expired, FakeMessages, Fault, Say
from tests.fakes import FakeSandbox

pytestmark = pytest.mark.django_db


def test_results_that_come_twice_or_are_of_nobody_change_nothing(tools: Tools, fake: FakeMessages) -> None:
    fake.batches.twice, fake.batches.strangers = 5, 2
    build = batched()
    work(tools)
    tally = Tally.objects.get(build=build)
    assert (tally.settled, tally.calls) == (9, 9)
    assert "2 results" in build.events.get(event="ignored results").note
    balanced(build)


@pytest.mark.parametrize("answer", [Fault(500), Expired()])
def test_what_comes_back_without_a_reply_is_asked_by_another_batch(
    answer: Answer, tools: Tools, fake: FakeMessages
) -> None:
    fake.script(answer, answer)
    build = batched()
    work(tools)
    tally = Tally.objects.get(build=build)
    assert (tally.settled, tally.abandoned) == (9, 0)
    assert [len(batch.requests) for batch in fake.batches.made.values()] == [9, 2]
    assert Batch.objects.order_by("pk")[0].returned == 2
    assert tally.provider_errors == 0
    balanced(build)


def test_what_comes_back_again_and_again_is_asked_live(tools: Tools, fake: FakeMessages) -> None:
    build = batched()
    fake.script(*[Expired()] * 9 * llm_calls.BATCH_TRIES)
    work(tools)
    assert Tally.objects.get(build=build).settled == 9
    assert len(fake.batches.made) == llm_calls.BATCH_TRIES
    assert len([call for call in fake.calls if call.path == "/v1/messages"]) == 9
    balanced(build)


def test_a_malformed_reply_is_repaired_live(tools: Tools, fake: FakeMessages) -> None:
    fake.script(Say("Well, that depends. {"))
    build = batched()
    work(tools)
    assert Tally.objects.get(build=build).settled == 9
    [repair] = [call for call in fake.calls if call.path == "/v1/messages"]
    assert len(repair.body["messages"]) == 3
    [live] = LLMCall.objects.filter(batch=None)
    assert live.status == LLMCall.Status.SUCCEEDED
    balanced(build)


def test_a_reply_that_declines_is_abandoned_as_a_live_one_is(tools: Tools, fake: FakeMessages) -> None:
    fake.script(Say(stop_reason="refusal"))
    build = batched()
    work(tools)
    tally = Tally.objects.get(build=build)
    assert (tally.settled, tally.abandoned) == (8, 1)
    assert not [call for call in fake.calls if call.path == "/v1/messages"]
    balanced(build)


OTHER = Say('{"explanation": "plain", "verdict": 1}', model="other")


@pytest.mark.parametrize("wrong", [1, 4, 9])
@pytest.mark.parametrize("cuts", [0, 1])
def test_replies_of_a_model_that_nobody_asked_for_stop_the_build_once_and_are_paid_once(
    wrong: int, cuts: int, tools: Tools, fake: FakeMessages
) -> None:
    fake.script(*[OTHER] * wrong)
    fake.batches.cuts = cuts
    build = batched()
    work(tools)
    build.refresh_from_db()
    assert (build.state, build.next_probe_at) == (Build.State.WAITING, None)
    assert "of the 9 replies of batch msgbatch" in build.reason
    assert "asked for the model some-model, other answered" in build.reason
    for _ in range(1 + cuts):  # what broke off is read later, and may tell of more
        if Build.objects.get().state == Build.State.WAITING:
            control_build(build, Action.RESUME)
        work(tools)
    tally = Tally.objects.get(build=build)
    assert (tally.settled, tally.calls, len(fake.batches.asked)) == (9, 9 + wrong, 9 + wrong)
    assert LLMCall.objects.filter(status=LLMCall.Status.FAILED, cost__gt=0).count() == wrong
    stops = build.events.filter(event="stopped for a person").count()
    assert 1 <= stops <= 1 + cuts
    balanced(build)


def test_a_model_that_has_changed_behind_its_name_stops_the_build_and_leaves_the_other_results(
    fake: FakeMessages,
) -> None:
    llm = LiveLLM(fake.key, replace(ANTHROPIC, same_model=False), base_url=fake.url)
    tools = Tools(llm_of=lambda build: llm, sandbox=SandboxProvider(FakeSandbox))
    fake.script(*[replace(OTHER, model="one")] * 2, *[OTHER] * 7)
    build = batched()
    for _ in range(3):  # at most once for each name, whichever comes first
        work(tools)
        build.refresh_from_db()
        if build.state == Build.State.WAITING:
            assert "answered, and until now it was" in build.reason
            control_build(build, Action.RESUME)
    llm.close()
    tally = Tally.objects.get(build=build)
    assert tally.settled == 9
    assert 9 < tally.calls <= 11
    balanced(build)


@pytest.mark.parametrize("fault", [Fault(404), Fault(529), Fault(429), Drop()])
def test_polling_goes_on_after_a_fault(fault: Answer, tools: Tools, fake: FakeMessages) -> None:
    fake.batches.fail("get", fault, fault)
    build = batched()
    work(tools)
    tally = Tally.objects.get(build=build)
    assert (tally.settled, tally.calls, len(fake.batches.made)) == (9, 9, 1)
    assert not build.events.exclude(event="launched").exists()
    balanced(build)


def test_results_that_break_off_are_kept_and_the_others_fetched_again(
    tools: Tools, fake: FakeMessages
) -> None:
    fake.batches.cuts = 2
    build = batched()
    fill(tools)
    for _ in range(3):  # sent, still in work, ended and broken off
        tend(tools)
    batch = Batch.objects.get()
    assert 0 < batch.answered < 9
    assert "not whole" in batch.error
    work(tools)
    tally = Tally.objects.get(build=build)
    assert (tally.settled, tally.calls, len(fake.batches.made)) == (9, 9, 1)
    balanced(build)


def test_results_that_come_again_are_not_taken_for_a_later_try(tools: Tools, fake: FakeMessages) -> None:
    fake.script(*[Fault(500)] * 9)
    fake.batches.cuts = 1
    build = batched()
    fill(tools)
    for _ in range(3):  # sent, still in work, ended and broken off
        tend(tools)
    again = fill(tools)
    first = Batch.objects.get(state=Batch.State.OPEN)
    for _ in range(2):  # the rest of the first one, and the results that came before
        Batch.objects.filter(pk=first.pk).update(next_poll_at=timezone.now() - timedelta(hours=1))
        batches.tend_one(tools.llm_of)
    assert LLMCall.objects.filter(batch=again).exclude(status=LLMCall.Status.BATCHED).count() == 0
    work(tools)
    assert Tally.objects.get(build=build).settled == 9
    assert LLMCall.objects.filter(batch=None).count() == 0
    balanced(build)


def test_a_reply_that_came_while_its_case_was_parked_frees_it(
    tools: Tools, fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = batched()
    fill(tools)
    call = LLMCall.objects.all()[0]
    Case.objects.filter(waiting_for=call).update(waiting_for=None)
    real = Case.put_back

    def slow(self: Case, **how: Any) -> None:
        for _ in range(4):
            tend(tools)
        real(self, **how)

    with monkeypatch.context() as patched:
        patched.setattr(Case, "put_back", slow)
        worker.drain_cases("llm", tools)
    work(tools)
    assert Tally.objects.get(build=build).settled == 9
