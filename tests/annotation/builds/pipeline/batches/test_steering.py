"""What stops and starts a build by batch: people, a busy provider, a wrong key, a fault of ours."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.utils import timezone

from annotation.builds.control.pause_resume import Action, control_build
from annotation.builds.limits import circuit_breaker
from annotation.builds.pipeline import batches
from annotation.builds.pipeline.advance import Tools
from annotation.jobs import worker
from annotation.models import Batch, Build, Tally
from tests.annotation.builds.pipeline.batches.by_batch import balanced, batched, fill, tend, work
from tests.fake_messages import Answer, Drop, FakeMessages, Fault

pytestmark = pytest.mark.django_db


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
    assert (build.state, build.next_probe_at) == (Build.State.WAITING, None)
    assert "key" in build.reason
    fake.key = key
    control_build(build, Action.RESUME)
    work(tools)
    assert (len(fake.batches.made), Tally.objects.get(build=build).settled) == (1, 9)
    balanced(build)


def test_a_paused_build_takes_what_it_has_paid_for_and_sends_nothing(
    tools: Tools, fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotation.models.builds.batches.MOST_REQUESTS", 4)
    fake.batches.looks = 3
    build = batched()
    for _ in range(2):
        worker.drain_cases("llm", tools)
    tend(tools)
    assert len(fake.batches.made) == 1
    worker.drain_cases("llm", tools)
    control_build(build, Action.PAUSE)
    for _ in range(20):
        tend(tools)
    tally = Tally.objects.get(build=build)
    assert (len(fake.batches.made), tally.calls, tally.settled, tally.reserved) == (1, 4, 0, 0)
    control_build(build, Action.RESUME)
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
    control_build(build, Action.CANCEL)
    for _ in range(5):
        tend(tools)
    [made] = fake.batches.made.values()
    assert made.cancelled
    assert not Batch.objects.unfinished().exists()
    tally = Tally.objects.get(build=build)
    assert (tally.spent, tally.reserved, tally.settled) == (0, 0, 0)
    balanced(build)


def test_a_fault_of_the_workbench_is_told_and_tried_again(
    tools: Tools, fake: FakeMessages, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("a bug")

    build = batched()
    fill(tools)
    with monkeypatch.context() as patched:
        patched.setattr(batches, "requests_of", broken)
        tend(tools)
    assert "a bug" in Batch.objects.get().error
    work(tools)
    assert Tally.objects.get(build=build).settled == 9


def test_nobody_is_told_that_a_build_in_a_batch_has_no_worker(
    tools: Tools, fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    from annotation.jobs import notifications

    monkeypatch.setattr(batches, "FIRST_PAUSE", timedelta(minutes=1))
    build = batched()
    fill(tools)
    tend(tools)
    assert notifications.find_build_lacking_worker("llm", timezone.now()) is None
    assert notifications.find_build_lacking_worker("llm", timezone.now() + timedelta(minutes=2)) == build
    assert worker.has_queued_work()


def test_pauses_between_looks_grow_and_obey_the_provider(
    tools: Tools, fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "FIRST_PAUSE", timedelta(seconds=20))
    fake.batches.looks = 50
    batched()
    fill(tools)
    tend(tools)
    pauses = []
    for _ in range(15):
        tend(tools)
        at = Batch.objects.get().next_poll_at
        assert at is not None
        pauses.append((at - timezone.now()).total_seconds())
    assert all(first < second + 1 for first, second in pairwise(pauses))
    assert 15 < pauses[0] < 25
    assert 590 < pauses[-1] <= 600
    fake.batches.fail("get", Fault(503, headers={"retry-after": "1800"}))
    tend(tools)
    at = Batch.objects.get().next_poll_at
    assert at is not None
    assert (at - timezone.now()).total_seconds() > 1700


DOWN = (Fault(529), Fault(500), Drop())


@pytest.mark.parametrize("what", ["create", "get", "results"])
@pytest.mark.parametrize("fault", DOWN)
def test_a_long_outage_shows_as_waiting_abandons_nothing_and_the_build_goes_on(
    what: str, fault: Answer, tools: Tools, fake: FakeMessages
) -> None:
    fake.batches.fail(what, *[fault] * (circuit_breaker.RUN_OF_BATCHES + 3))
    fake.batches.fail("list", *[fault] * 3)
    build, seen = batched(), set[str]()
    for _ in range(60):
        work(tools, 1)
        wait_over()
        build.refresh_from_db()
        seen.add(build.state)
        if build.state == Build.State.WAITING:
            assert build.next_probe_at is not None and build.waiting_since is not None and build.reason
            assert not circuit_breaker.find_builds_to_probe().exists(), (
                "the batch is what the provider is tried with"
            )
            assert worker.has_queued_work()
    tally = Tally.objects.get(build=build)
    assert seen == {Build.State.RUNNING, Build.State.WAITING}
    assert (build.state, tally.settled, tally.abandoned, tally.provider_errors) == ("running", 9, 0, 0)
    told = list(build.events.order_by("pk").values_list("event", flat=True))
    assert [event for event in told if "batch" not in event] == [
        "launched",
        "waits for the provider",
        "continues by itself",
    ]
    balanced(build)


def wait_over() -> None:
    """Every pause of a batch is over, also the minute in which a lost one may turn up."""
    Batch.objects.filter(next_poll_at__isnull=False).update(
        next_poll_at=timezone.now(), joined_at=timezone.now() - batches.LONG_QUIET
    )


def test_the_build_says_when_the_provider_is_tried_next(
    tools: Tools, fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "FIRST_PAUSE", timedelta(seconds=20))
    fake.batches.fail("create", *[Fault(529)] * 9)
    build = batched()
    fill(tools)
    for _ in range(circuit_breaker.RUN_OF_BATCHES + 2):
        wait_over()
        batches.tend_one(tools.llm_of)
    build.refresh_from_db()
    batch = Batch.objects.get()
    assert (build.state, build.probe_count, build.next_probe_at) == (
        Build.State.WAITING,
        2,
        batch.next_poll_at,
    )
    assert "HTTP 529" in build.reason
