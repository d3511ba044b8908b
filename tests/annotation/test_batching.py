"""Batches: what is asked together is paid half, once, and comes back whatever happens on the way."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from django.db.models import Sum
from django.utils import timezone

from annotation import asking, batching, budget, claims, worker
from annotation.executing import SandboxProvider
from annotation.llm.batches import LiveBatches
from annotation.llm.live import LiveLLM
from annotation.llm.profiles import ANTHROPIC
from annotation.models import Batch, Build, Case, LLMCall, Price, ProjectTally, Tally
from annotation.pipeline import Tools
from annotation.stages import Stage
from annotation.steering import Action, control
from tests import factories
from tests.fake_batches import Lost
from tests.fake_messages import Answer, Drop, Expired, FakeMessages, Fault, Say
from tests.fakes import FakeSandbox

pytestmark = pytest.mark.django_db
MODEL = "some-model"
PLAIN = {"explanation": "plain to see", "verdict": 1}


class Killed(BaseException):
    """The process is gone."""


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[FakeMessages]:
    for name in ("QUIET", "FILLS", "FIRST_PAUSE", "SETTLES"):
        monkeypatch.setattr(batching, name, timedelta(0))
    monkeypatch.setattr("annotation.models.batches.FILLS", timedelta(0))
    Price.objects.create(
        model=MODEL, effective_from=datetime(2026, 1, 1, tzinfo=UTC), input=Decimal(1), output=Decimal(5)
    )
    with FakeMessages(answer=lambda body: PLAIN) as server:
        yield server


@pytest.fixture
def tools(fake: FakeMessages) -> Iterator[Tools]:
    llm = LiveLLM(fake.key, ANTHROPIC, base_url=fake.url)
    yield Tools(llm_of=lambda build: llm, sandbox=SandboxProvider(FakeSandbox))
    llm.close()


def batched(**columns: Any) -> Build:
    """A build of nine cases that asks by batch."""
    return factories.opened(provider=Build.Provider.LIVE, model=MODEL, batches=True, **columns)


def work(tools: Tools, turns: int = 100) -> None:
    """What workers do, until they find nothing, or for so many turns."""
    for _ in range(turns):
        claims.free_answered()
        Case.objects.filter(next_attempt_at__isnull=False).update(next_attempt_at=None)
        done = [worker.drain_cases("llm", tools), batching.tend_one(tools.llm_of)]
        if not any(done):
            return


def fill(tools: Tools) -> Batch:
    """The batch that all claimable cases have joined."""
    while worker.drain_cases("llm", tools):
        pass
    return Batch.objects.get(state=Batch.State.FILLING)


def tend(tools: Tools) -> None:
    """One look at what there is, whatever the time."""
    Batch.objects.filter(look_at__isnull=False).update(look_at=timezone.now())
    batching.tend_one(tools.llm_of)


def balanced(build: Build) -> None:
    """What is spent is what the calls cost, nothing is held, and no request has two answers."""
    tally, project = Tally.objects.get(build=build), ProjectTally.objects.now()
    costs = LLMCall.objects.aggregate(sum=Sum("cost"))["sum"]
    assert (tally.spent, tally.reserved) == (costs, 0)
    assert (project.spent, project.reserved) == (costs, 0)
    answered = LLMCall.objects.filter(status=LLMCall.Status.SUCCEEDED).values_list("digest", flat=True)
    assert len(answered) == len(set(answered))


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
    batch = Batch.objects.get()
    assert (batch.state, batch.requests, batch.answered, batch.returned) == (Batch.State.ENDED, 9, 9, 0)
    balanced(build)


def test_what_waits_holds_half_of_its_bound(tools: Tools, fake: FakeMessages) -> None:
    build = batched()
    fill(tools)
    tally = Tally.objects.get(build=build)
    bounds = [call.bound for call in LLMCall.objects.all()]
    assert (tally.reserved, tally.spent) == (sum(bounds), 0)
    live = budget.bound(LLMCall.objects.all()[0].whole_request(), Price.objects.get())
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
    monkeypatch.setattr("annotation.models.batches.MOST_REQUESTS", chance.randint(1, 9))
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
    assert not Batch.objects.filter(look_at__isnull=False).exists()
    balanced(build)


def test_a_full_batch_is_sent_while_others_still_fill(
    tools: Tools, fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.models.batches.MOST_REQUESTS", 4)
    build = batched()
    work(tools)
    assert [len(batch.requests) for batch in fake.batches.made.values()] == [4, 4, 1]
    balanced(build)


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
    fake.script(*[Expired()] * 9 * asking.BATCH_TRIES)
    work(tools)
    assert Tally.objects.get(build=build).settled == 9
    assert len(fake.batches.made) == asking.BATCH_TRIES
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


def test_another_models_reply_stops_the_build_and_leaves_the_other_results(
    tools: Tools, fake: FakeMessages
) -> None:
    fake.script(Say('{"explanation": "plain", "verdict": 1}', model="other"))
    build = batched()
    work(tools)
    build.refresh_from_db()
    assert (build.state, build.probe_at) == (Build.State.WAITING, None)
    assert "other answered" in build.reason
    control(build, Action.RESUME)
    work(tools)
    tally = Tally.objects.get(build=build)
    assert (tally.settled, tally.calls, len(fake.batches.asked)) == (9, 10, 10)
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
        Batch.objects.filter(pk=first.pk).update(look_at=timezone.now() - timedelta(hours=1))
        batching.tend_one(tools.llm_of)
    assert LLMCall.objects.filter(batch=again).exclude(status=LLMCall.Status.BATCHED).count() == 0
    work(tools)
    assert Tally.objects.get(build=build).settled == 9
    assert LLMCall.objects.filter(batch=None).count() == 0
    balanced(build)


def test_pauses_between_looks_grow_and_obey_the_provider(
    tools: Tools, fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batching, "FIRST_PAUSE", timedelta(seconds=20))
    fake.batches.looks = 50
    batched()
    fill(tools)
    tend(tools)
    pauses = []
    for _ in range(15):
        tend(tools)
        at = Batch.objects.get().look_at
        assert at is not None
        pauses.append((at - timezone.now()).total_seconds())
    assert all(first < second + 1 for first, second in pairwise(pauses))
    assert 15 < pauses[0] < 25
    assert 590 < pauses[-1] <= 600
    fake.batches.fail("get", Fault(503, headers={"retry-after": "1800"}))
    tend(tools)
    at = Batch.objects.get().look_at
    assert at is not None
    assert (at - timezone.now()).total_seconds() > 1700


def kill_between_create_and_store(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    """The provider has the batch, and the worker dies before it has its id."""
    real = LiveBatches.create

    def killed(self: Any, requests: Any) -> Any:
        real(self, requests)
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(LiveBatches, "create", killed)
        with pytest.raises(Killed):
            tend(tools)


def test_a_batch_whose_id_was_lost_with_its_worker_is_found_and_not_paid_again(
    tools: Tools, fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = batched()
    fill(tools)
    kill_between_create_and_store(tools, monkeypatch)
    batch = Batch.objects.get()
    assert (batch.state, batch.provider_id) == (Batch.State.SENDING, "")
    claims.free_all()  # the next one works alone
    assert not batching.tend_one(tools.llm_of)  # it may still be on its way
    tend(tools)
    work(tools)
    assert (len(fake.batches.made), Tally.objects.get(build=build).settled) == (1, 9)
    assert build.events.filter(event="found a batch").exists()
    balanced(build)


def test_a_batch_that_never_arrived_is_sent_anew(
    tools: Tools, fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: Any) -> Any:
        raise Killed

    build = batched()
    fill(tools)
    with monkeypatch.context() as patched:
        patched.setattr(LiveBatches, "create", killed)
        with pytest.raises(Killed):
            tend(tools)
    tend(tools)
    work(tools)
    assert (len(fake.batches.made), Tally.objects.get(build=build).settled) == (1, 9)
    assert build.events.filter(event="sends a batch anew").exists()
    balanced(build)


def test_a_connection_that_breaks_while_a_batch_is_handed_in_pays_nothing_twice(
    tools: Tools, fake: FakeMessages
) -> None:
    fake.batches.fail("create", Lost(Drop()))
    build = batched()
    work(tools)
    assert (len(fake.batches.made), Tally.objects.get(build=build).settled) == (1, 9)
    balanced(build)


def test_somebody_elses_batch_that_was_taken_for_ours_is_told_by_its_results(
    tools: Tools, fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = batched()
    fill(tools)
    kill_between_create_and_store(tools, monkeypatch)
    ours, now = next(iter(fake.batches.made.values())), timezone.now()
    theirs = fake.batches._create(
        {"requests": [{**one, "custom_id": f"theirs-{n}"} for n, one in enumerate(ours.requests)]}
    )
    sent = Batch.objects.get().sent_at
    assert sent is not None
    theirs.created_at, ours.created_at = sent, now + timedelta(seconds=30)
    for _ in range(20):
        tend(tools)
    work(tools)
    assert (len(fake.batches.made), Tally.objects.get(build=build).settled) == (2, 9)
    assert Batch.objects.get().refuted == [theirs.id]
    balanced(build)


def test_two_batches_of_one_size_that_were_lost_together_are_told_apart_by_their_results(
    tools: Tools, fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    Price.objects.create(
        model="other-model",
        effective_from=datetime(2026, 1, 1, tzinfo=UTC),
        input=Decimal(1),
        output=Decimal(5),
    )
    other = factories.opened("second", provider=Build.Provider.LIVE, model="other-model", batches=True)
    builds = [batched(), other]
    while worker.drain_cases("llm", tools):
        pass
    for _ in builds:
        Batch.objects.filter(state=Batch.State.SENDING).update(look_at=None)
        kill_between_create_and_store(tools, monkeypatch)
    Batch.objects.update(look_at=timezone.now())
    first, second = fake.batches.made.values()
    sent = timezone.now()
    Batch.objects.update(sent_at=sent)
    first.created_at, second.created_at = sent + timedelta(seconds=9), sent
    for _ in range(30):
        tend(tools)
    work(tools)
    assert len(fake.batches.made) == 2, "neither was sent again"
    assert [Tally.objects.get(build=build).settled for build in builds] == [9, 9]
    kept = dict(Batch.objects.values_list("build", "provider_id"))
    assert [kept[build.pk] for build in builds] == list(fake.batches.made)
    assert builds[0].events.filter(event="found a batch").count() > 0
    assert LLMCall.objects.count() == 18


def test_a_way_of_asking_that_entries_complain_of_is_not_used_again(tools: Tools, fake: FakeMessages) -> None:
    fake.supports = frozenset({"forced_tool"})
    build = batched()
    work(tools)
    assert Tally.objects.get(build=build).settled == 9
    first, second = fake.batches.made.values()
    assert "output_config" in first.requests[0]["params"]
    assert "tool_choice" in second.requests[0]["params"]
    assert not [call for call in fake.calls if call.path == "/v1/messages"]
    assert Batch.objects.order_by("pk")[0].refused_way == "json_schema"
    balanced(build)


def test_the_way_is_known_to_another_worker_too(tools: Tools, fake: FakeMessages) -> None:
    build = batched()
    Batch.objects.create(
        build=build,
        stage=Stage.SCREENING,
        state=Batch.State.ENDED,
        has_room=False,
        joined_at=timezone.now(),
        refused_way="json_schema",
    )
    work(tools)
    [made] = fake.batches.made.values()
    assert "tool_choice" in made.requests[0]["params"]


def test_a_provider_that_is_busy_is_handed_the_batch_later_and_alarms_nobody(
    tools: Tools, fake: FakeMessages
) -> None:
    fake.batches.fail("create", Fault(529), Fault(429), Fault(500))
    build = batched()
    work(tools)
    assert (len(fake.batches.made), Tally.objects.get(build=build).settled) == (1, 9)
    assert not build.events.exclude(event="launched").exists()
    balanced(build)


def test_a_wrong_key_stops_the_build_and_the_batch_goes_out_when_it_is_resumed(
    tools: Tools, fake: FakeMessages
) -> None:
    key, fake.key = fake.key, "another"
    build = batched()
    work(tools)
    build.refresh_from_db()
    assert (build.state, build.probe_at) == (Build.State.WAITING, None)
    assert "key" in build.reason
    fake.key = key
    control(build, Action.RESUME)
    work(tools)
    assert (len(fake.batches.made), Tally.objects.get(build=build).settled) == (1, 9)
    balanced(build)


def test_a_batch_that_the_provider_refuses_is_asked_live_in_the_end(tools: Tools, fake: FakeMessages) -> None:
    fake.batches.fail("create", *[Fault(400)] * asking.BATCH_TRIES)
    build = batched()
    work(tools)
    assert (len(fake.batches.made), Tally.objects.get(build=build).settled) == (0, 9)
    balanced(build)


def test_a_paused_build_takes_what_it_has_paid_for_and_sends_nothing(
    tools: Tools, fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.models.batches.MOST_REQUESTS", 4)
    fake.batches.looks = 3
    build = batched()
    for _ in range(2):
        worker.drain_cases("llm", tools)
    tend(tools)
    assert len(fake.batches.made) == 1
    worker.drain_cases("llm", tools)
    control(build, Action.PAUSE)
    for _ in range(20):
        tend(tools)
    tally = Tally.objects.get(build=build)
    assert (len(fake.batches.made), tally.calls, tally.settled, tally.reserved) == (1, 4, 0, 0)
    control(build, Action.RESUME)
    work(tools)
    assert Tally.objects.get(build=build).settled == 9
    assert len(fake.batches.asked) == 9
    balanced(build)


def test_cancelling_stops_the_batch_at_the_provider_and_books_what_was_done(
    tools: Tools, fake: FakeMessages
) -> None:
    fake.batches.looks = 50
    build = batched()
    fill(tools)
    tend(tools)
    control(build, Action.CANCEL)
    for _ in range(5):
        tend(tools)
    [made] = fake.batches.made.values()
    assert made.cancelled
    assert not Batch.objects.unfinished().exists()
    tally = Tally.objects.get(build=build)
    assert (tally.spent, tally.reserved, tally.settled) == (0, 0, 0)
    balanced(build)


def test_a_batch_that_is_gone_for_good_counts_at_its_bounds_and_is_asked_anew(
    tools: Tools, fake: FakeMessages
) -> None:
    build = batched()
    fill(tools)
    tend(tools)
    fake.batches.made.clear()
    tend(tools)
    assert Batch.objects.get().state == Batch.State.OPEN
    Batch.objects.update(sent_at=timezone.now() - batching.GONE - timedelta(minutes=1))
    tend(tools)
    lost = LLMCall.objects.filter(status=LLMCall.Status.UNKNOWN)
    assert (lost.count(), Tally.objects.get(build=build).spent) == (9, sum(call.bound for call in lost))
    work(tools)
    assert Tally.objects.get(build=build).settled == 9
    balanced(build)


def test_no_more_is_asked_than_the_cap_allows(tools: Tools, fake: FakeMessages) -> None:
    probe = factories.opened("probe", provider=Build.Provider.LIVE, model=MODEL, batches=True)
    one = fill(tools).calls.order_by("-bound")[0].bound
    control(probe, Action.CANCEL)
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


def test_a_fault_of_the_workbench_is_told_and_tried_again(
    tools: Tools, fake: FakeMessages, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("a bug")

    build = batched()
    fill(tools)
    with monkeypatch.context() as patched:
        patched.setattr(batching, "requests_of", broken)
        tend(tools)
    assert "a bug" in Batch.objects.get().error
    work(tools)
    assert Tally.objects.get(build=build).settled == 9


def test_nobody_is_told_that_a_build_in_a_batch_has_no_worker(
    tools: Tools, fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    from annotation import notifying

    monkeypatch.setattr(batching, "FIRST_PAUSE", timedelta(minutes=1))
    build = batched()
    fill(tools)
    tend(tools)
    assert notifying.wanting("llm", timezone.now()) is None
    assert notifying.wanting("llm", timezone.now() + timedelta(minutes=2)) == build
    assert worker.busy()


def test_a_writers_request_goes_by_batch_and_an_arbiters_live(tools: Tools, fake: FakeMessages) -> None:
    fake.answer = canned
    build = batched(k=1)
    work(tools)
    assert [len(batch.requests) for batch in fake.batches.made.values()] == [3, 3]
    assert set(Batch.objects.values_list("stage", flat=True)) == {Stage.SCREENING, Stage.WRITING_TEST}
    tally = Tally.objects.get(build=build)
    assert (tally.executing, tally.calls) == (3, 6)
    while worker.drain("sandbox", tools):
        pass
    work(tools)
    assert len([call for call in fake.calls if call.path == "/v1/messages"]) == 3
    balanced(build)


def canned(body: dict[str, Any]) -> dict[str, Any]:
    wanted = str(body.get("output_config", body))
    if "program" in wanted:
        return {"reading": "reverses", "helpers": [], "program": factories.PROGRAM}
    return {"explanation": "only a run can tell", "verdict": 0.5 if "0.5" in wanted else 1}
