"""What goes out by batch, at which price, and what is asked live in the end."""

from __future__ import annotations

import random

import pytest
from django.utils import timezone

from annotation.builds.control.pause_resume import Action, control_build
from annotation.builds.limits import budget
from annotation.builds.pipeline import llm_calls
from annotation.builds.pipeline.advance import Tools
from annotation.jobs import worker
from annotation.models import Batch, Build, Case, LLMCall, Price, Tally
from annotation.stages import Stage
from tests import factories
from tests.annotation.builds.pipeline.batches.by_batch import (
    MODEL,
    PLAIN,
    balanced,
    batched,
    canned,
    fill,
    tend,
    work,
)
from tests.fake_batches import Lost
from tests.fake_messages import Answer, Drop, Expired, FakeMessages, Fault, Say

pytestmark = pytest.mark.django_db


def test_all_cases_of_a_stage_are_asked_in_one_batch_at_half_the_price(
    tools: Tools, fake: FakeMessages
) -> None:
    build = batched()
    work(tools)
    tally = Tally.objects.get(build=build)
    assert (tally.settled, tally.calls, len(fake.batches.made)) == (9, 9, 1)
    assert not [call for call in fake.calls if call.path == "/v1/messages"]
    call = LLMCall.objects.select_related("price").first()
    assert call is not None and call.price is not None
    tokens = call.input_tokens, call.output_tokens, call.cache_read_tokens, call.cache_write_tokens
    assert call.cost == -(-call.price.cost(*tokens) // 2) > 0
    assert build.tally.reused == 0, "what its own batch answered"
    batch = Batch.objects.get()
    assert (batch.state, batch.requests, batch.answered, batch.returned) == (Batch.State.ENDED, 9, 9, 0)
    balanced(build)


def test_what_waits_holds_half_of_its_bound(tools: Tools, fake: FakeMessages) -> None:
    build = batched()
    fill(tools)
    tally = Tally.objects.get(build=build)
    bounds = [call.bound for call in LLMCall.objects.all()]
    assert (tally.reserved, tally.spent) == (sum(bounds), 0)
    live = budget.compute_request_cost_bound(LLMCall.objects.all()[0].whole_request(), Price.objects.get())
    assert bounds[0] == -(-live // 2)
    assert not fake.calls


def test_the_requests_are_those_of_a_live_build(tools: Tools, fake: FakeMessages) -> None:
    batched()
    work(tools)
    digests = set(LLMCall.objects.values_list("digest", flat=True))
    assert set(fake.batches.asked) == digests
    live = factories.opened("live", provider=Build.Provider.LIVE, model=MODEL)
    work(tools)
    tally = Tally.objects.get(build=live)
    assert (tally.settled, tally.calls, tally.reused) == (9, 0, 9)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_nothing_is_paid_twice_and_the_books_balance(
    seed: int, tools: Tools, fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    monkeypatch.setattr("annotation.models.builds.batches.MOST_REQUESTS", chance.randint(1, 9))
    away: list[Answer] = [Fault(404), Fault(529), Drop()]
    faults: list[Answer] = [Fault(500), Expired(), Say("no JSON"), Say(stop_reason="refusal")]
    fake.answer = lambda body: PLAIN if chance.random() < 0.6 else chance.choice(faults)
    fake.batches.twice, fake.batches.strangers = chance.randint(0, 3), chance.randint(0, 2)
    fake.batches.cuts, fake.batches.looks = chance.randint(0, 3), chance.randint(0, 2)
    for _ in range(6):
        gone = chance.choice(away)
        fake.batches.fail(chance.choice(["get", "results"]), gone)
        sent: Answer | Lost = Lost(Drop()) if chance.random() < 0.5 else Fault(503)
        fake.batches.fail("create", sent)
    build = batched()
    work(tools, 400)
    tally = Tally.objects.get(build=build)
    assert tally.settled + tally.abandoned == 9
    assert not Batch.objects.filter(next_poll_at__isnull=False).exists()
    balanced(build)


def test_a_full_batch_is_sent_while_others_still_fill(
    tools: Tools, fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.models.builds.batches.MOST_REQUESTS", 4)
    build = batched()
    work(tools)
    assert [len(batch.requests) for batch in fake.batches.made.values()] == [4, 4, 1]
    balanced(build)


def test_no_more_is_asked_than_the_cap_allows(tools: Tools, fake: FakeMessages) -> None:
    probe = factories.opened("probe", provider=Build.Provider.LIVE, model=MODEL, batches=True)
    one = fill(tools).calls.order_by("-bound")[0].bound
    control_build(probe, Action.CANCEL)
    tend(tools)
    build = batched(cap=3 * one)
    for _ in range(12):
        while worker.drain_cases("llm", tools):
            pass
        tend(tools)
        tally = Tally.objects.get(build=build)
        assert tally.spent + tally.reserved <= 3 * one
        Case.objects.update(next_attempt_at=None)
    assert len(fake.batches.made) > 1


def test_another_build_waits_for_the_batch_that_asks_the_same(tools: Tools, fake: FakeMessages) -> None:
    fake.batches.looks = 2
    batched()
    fill(tools)
    live = factories.opened("live", provider=Build.Provider.LIVE, model=MODEL)
    worker.drain_cases("llm", tools)
    assert Case.objects.filter(build=live, waiting_for__isnull=False).exists()
    work(tools)
    tally = Tally.objects.get(build=live)
    assert (tally.settled, tally.calls, len(fake.batches.asked)) == (9, 0, 9)


def test_a_writers_request_goes_by_batch_and_an_arbiters_live(tools: Tools, fake: FakeMessages) -> None:
    fake.answer = canned
    build = batched(k=1)
    work(tools)
    assert [len(batch.requests) for batch in fake.batches.made.values()] == [3, 3]
    assert set(Batch.objects.values_list("stage", flat=True)) == {Stage.SCREENING, Stage.WRITING_TEST}
    tally = Tally.objects.get(build=build)
    assert (tally.executing, tally.calls) == (3, 6)
    while worker.drain_queue("sandbox", tools):
        pass
    work(tools)
    assert len([call for call in fake.calls if call.path == "/v1/messages"]) == 3
    balanced(build)


def test_a_batch_that_the_provider_refuses_is_asked_live_in_the_end(tools: Tools, fake: FakeMessages) -> None:
    fake.batches.fail("create", *[Fault(400)] * llm_calls.BATCH_TRIES)
    build = batched()
    work(tools)
    assert (len(fake.batches.made), Tally.objects.get(build=build).settled) == (0, 9)
    balanced(build)


def test_a_way_of_asking_that_entries_complain_of_is_not_used_again(tools: Tools, fake: FakeMessages) -> None:
    fake.supports = frozenset({"forced_tool"})
    build = batched()
    work(tools)
    assert Tally.objects.get(build=build).settled == 9
    first, second = fake.batches.made.values()
    assert "output_config" in first.requests[0]["params"]
    assert "tool_choice" in second.requests[0]["params"]
    assert not [call for call in fake.calls if call.path == "/v1/messages"]
    assert Batch.objects.order_by("pk")[0].refused_output_mode == "json_schema"
    balanced(build)


def test_the_way_is_known_to_another_worker_too(tools: Tools, fake: FakeMessages) -> None:
    build = batched()
    Batch.objects.create(
        build=build,
        stage=Stage.SCREENING,
        state=Batch.State.ENDED,
        has_room=False,
        joined_at=timezone.now(),
        refused_output_mode="json_schema",
    )
    work(tools)
    [made] = fake.batches.made.values()
    assert "tool_choice" in made.requests[0]["params"]
