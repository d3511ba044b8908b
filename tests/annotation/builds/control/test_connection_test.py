"""Test connection: whose key goes where, what is refused, and that a worker's result is kept."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from annotation.builds.control import connection_test
from annotation.builds.control.connection_test import Wanted
from annotation.builds.limits import connection_budget, rate_limit
from annotation.builds.pipeline import claims
from annotation.jobs import worker
from annotation.jobs.wake_up import wake_workers
from annotation.llm.probe import MOST_CALLS, MOST_TOKENS, Probed, ask_probe
from annotation.models import ConnectionTest, Limiter, Price, ProjectTally
from tests import factories
from tests.fake_messages import Drop, FakeMessages, Fault

pytestmark = pytest.mark.django_db
MODEL = "some-model"


@pytest.fixture
def fake(settings: Any) -> Iterator[FakeMessages]:
    with FakeMessages() as server:
        settings.ANTHROPIC_API_KEY, settings.LLM_BASE_URL = server.key, server.url
        settings.LLM_PROFILE = "anthropic"
        yield server


@pytest.fixture
def other() -> Iterator[FakeMessages]:
    """A server that is not the configured one and wants no key."""
    with FakeMessages(key="none") as server:
        yield server


def what_came_of(**wanted: Any) -> ConnectionTest:
    test = connection_test.request_connection_test(
        factories.ada(), Wanted(**{"model": MODEL, "profile": "anthropic"} | wanted)
    )
    assert connection_test.try_one()
    test.refresh_from_db()
    return test


def test_what_a_server_can_do_is_kept_with_who_asked_and_what_it_took(fake: FakeMessages) -> None:
    Price.objects.create(model=MODEL, effective_from=timezone.now() - timedelta(days=1), input=1, output=5)
    test = what_came_of()
    assert (test.state, test.user, test.configured) == ("done", factories.ada(), True)
    assert "json_schema = true" in test.toml
    assert {"tried": "json schema", "works": True, "told": '{"answer": 1}'} in test.findings
    answered = [call for call in fake.calls if call.status == 200 and call.path.endswith("/messages")]
    assert test.calls == len(answered) >= 5
    assert test.cost == test.input_tokens * 1000 + test.output_tokens * 5000 > 0
    assert test.latency and test.finished_at and test.lease_until is None
    assert fake.key not in f"{test.toml}{test.findings}"
    assert ProjectTally.objects.now().spent == test.cost, "it was the project's money"


def priced(**cap: int) -> None:
    Price.objects.create(model=MODEL, effective_from=timezone.now() - timedelta(days=1), input=1, output=5)
    ProjectTally.objects.now()
    ProjectTally.objects.update(**cap)


def test_one_that_fails_on_its_way_counts_what_was_answered_and_what_is_lost(
    fake: FakeMessages,
) -> None:
    priced()
    fake.script({"answer": 1}, {"answer": 1}, Drop())
    test = what_came_of()
    assert (test.state, test.calls) == ("failed", 2)
    assert test.cost == ProjectTally.objects.now().spent
    assert test.cost > MOST_TOKENS * 5000, "the lost question counts at its bound"
    assert (test.bound, ProjectTally.objects.now().reserved) == (0, 0)


def test_it_is_refused_where_the_projects_cap_is_used_up(fake: FakeMessages) -> None:
    priced(cap=10**9, spent=10**9)
    with pytest.raises(connection_test.TestRefused, match="more than is left under the project's cap"):
        connection_test.request_connection_test(factories.ada(), Wanted(MODEL, "anthropic"))
    ProjectTally.objects.update(spent=0)
    test = connection_test.request_connection_test(factories.ada(), Wanted(MODEL, "anthropic"))
    ProjectTally.objects.update(spent=10**9)
    assert connection_test.try_one()
    test.refresh_from_db()
    assert test.state == "failed" and "under the project's cap" in test.message
    assert fake.calls == []
    assert (ProjectTally.objects.now().spent, ProjectTally.objects.now().reserved) == (10**9, 0)


def test_what_it_may_cost_is_held_while_it_runs_and_counts_where_its_worker_died(fake: FakeMessages) -> None:
    priced(cap=10**9)
    test = connection_test.request_connection_test(factories.ada(), Wanted(MODEL, "anthropic"))
    meter = connection_budget.Meter(connection_budget.price_of(MODEL))
    assert connection_test.claim_connection_test(test, meter) and not connection_test.claim_connection_test(
        test, meter
    )
    held = ProjectTally.objects.now().reserved
    assert held > MOST_CALLS * MOST_TOKENS * 5000
    claims.free_all()
    assert connection_test.give_up_lost() == 1
    test.refresh_from_db()
    row = ProjectTally.objects.now()
    assert (row.reserved, row.spent, test.cost) == (0, held, held)


def test_batches_are_tried_where_the_admin_wants_it(fake: FakeMessages) -> None:
    fake.batches.looks = 0
    test = what_came_of(batches=True)
    assert "batches = true" in test.toml and len(fake.batches.made) == 1
    assert "batches" not in [one["tried"] for one in what_came_of().findings]


def test_a_question_of_a_batch_costs_half_and_its_half_is_held(fake: FakeMessages) -> None:
    priced()
    fake.batches.looks = 0
    alone, with_batch = what_came_of(), what_came_of(batches=True)
    assert alone.cost is not None and with_batch.cost is not None
    whole = with_batch.input_tokens * 1000 + with_batch.output_tokens * 5000
    assert alone.cost < with_batch.cost < whole
    asked = whole - alone.cost
    assert with_batch.cost == alone.cost + asked / 2
    price = connection_budget.price_of(MODEL)
    held = [
        connection_budget.compute_test_cost_bound(price, caching=False, batches=batches)
        for batches in (False, True)
    ]
    assert held[1] - held[0] == held[0] / MOST_CALLS / 2


def test_a_question_is_waited_for_as_long_as_a_call_of_a_build(
    fake: FakeMessages, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[float] = []

    def probed(*asked: Any, timeout: float, **wishes: Any) -> Probed:
        found.append(timeout)
        return ask_probe(*asked, timeout=timeout, **wishes)

    monkeypatch.setattr(connection_test, "ask_probe", probed)
    settings.LLM_TIMEOUT = 7.0
    assert what_came_of().state == "done" and found == [7.0]


def test_each_question_renews_the_lease(fake: FakeMessages, monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[timedelta] = []

    def probed(*asked: Any, before: Callable[[], None], **wishes: Any) -> Probed:
        def looked() -> None:
            ConnectionTest.objects.update(lease_until=timezone.now())
            before()
            until = ConnectionTest.objects.get().lease_until
            assert until is not None
            left.append(until - timezone.now())

        return ask_probe(*asked, before=looked, **wishes)

    monkeypatch.setattr(connection_test, "ask_probe", probed)
    assert what_came_of().state == "done"
    assert len(left) >= len(fake.calls) and min(left) > connection_test.LEASE / 2


def test_it_asks_no_more_often_than_the_page_says(fake: FakeMessages) -> None:
    fake.supports = frozenset()
    what_came_of()
    assert len(fake.calls) <= MOST_CALLS


class Resolver:
    """Stands for a name server that answers another address each time; notes how often it was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, name: str, *answers: str) -> None:
        self.name, self.left, self.lookups = name, list(answers), 0
        self.ask = socket.getaddrinfo
        monkeypatch.setattr(socket, "getaddrinfo", self.find)

    def find(self, host: Any, *arguments: Any, **options: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name != self.name:
            return self.ask(host, *arguments, **options)
        self.lookups += 1
        answer = self.left.pop(0) if len(self.left) > 1 else self.left[0]
        return self.ask(answer, *arguments, **options)


def test_a_name_is_looked_up_once_and_what_was_judged_is_connected_to(
    fake: FakeMessages, other: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolver = Resolver(monkeypatch, "rebind.example", "127.0.0.1", "169.254.169.254")
    test = what_came_of(base_url=other.url.replace("127.0.0.1", "rebind.example"))
    assert (test.state, resolver.lookups) == ("done", 1)
    assert other.calls


def test_a_name_that_means_another_place_the_next_moment_gains_nothing(
    fake: FakeMessages, other: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing listens on 127.9.9.9; the server stands for a place that only the second answer names."""
    resolver = Resolver(monkeypatch, "rebind.example", "127.9.9.9", "127.0.0.1")
    test = what_came_of(base_url=other.url.replace("127.0.0.1", "rebind.example"))
    assert (test.state, resolver.lookups) == ("failed", 1)
    assert not other.calls


def test_no_proxy_stands_between_a_judged_address_and_the_question(
    fake: FakeMessages, other: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", fake.url)
    assert what_came_of(base_url=other.url).state == "done"
    assert other.calls and not fake.calls


def test_one_forbidden_address_among_others_refuses_the_name(
    fake: FakeMessages, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(host: Any, *arguments: Any, **options: Any) -> Any:
        places = ("127.0.0.1", "169.254.169.254")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (place, 0)) for place in places]

    monkeypatch.setattr(socket, "getaddrinfo", find)
    with pytest.raises(connection_test.TestRefused, match=r"leads to 169\.254\.169\.254"):
        connection_test.judge_place("http://several.example")


def test_another_address_never_gets_the_configured_key(fake: FakeMessages, other: FakeMessages) -> None:
    test = what_came_of(base_url=f"{other.url}/")
    assert (test.state, test.configured, fake.calls) == ("done", False, [])
    assert other.calls and fake.key not in str([call.headers for call in other.calls])
    assert ProjectTally.objects.now().spent == 0


def test_one_that_wants_a_key_is_told_apart_from_a_wrong_key(fake: FakeMessages) -> None:
    with FakeMessages(key="its-own") as server:
        test = what_came_of(base_url=server.url)
    assert test.state == "failed"
    assert "wants a key, and none was sent" in test.message


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("ANTHROPIC_API_KEY", "", "No key is configured: set ANTHROPIC_API_KEY or COSQA_LLM_API_KEY"),
        ("ANTHROPIC_API_KEY", "wrong", "does not accept the key"),
        ("LLM_BASE_URL", "http://127.0.0.1:9", "no answer from http://127.0.0.1:9"),
    ],
)
def test_what_is_wrong_is_said(
    fake: FakeMessages, settings: Any, setting: str, value: str, said: str
) -> None:
    setattr(settings, setting, value)
    test = what_came_of()
    assert (test.state, test.toml, test.calls) == ("failed", "", 0)
    assert said in test.message
    assert fake.key not in test.message


def test_an_unknown_model_is_said(fake: FakeMessages) -> None:
    fake.answer = lambda body: Fault(404, f"model: {body['model']}")
    assert "check the model's name" in what_came_of(model="gpt-none").message


@pytest.mark.parametrize(
    "address",
    [
        "ftp://example.org",
        "example.org",
        "http://",
        "http://[::1",
        "http://me:secret@example.org",
        "https://example.org/v1",
        "https://example.org/?to=there",
        "https://example.org/#there",
        "http://example.org/a b",
        "http://example.org/\x00",
        "http://example.org:99999",
    ],
)
def test_an_address_that_can_not_be_meant_is_refused_before_anything_is_recorded(
    fake: FakeMessages, address: str
) -> None:
    with pytest.raises(connection_test.TestRefused):
        connection_test.request_connection_test(factories.ada(), Wanted(MODEL, "generic", address))
    assert not ConnectionTest.objects.exists()


@pytest.mark.parametrize(
    "address",
    [
        "http://169.254.169.254",
        "http://0.0.0.0",
        "http://224.0.0.1",
        "http://[fe80::1]",
        "http://[::ffff:169.254.169.254]",
        "http://[2002:a9fe:a9fe::1]",
        "http://[fd00:ec2::254]",
        "http://100.100.100.200",
    ],
)
def test_where_a_cloud_tells_of_its_machines_nothing_is_asked(fake: FakeMessages, address: str) -> None:
    test = what_came_of(base_url=address)
    assert test.state == "failed" and "where no language model is asked" in test.message


def test_a_redirect_is_not_followed(fake: FakeMessages, other: FakeMessages) -> None:
    fake.answer = lambda body: Fault(307, headers={"location": f"{other.url}/v1/messages"})
    assert "points to another one, which is not followed" in what_came_of().message
    assert other.calls == []


def test_one_test_at_a_time(fake: FakeMessages) -> None:
    connection_test.request_connection_test(factories.ada(), Wanted(MODEL, "anthropic"))
    with pytest.raises(connection_test.TestRefused, match="already running"):
        connection_test.request_connection_test(factories.ada(), Wanted(MODEL, "anthropic"))
    assert connection_test.try_one() and not connection_test.try_one()


def test_what_a_dead_worker_was_asking_has_failed_and_is_not_paid_again(fake: FakeMessages) -> None:
    test = connection_test.request_connection_test(factories.ada(), Wanted(MODEL, "anthropic"))
    ConnectionTest.objects.update(state="running", lease_until=timezone.now() + connection_test.LEASE)
    assert connection_test.give_up_lost() == 0
    claims.free_all()  # whoever works alone knows that the one before it is gone
    assert connection_test.give_up_lost() == 1
    test.refresh_from_db()
    assert test.state == "failed" and "Test again" in test.message
    assert not connection_test.try_one() and fake.calls == []


def test_a_test_waits_while_the_model_may_not_be_asked(fake: FakeMessages, other: FakeMessages) -> None:
    rate_limit.pause_model_requests(MODEL, 60)
    test = connection_test.request_connection_test(factories.ada(), Wanted(MODEL, "anthropic"))
    assert not connection_test.try_one() and fake.calls == []
    Limiter.objects.update(closed_until=None)
    assert connection_test.try_one()
    test.refresh_from_db()
    assert test.state == "done"
    rate_limit.pause_model_requests(MODEL, 60)
    assert what_came_of(base_url=other.url).state == "done", "another server has limits of its own"


def test_a_test_that_runs_is_a_call_in_the_air(fake: FakeMessages) -> None:
    connection_test.request_connection_test(factories.ada(), Wanted(MODEL, "anthropic"))
    Limiter.objects.create(model=MODEL, max_in_flight=1)
    assert rate_limit.full_models() == []
    ConnectionTest.objects.update(state="running", lease_until=timezone.now() + connection_test.LEASE)
    assert rate_limit.full_models() == [MODEL]
    ConnectionTest.objects.update(configured=False)
    assert rate_limit.full_models() == []


def test_a_refusal_for_too_many_calls_slows_all_workers_down(fake: FakeMessages) -> None:
    fake.answer = lambda body: Fault(429, headers={"retry-after": "30"})
    assert "rate limit" in what_came_of().message
    row = Limiter.objects.get(model=MODEL)
    assert row.max_in_flight < rate_limit.MOST and row.closed_until is not None
    assert rate_limit.full_models() == [MODEL]


def test_a_worker_of_the_language_models_makes_it(fake: FakeMessages, tools_with: Any) -> None:
    connection_test.request_connection_test(factories.ada(), Wanted(MODEL, "anthropic"))
    tools, _ = tools_with({})
    assert worker.has_queued_work()
    assert worker.drain_queue("sandbox", tools) == 0
    assert worker.drain_queue("llm", tools) == 1
    assert ConnectionTest.objects.get().state == "done"
    assert not worker.has_queued_work()


def test_a_fault_of_ours_is_said_and_ends_the_test(
    fake: FakeMessages, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(connection_test, "ask_probe", broken)
    assert "a fault of the workbench" in what_came_of().message
    assert "a bug" in caplog.text


def test_waking_the_workers_needs_no_broker(settings: Any) -> None:
    settings.CELERY_BROKER_URL = ""
    wake_workers("llm")
