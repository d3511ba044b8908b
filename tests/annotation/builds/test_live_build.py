"""A whole build in the live mode: real client, real HTTP, real sandbox; only the model is a fake server."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.builds.launch.launcher import launch_build
from annotation.builds.launch.order import Order
from annotation.builds.limits import circuit_breaker, rate_limit
from annotation.builds.pipeline import advance, batches, execution
from annotation.jobs import subprocesses, worker
from annotation.jobs.providers import create_configured_tools, get_provider_client
from annotation.llm.live import LiveLLM
from annotation.models import Build, Case, Limiter, LLMCall, Price, Tally
from annotation.stages import Stage
from tests import factories
from tests.fake_messages import FakeMessages, Fault

pytestmark = pytest.mark.django_db(transaction=True)
COUNTS = {"llm": 2, "sandbox": 1, "mining": 1, "control": 1}
PROGRAM = """def main():
    assert callable(reverse)
    assert reverse([1, 2, 3]) == [3, 2, 1]


main()
"""

FEW_AGENTS = {"reader": False, "neighbour": False, "prompt_set": "paper"}
"""Three agents a pair: what is told here of calls, prices and outages is the same for each agent."""


def in_process(command: list[str], still_wanted: Callable[[], bool]) -> int:
    call_command(*command)
    return 0


def answer(body: dict[str, Any]) -> dict[str, Any]:
    """By the request's schema, as a model would: unclear, a program, then a verdict from the report."""
    wanted = str(body.get("output_config", body))
    if "program" in wanted:
        return {"reading": "reverses the list", "helpers": [], "program": PROGRAM}
    if "0.5" in wanted:
        return {"explanation": "only a run can tell", "verdict": 0.5}
    return {"explanation": "both assertions hold", "verdict": 1}


@pytest.fixture
def fake(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeMessages]:
    monkeypatch.setattr(subprocesses, "run_child_command", in_process)
    with FakeMessages(answer=answer) as server:
        settings.ANTHROPIC_API_KEY, settings.LLM_BASE_URL = server.key, server.url
        get_provider_client.cache_clear()
        yield server
        close_client()
    get_provider_client.cache_clear()


def close_client() -> None:
    """A process keeps its client for good; a test gives the sockets back."""
    if get_provider_client.cache_info().currsize:
        client = get_provider_client(Build.Provider.LIVE, "")
        assert isinstance(client, LiveLLM)
        client.close()


def launched(**columns: Any) -> Build:
    Price.objects.create(
        model="some-model",
        effective_from=datetime(2026, 1, 1, tzinfo=UTC),
        input=Decimal(1),
        output=Decimal(5),
    )
    order: dict[str, Any] = FEW_AGENTS | {
        "name": "live",
        "encoders": ("bow",),
        "k": 1,
        "provider": Build.Provider.LIVE,
        "model": "some-model",
    }
    order["queries"] = columns.pop("queries", None) or factories.queries(["reverse a list in place"])
    order["snippets"] = columns.pop("snippets", None) or factories.snippets()
    return launch_build(Order(**order | columns))


def test_a_live_build_asks_runs_and_settles_with_every_call_on_the_books(fake: FakeMessages) -> None:
    build = launched()
    shared = create_configured_tools()
    worker.until_idle(COUNTS, shared)
    shared.sandbox.close()
    case = Case.objects.get(build=build)
    assert (case.stage, case.label) == (Stage.SETTLED, 1), case.reason
    calls = list(LLMCall.objects.order_by("pk"))
    assert [call.agent for call in calls] == ["screener", "test_writer", "arbiter"]
    assert all(call.input_tokens and call.cost and call.provider_id and call.latency for call in calls)
    tally = Tally.objects.get(build=build)
    assert (tally.calls, tally.spent, tally.reserved) == (3, sum(call.cost for call in calls), 0)
    assert fake.url.removeprefix("http://") == calls[0].whole_request().base_url


def test_a_build_by_batch_has_the_labels_of_the_same_build_live_at_a_lower_price(
    fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("QUIET", "FIRST_PAUSE"):
        monkeypatch.setattr(batches, name, timedelta(seconds=0.2))
    monkeypatch.setattr(batches, "FILLS", timedelta(seconds=0.2))
    monkeypatch.setattr("annotation.models.builds.batches.FILLS", timedelta(seconds=0.2))
    fake.batches.twice, fake.batches.cuts = 2, 1
    words = factories.queries()
    live = launched(queries=words, k=2, fresh=True)
    shared = create_configured_tools()
    worker.until_idle(COUNTS, shared)
    order: dict[str, Any] = FEW_AGENTS | {"queries": words, "snippets": live.snippets, "k": 2, "fresh": True}
    batched = launch_build(
        Order(
            **order,
            name="by batch",
            encoders=("bow",),
            provider=Build.Provider.LIVE,
            model="some-model",
            batches=True,
        )
    )
    worker.until_idle(COUNTS, shared)
    shared.sandbox.close()
    labels = [dict(Case.objects.filter(build=one).values_list("pair", "label")) for one in (live, batched)]
    assert len(labels[0]) == 6
    assert labels[0] == labels[1]
    one, other = (Tally.objects.get(build=build) for build in (live, batched))
    assert (other.calls, other.reserved, other.abandoned) == (one.calls, 0, 0)
    assert one.spent / 2 < other.spent < one.spent
    agents = LLMCall.objects.filter(build=batched).exclude(batch=None).values_list("agent", flat=True)
    assert set(agents) == {"screener", "test_writer"}
    assert other.spent == sum(LLMCall.objects.filter(build=batched).values_list("cost", flat=True))


def test_an_overloaded_provider_is_asked_again_and_paid_once(
    fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(advance, "USUAL_WAIT", 0.05)
    fake.script(Fault(529), Fault(429, headers={"retry-after": "1"}))
    build = launched()
    shared = create_configured_tools()
    worker.until_idle(COUNTS, shared)
    shared.sandbox.close()
    assert Case.objects.get(build=build).stage == Stage.SETTLED
    failed = LLMCall.objects.filter(status=LLMCall.Status.FAILED)
    assert (failed.count(), sum(call.cost for call in failed)) == (2, 0)
    assert LLMCall.objects.filter(agent="screener", status=LLMCall.Status.SUCCEEDED).count() == 1


def test_workers_find_the_pace_of_a_provider_that_refuses_more_than_a_few_at_once(
    fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(advance, "USUAL_WAIT", 0.05)
    monkeypatch.setattr(rate_limit, "EPISODE", timedelta(seconds=0.2))
    monkeypatch.setattr(circuit_breaker, "FIRST_PAUSE", timedelta(seconds=0.2))
    places, refusals, refused = threading.Semaphore(3), list[dict[str, Any]](), threading.Event()

    def busy(body: dict[str, Any]) -> dict[str, Any] | Fault:
        if not places.acquire(blocking=False):
            refusals.append(body)
            refused.set()
            return Fault(429)
        refused.wait(30)  # the first take so long that a fourth is sent beside them, on a slow machine too
        time.sleep(0.1)
        places.release()
        return {"explanation": "plain to see", "verdict": 1}

    fake.answer = busy
    words = [f"reverse list number {number}" for number in range(30)]
    build = launched(queries=factories.queries(words), snippets=factories.snippets())
    Tally.objects.update(usable_replies=1)  # else two are in flight at most until a reply was usable
    shared = create_configured_tools()
    worker.until_idle(COUNTS | {"llm": 12}, shared)
    shared.sandbox.close()
    tally = Tally.objects.get(build=build)
    assert (tally.settled, tally.abandoned, tally.calls, tally.reserved) == (30, 0, 30, 0)
    assert 0 < len(refusals) < 60
    assert Limiter.objects.get(model="some-model").max_in_flight < 12


def test_a_provider_that_is_away_for_long_is_waited_for_and_nothing_is_abandoned(
    fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(advance, "USUAL_WAIT", 0.05)
    monkeypatch.setattr(circuit_breaker, "FIRST_PAUSE", timedelta(seconds=0.2))
    fake.script(*[Fault(529)] * (circuit_breaker.RUN + 2))
    build = launched()
    shared = create_configured_tools()
    worker.until_idle(COUNTS, shared)
    shared.sandbox.close()
    assert Case.objects.get(build=build).stage == Stage.SETTLED
    story = list(build.events.order_by("pk").values_list("event", flat=True))
    assert story == ["launched", "waits for the provider", "continues by itself"]
    assert "3 tries" in build.events.get(event="continues by itself").note
    tally = Tally.objects.get(build=build)
    assert (tally.calls, tally.abandoned, tally.reserved, tally.provider_errors) == (3, 0, 0, 0)


def test_a_wrong_key_stops_the_build_with_what_to_do(fake: FakeMessages, settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "wrong"
    build = launched()
    worker.until_idle(COUNTS, create_configured_tools())
    build.refresh_from_db()
    assert build.state == Build.State.WAITING
    assert "key" in build.reason
    assert Case.objects.get(build=build).stage == Stage.SCREENING


@pytest.mark.parametrize("backend", ["docker", "bubblewrap"])
def test_a_sandbox_that_is_gone_is_waited_for_until_it_is_back(
    backend: str, fake: FakeMessages, settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(advance, "USUAL_WAIT", 0.05)
    monkeypatch.setattr(execution, "SECONDS_BETWEEN_OPENINGS", 0.0)
    build, usual, path = launched(), settings.SANDBOX_BACKEND, os.environ["PATH"]
    settings.SANDBOX_BACKEND, settings.DOCKER_HOST = backend, f"unix://{tmp_path}/none"
    monkeypatch.setenv("PATH", str(tmp_path))
    shared = create_configured_tools()
    worker.until_idle(COUNTS, shared)
    build.refresh_from_db()
    case = Case.objects.get(build=build)
    assert build.get_state_display() == "waiting for the sandbox"
    assert {"docker": "no Docker engine answers", "bubblewrap": "bubblewrap"}[backend] in build.reason
    assert (case.stage, case.attempts) == (Stage.EXECUTING, 0)
    settings.SANDBOX_BACKEND, settings.DOCKER_HOST = usual, ""
    monkeypatch.setenv("PATH", path)
    for _ in range(5):  # a busy machine may not be able to judge it at once
        Build.objects.update(next_probe_at=timezone.now())
        Case.objects.update(
            next_attempt_at=None
        )  # its own pause may not be over: then nothing would be tried
        worker.drain_queue("sandbox", shared)
        worker.until_idle(COUNTS, shared)
        case.refresh_from_db()
        if case.stage == Stage.SETTLED:
            break
    shared.close()
    assert (case.stage, case.label) == (Stage.SETTLED, 1), case.reason
    note = build.events.get(event="continues by itself").note
    assert note.startswith("the sandbox runs programs again, after ")
