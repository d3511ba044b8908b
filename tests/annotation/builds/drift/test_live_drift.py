"""A whole build by real workers over real HTTP, whose provider puts another model behind the name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from annotation.builds.drift.questions import AGENT
from annotation.jobs import subprocesses, worker
from annotation.jobs.providers import create_configured_tools, get_provider_client
from annotation.models import Build, DriftCheck, LLMCall, Tally
from tests import factories
from tests.annotation.builds.test_live_build import COUNTS, close_client, in_process, launched
from tests.fake_messages import FakeMessages

pytestmark = pytest.mark.django_db(transaction=True)
QUERIES = [f"reverse list number {number}" for number in range(30)]
CLEAR = {"explanation": "plain to see", "verdict": 1}
OTHER = {"explanation": "not what is asked for", "verdict": 0}


class Served:
    """Counts requests; from the one numbered `turns_at` on another model answers under the same name."""

    def __init__(self, turns_at: int) -> None:
        self.turns_at, self.seen = turns_at, 0

    def __call__(self, body: dict[str, Any]) -> dict[str, Any]:
        self.seen += 1
        return CLEAR if self.seen < self.turns_at else OTHER


@pytest.fixture
def fake(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeMessages]:
    monkeypatch.setattr(subprocesses, "run_child_command", in_process)
    settings.DRIFT_EVERY = 15
    with FakeMessages(answer=lambda body: CLEAR) as server:
        settings.ANTHROPIC_API_KEY, settings.LLM_BASE_URL = server.key, server.url
        get_provider_client.cache_clear()
        yield server
        close_client()
    get_provider_client.cache_clear()


def worked(**columns: Any) -> Build:
    """A build of thirty pairs, worked on until nothing is left to do."""
    build = launched(queries=factories.queries(QUERIES), drift_check=True, **columns)
    shared = create_configured_tools()
    worker.until_idle(COUNTS, shared)
    shared.sandbox.close()
    build.refresh_from_db()
    return build


def test_a_model_that_stays_is_asked_again_and_each_call_is_paid_once(fake: FakeMessages) -> None:
    build = worked()
    assert (build.state, Tally.objects.get().settled) == (Build.State.DONE, 30), build.reason
    checks = list(DriftCheck.objects.all())
    assert [check.is_baseline for check in checks][:2] == [True, False]
    assert checks[-1].settled >= 15
    assert {check.p_value for check in checks[1:]} == {1.0}
    calls = LLMCall.objects.filter(agent=AGENT)
    assert calls.count() == calls.values("digest").distinct().count() == 30 * (1 + len(checks))
    assert sum(check.cost for check in checks) == sum(calls.values_list("cost", flat=True)) > 0
    assert Tally.objects.get().reserved == 0


def test_a_model_that_was_exchanged_stops_the_build_before_it_ends(fake: FakeMessages) -> None:
    # Cases and baseline are 90 calls: the other model meets the first check, or most of it.
    fake.answer = Served(turns_at=91)
    build = worked()
    assert build.state == Build.State.PAUSED
    assert build.reason.startswith("The model judges differently than at the start")
    check = DriftCheck.objects.get(shifted=True)
    assert check.p_value is not None and check.level is not None and check.p_value < check.level == 0.005
    assert LLMCall.objects.filter(status=LLMCall.Status.RESERVED).count() == 0
