"""Live builds that stop by themselves: real client, real HTTP, several workers; only the model is a fake."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from annotation.builds.control import pause_resume
from annotation.builds.control.pause_resume import Action
from annotation.builds.limits.unusable_replies import STOPPED
from annotation.jobs import worker
from annotation.jobs.providers import create_configured_tools
from annotation.models import Batch, Build, Case, LLMCall, Tally
from annotation.stages import Stage
from tests import factories
from tests.annotation.builds.test_live_build import COUNTS, fake, launched  # noqa: F401  # a fixture
from tests.fake_messages import FakeMessages, Fault, Say

pytestmark = pytest.mark.django_db(transaction=True)
MANY = COUNTS | {"llm": 8}
PROSE = "Well, <script>alert(1)</script> I think it does."


def large(**columns: Any) -> Build:
    """Forty pairs, none of which was asked about before."""
    words = [f"reverse list number {number}" for number in range(40)]
    return launched(queries=factories.queries(words, "forty"), snippets=factories.snippets(), **columns)


def worked() -> None:
    shared = create_configured_tools()
    worker.until_idle(MANY, shared)
    shared.sandbox.close()


def test_a_new_build_of_unusable_replies_pays_for_at_most_twelve_calls(fake: FakeMessages) -> None:  # noqa: F811
    flying, most, lock = [0], [0], threading.Lock()

    def answer(body: dict[str, Any]) -> Say:
        with lock:
            flying[0] += 1
            most[0] = max(most[0], flying[0])
        time.sleep(0.05)
        with lock:
            flying[0] -= 1
        return Say(PROSE)

    fake.answer = answer
    build = large()
    worked()
    build.refresh_from_db()
    assert (build.state, build.reason.startswith(STOPPED)) == (Build.State.PAUSED, True)
    assert 10 <= len(fake.calls) <= 12
    assert most[0] <= 2
    tally = Tally.objects.get(build=build)
    assert (tally.abandoned, tally.reserved) == (tally.total - tally.open, 0)
    assert not Case.objects.filter(build=build, lease__isnull=False).exists()


def test_a_build_by_batch_sends_no_batch_before_a_reply_was_usable(fake: FakeMessages) -> None:  # noqa: F811
    fake.answer = lambda body: Say(PROSE)
    build = large(batches=True)
    worked()
    build.refresh_from_db()
    assert (build.state, build.reason.startswith(STOPPED)) == (Build.State.PAUSED, True)
    assert len(fake.calls) <= 12
    assert not Batch.objects.exists()


def test_a_build_goes_on_when_the_model_is_put_right_and_the_build_resumed(fake: FakeMessages) -> None:  # noqa: F811
    fake.answer = lambda body: Say(PROSE)
    build = large()
    worked()
    fake.answer = lambda body: {"explanation": "plain to see", "verdict": 1}
    build.refresh_from_db()
    pause_resume.control_build(build, Action.RESUME)
    pause_resume.control_build(build, Action.RETRY)
    worked()
    build.refresh_from_db()
    assert build.state == Build.State.DONE
    assert Case.objects.filter(build=build, stage=Stage.SETTLED).count() == 40


def test_later_ten_in_a_row_and_what_is_in_flight_are_paid(fake: FakeMessages) -> None:  # noqa: F811
    good = iter(range(12))

    def answer(body: dict[str, Any]) -> dict[str, Any] | Say:
        time.sleep(0.02)
        return Say(PROSE) if next(good, None) is None else {"explanation": "plain to see", "verdict": 1}

    fake.answer = answer
    build = large()
    worked()
    build.refresh_from_db()
    assert build.state == Build.State.PAUSED
    assert len(fake.calls) <= 12 + 10 + MANY["llm"]
    assert Tally.objects.get(build=build).settled == 12


def test_a_wrong_model_name_stops_a_new_build_before_anything_is_paid(fake: FakeMessages) -> None:  # noqa: F811
    fake.answer = lambda body: Fault(404, "model: no-such-model")
    build = large()
    worked()
    build.refresh_from_db()
    assert build.state == Build.State.WAITING and build.next_probe_at is None  # for a person
    assert "no-such-model" in build.reason
    assert len(fake.calls) <= MANY["llm"]  # each worker has at most one case in its hands
    assert Tally.objects.get(build=build).spent == 0


def test_a_model_that_changes_stops_the_build_and_what_is_in_flight_is_all_that_is_paid(
    fake: FakeMessages,  # noqa: F811
) -> None:
    good = iter(range(6))

    def answer(body: dict[str, Any]) -> Say:
        name = "other-model" if next(good, None) is None else "some-model"
        return Say('{"explanation": "plain to see", "verdict": 1}', model=name)

    fake.answer = answer
    build = large()
    worked()
    build.refresh_from_db()
    assert build.state == Build.State.WAITING
    assert "other-model answered" in build.reason
    assert LLMCall.objects.filter(build=build, answered_by="other-model").count() <= MANY["llm"]
