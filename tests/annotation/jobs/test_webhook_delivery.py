"""Messages to webhooks: signed, tried again, sent at least once, and never to where they may not go."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone
from pytest_django import Settings

from annotation.builds.pipeline.advance import Tools
from annotation.jobs import webhook_delivery as module
from annotation.jobs import worker
from annotation.models import AuditEvent, Build, Webhook, WebhookDelivery
from annotation.webhooks.signature import derive_secret, sign_message
from retrieval.sources.web.post import Answer, NotPosted
from tests import factories
from tests.fakes import FakeLLM
from tests.receiver import Receiver, run_receiver

pytestmark = pytest.mark.django_db
Make = Callable[..., tuple[Tools, FakeLLM]]
START = datetime(2026, 11, 28, 12, tzinfo=timezone.get_default_timezone())


class Clock:
    """The time, which passes when a test says so."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def wait(self, time: timedelta) -> None:
        self.now += time


class Network:
    """In the place of posts: what was sent when, and what comes back, a failure by default."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.sent: list[tuple[timedelta, str, dict[str, str]]] = []
        self.answer: Answer | BaseException = NotPosted("connection refused")

    def post(self, url: str, body: bytes, headers: dict[str, str], *, public: bool) -> Answer:
        self.sent.append((self.clock.now - START, url, headers))
        if isinstance(self.answer, Answer):
            return self.answer
        raise self.answer


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(timezone, "now", clock)
    return clock


@pytest.fixture
def network(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Network:
    network = Network(clock)
    monkeypatch.setattr(module, "post_bytes", network.post)
    return network


@pytest.fixture
def receiver(settings: Settings) -> Iterator[Receiver]:
    settings.DOWNLOAD_PRIVATE = True
    with run_receiver() as found:
        yield found


def stored(delivery: WebhookDelivery) -> WebhookDelivery:
    return WebhookDelivery.objects.select_related("webhook").get(pk=delivery.pk)


def send_until(clock: Clock, end: timedelta) -> None:
    """Send whatever is due, moment by moment, as a worker that always looks."""
    while True:
        while module.send_due_delivery():
            pass
        rows = WebhookDelivery.objects.filter(state="waiting", due_at__gt=clock.now, webhook__is_on=True)
        following = rows.order_by("due_at").values_list("due_at", flat=True).first()
        if following is None or following > START + end:
            clock.now = START + end
            return
        clock.now = following


def test_a_build_that_ends_reaches_a_receiver_signed(receiver: Receiver, tools_with: Make) -> None:
    tools, _ = tools_with({"verdict": 1, "explanation": "plain to see"})
    webhook = factories.webhook(address=f"{receiver.url}/hook")
    build = factories.opened("autumn")
    for queue in ("llm", "llm", "llm", "control", "notices", "notices"):
        worker.drain_queue(queue, tools)
    [(path, headers, body)] = receiver.asked
    assert path == "/hook"
    told = json.loads(body)
    assert (told["type"], told["data"]["build"]["id"]) == ("build.done", build.pk)
    assert told["id"] == headers["webhook-id"]
    secret, timestamp = derive_secret(webhook.salt), int(headers["webhook-timestamp"])
    assert headers["webhook-signature"] == sign_message(secret, told["id"], timestamp, body)
    assert abs(timestamp - timezone.now().timestamp()) < 60
    row = WebhookDelivery.objects.get()
    assert (row.state, row.tries, row.status, row.error) == ("sent", 1, 204, "")
    assert not Webhook.objects.get().failing_since


def test_a_message_is_tried_eight_times_with_growing_waits(clock: Clock, network: Network) -> None:
    delivery = factories.webhook_delivery(factories.webhook())
    send_until(clock, timedelta(days=3))
    seconds = [when.total_seconds() for when, _, _ in network.sent]
    # 5 s, 30 s, 2 min, 10 min, 1 h, 6 h and 1 d, each after the one before
    assert seconds == [0, 5, 35, 155, 755, 4355, 25955, 112355]
    assert {headers["webhook-id"] for _, _, headers in network.sent} == {delivery.message}
    stamps = [int(headers["webhook-timestamp"]) for _, _, headers in network.sent]
    assert stamps == [int(START.timestamp()) + second for second in seconds]
    assert len({headers["webhook-signature"] for _, _, headers in network.sent}) == 8
    row = stored(delivery)
    assert (row.state, row.tries, row.error) == ("failed", 8, "connection refused")
    assert row.webhook.is_on


def test_a_receiver_that_comes_back_gets_it_once(clock: Clock, network: Network) -> None:
    delivery = factories.webhook_delivery(factories.webhook())
    send_until(clock, timedelta(seconds=60))
    assert stored(delivery).webhook.failing_since == START
    network.answer = Answer(200, b"thanks")
    send_until(clock, timedelta(days=3))
    assert [when.total_seconds() for when, _, _ in network.sent] == [0, 5, 35, 155]
    row = stored(delivery)
    assert (row.state, row.status, row.answer, row.error) == ("sent", 200, "thanks", "")
    assert row.webhook.failing_since is None


@pytest.mark.parametrize("status", [302, 400, 404, 429, 500])
def test_any_other_answer_is_a_failure(clock: Clock, network: Network, status: int) -> None:
    network.answer = Answer(status, b"\xff\x00 no\xe2\x80\xae<b>")
    delivery = factories.webhook_delivery(factories.webhook())
    module.send_due_delivery()
    row = stored(delivery)
    assert (row.state, row.status, row.error) == ("waiting", status, f"The answer was {status}.")
    assert row.due_at == START + timedelta(seconds=5)
    assert row.answer == "\ufffd\u2400 no\u202e<b>"  # pages mark what turns text around


def test_410_switches_it_off_at_once(clock: Clock, network: Network) -> None:
    network.answer = Answer(410, b"")
    delivery = factories.webhook_delivery(factories.webhook())
    assert [module.send_due_delivery(), module.send_due_delivery()] == [1, 0]
    row = stored(delivery)
    assert (row.webhook.is_on, row.state) == (False, "failed")
    assert "410" in row.webhook.off_reason


def test_a_worker_that_dies_after_sending_has_it_sent_again_with_its_id(
    clock: Clock, network: Network
) -> None:
    delivery = factories.webhook_delivery(factories.webhook())
    network.answer = KeyboardInterrupt()  # as a kill: it was sent, and nothing is noted
    with pytest.raises(KeyboardInterrupt):
        module.send_due_delivery()
    network.answer = Answer(204, b"")
    clock.wait(module.LEASE - timedelta(seconds=1))
    assert module.send_due_delivery() == 0, "the lease of the dead one holds"
    clock.wait(timedelta(seconds=1))
    assert module.send_due_delivery() == 1
    first, second = (headers["webhook-id"] for _, _, headers in network.sent)
    assert first == second == delivery.message
    assert (stored(delivery).state, stored(delivery).tries) == ("sent", 2)


def test_a_late_failure_says_nothing_where_another_worker_was_faster(clock: Clock, network: Network) -> None:
    delivery = factories.webhook_delivery(factories.webhook())
    late = stored(delivery)
    assert module.lease_delivery(late, clock.now)
    clock.wait(module.LEASE)
    network.answer = Answer(204, b"")
    module.send_due_delivery()
    module.record_failure(late, "too late")
    assert (stored(delivery).state, stored(delivery).error) == ("sent", "")


def test_of_two_workers_one_sends(clock: Clock) -> None:
    delivery = factories.webhook_delivery(factories.webhook())
    assert [
        module.lease_delivery(stored(delivery), clock.now),
        module.lease_delivery(delivery, clock.now),
    ] == [
        True,
        False,
    ]


def test_a_receiver_that_never_answers_is_switched_off_after_five_days(
    clock: Clock, network: Network
) -> None:
    webhook = factories.webhook()
    for day in range(6):
        factories.webhook_delivery(webhook)
        send_until(clock, timedelta(days=day + 1))
        # The message of day 3 is given up on day 4, that of day 4 at 5 d 7 h.
        assert Webhook.objects.get().is_on is (day < 5)
    webhook.refresh_from_db()
    assert webhook.off_reason == "Nothing arrived for 5 days."
    assert {row.state for row in WebhookDelivery.objects.all()} == {"failed"}
    [event] = AuditEvent.objects.filter(verb="webhook switched")
    assert (event.user, event.what) == (None, "webhook chat")
    assert module.send_due_delivery() == 0


def test_one_answer_begins_the_five_days_anew(clock: Clock, network: Network) -> None:
    webhook = factories.webhook()
    for day in range(8):
        factories.webhook_delivery(webhook)
        network.answer = Answer(204, b"") if day == 4 else NotPosted("away")
        send_until(clock, timedelta(days=day + 1))
    assert Webhook.objects.get().is_on


def test_a_dead_receiver_does_not_hold_up_another(clock: Clock, network: Network) -> None:
    dead, alive = factories.webhook("dead", address="https://dead.example"), factories.webhook("alive")
    for _ in range(3):
        factories.webhook_delivery(dead)
    while module.send_due_delivery():
        pass
    clock.wait(timedelta(hours=1))
    factories.webhook_delivery(alive)
    module.send_due_delivery()
    assert network.sent[-1][1] == alive.address


def test_the_newest_deliveries_are_kept(
    clock: Clock, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "KEPT", 3)
    network.answer = Answer(204, b"")
    webhook = factories.webhook()
    rows = [factories.webhook_delivery(webhook).pk for _ in range(6)]
    send_until(clock, timedelta(0))
    assert sorted(WebhookDelivery.objects.values_list("pk", flat=True)) == rows[3:]


def test_another_key_of_the_server_sends_nothing_and_says_so(
    clock: Clock, network: Network, settings: Settings
) -> None:
    delivery = factories.webhook_delivery(factories.webhook())
    settings.SECRET_KEY = "another key " * 5
    module.send_due_delivery()
    row = stored(delivery)
    assert (row.webhook.is_on, row.webhook.off_reason, network.sent) == (False, module.OTHER_KEY, [])


def test_the_own_network_is_not_asked(receiver: Receiver, settings: Settings) -> None:
    settings.DOWNLOAD_PRIVATE = False
    plain = factories.webhook_delivery(factories.webhook("plain", address=receiver.url))
    safe = factories.webhook("safe", address=receiver.url.replace("http:", "https:"))
    encrypted = factories.webhook_delivery(safe)
    module.send_all_due()
    assert receiver.asked == []
    assert stored(plain).error == "the address does not begin with https://"
    assert stored(encrypted).error == "127.0.0.1 is no public machine"


def test_workers_look_often_while_a_message_is_due_soon(clock: Clock, network: Network) -> None:
    assert not module.has_due_soon()
    delivery = factories.webhook_delivery(factories.webhook())
    for expected in (True, True, False):  # after 0 s, 5 s and 30 s; then the wait is 2 min
        module.send_due_delivery()
        assert module.has_due_soon() is expected
        clock.now = stored(delivery).due_at
    assert not worker.has_queued_work(), "commands that wait for work don't wait for receivers"


@pytest.mark.django_db(transaction=True)
def test_what_one_connection_writes_another_sends(receiver: Receiver, tools_with: Make) -> None:
    tools, _ = tools_with()
    factories.webhook(address=receiver.url)
    build = factories.opened()

    def work() -> None:
        try:
            worker.drain_queue("notices", tools)
        finally:
            connection.close()

    worker.close_build(build, Build.State.DONE)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join(60)
    assert len(receiver.asked) == 1
    assert WebhookDelivery.objects.get().state == "sent"
