"""Batches whose id, connection or worker is lost: found, sent anew, or given up; never paid twice."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from annotation.builds.pipeline import batches, claims
from annotation.builds.pipeline.advance import Tools
from annotation.jobs import worker
from annotation.llm.batches.messages import MessageBatches
from annotation.models import Batch, Build, LLMCall, Price, Tally
from tests import factories
from tests.annotation.builds.pipeline.batches.by_batch import (
    Killed,
    balanced,
    batched,
    fill,
    kill_between_create_and_store,
    tend,
    work,
)
from tests.fake_batches import Lost
from tests.fake_messages import Drop, FakeMessages

pytestmark = pytest.mark.django_db


def test_a_batch_whose_id_was_lost_with_its_worker_is_found_and_not_paid_again(
    tools: Tools, fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = batched()
    fill(tools)
    kill_between_create_and_store(tools, monkeypatch)
    batch = Batch.objects.get()
    assert (batch.state, batch.provider_id) == (Batch.State.SENDING, "")
    claims.free_all()  # the next one works alone
    assert not batches.tend_one(tools.llm_of)  # it may still be on its way
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
        patched.setattr(MessageBatches, "create", killed)
        with pytest.raises(Killed):
            tend(tools)
    tend(tools)
    work(tools)
    assert (len(fake.batches.made), Tally.objects.get(build=build).settled) == (1, 9)
    assert build.events.filter(event="sends a batch again").exists()
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
    assert Batch.objects.get().refuted_ids == [theirs.id]
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
        Batch.objects.filter(state=Batch.State.SENDING).update(next_poll_at=None)
        kill_between_create_and_store(tools, monkeypatch)
    Batch.objects.update(next_poll_at=timezone.now())
    first, second = fake.batches.made.values()
    sent = timezone.now()
    Batch.objects.update(sent_at=sent)
    first.created_at, second.created_at = sent + timedelta(seconds=9), sent
    for _ in range(30):
        tend(tools)
    work(tools)
    assert len(fake.batches.made) == 2, "neither was sent again"
    assert [Tally.objects.get(build=build).settled for build in builds] == [9, 9]
    for made in fake.batches.made.values():
        asked = LLMCall.objects.filter(digest__in=[request["custom_id"] for request in made.requests])
        assert set(asked.values_list("batch__provider_id", flat=True)) == {made.id}
    assert all(build.events.filter(event="found a batch").exists() for build in builds)
    assert LLMCall.objects.count() == 18


def test_a_batch_that_another_one_was_taken_for_waits_and_is_not_paid_twice(
    tools: Tools, fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    Price.objects.create(
        model="other-model",
        effective_from=datetime(2026, 1, 1, tzinfo=UTC),
        input=Decimal(1),
        output=Decimal(5),
    )
    factories.opened("never arrived", provider=Build.Provider.LIVE, model="other-model", batches=True)
    batched()
    while worker.drain_cases("llm", tools):
        pass
    never, lost = Batch.objects.order_by("build__name")
    Batch.objects.filter(pk=never.pk).update(next_poll_at=None)
    kill_between_create_and_store(tools, monkeypatch)
    Batch.objects.filter(pk=never.pk).update(
        state=Batch.State.SENDING, sent_at=timezone.now(), has_room=False, next_poll_at=timezone.now()
    )
    Batch.objects.filter(pk=lost.pk).update(next_poll_at=None)
    tend(tools)
    never.refresh_from_db()
    assert (never.state, never.is_guessed) == (Batch.State.OPEN, True), (
        "it was taken for the one that was lost"
    )
    Batch.objects.filter(pk=lost.pk).update(next_poll_at=timezone.now() - timedelta(hours=1))
    batches.tend_one(tools.llm_of)
    lost.refresh_from_db()
    assert lost.state == Batch.State.SENDING and "its results will say" in lost.error
    for _ in range(30):
        tend(tools)
    work(tools)
    assert len(fake.batches.made) == 2
    assert set(Tally.objects.values_list("settled", flat=True)) == {9}
    stored = LLMCall.objects.filter(status=LLMCall.Status.SUCCEEDED).count()
    assert stored == len(fake.batches.asked), "each reply that was written was stored"


def test_a_batch_that_is_gone_for_good_counts_at_its_bounds_and_is_asked_anew(
    tools: Tools, fake: FakeMessages
) -> None:
    build = batched()
    fill(tools)
    tend(tools)
    fake.batches.made.clear()
    tend(tools)
    assert Batch.objects.get().state == Batch.State.OPEN
    Batch.objects.update(sent_at=timezone.now() - batches.GONE - timedelta(minutes=1))
    tend(tools)
    lost = LLMCall.objects.filter(status=LLMCall.Status.UNKNOWN)
    assert (lost.count(), Tally.objects.get(build=build).spent) == (9, sum(call.bound for call in lost))
    work(tools)
    assert Tally.objects.get(build=build).settled == 9
    balanced(build)
