"""Webhooks on pages, for admins: made with a secret that is shown once, tested, switched off, deleted."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from annotation.jobs import webhook_delivery
from annotation.models import AuditEvent, Webhook, WebhookDelivery
from annotation.web.webhooks import control
from annotation.webhooks.signature import derive_secret, hash_secret
from tests import factories

pytestmark = pytest.mark.django_db
PAGE = "/webhooks/"
WANTED = {
    "name": "chat",
    "address": "https://chat.example/hook?key=x",
    "events": ["build.done", "study.done"],
}


def test_a_secret_is_shown_once_and_stored_nowhere(ada: Client, caplog: pytest.LogCaptureFixture) -> None:
    answer = ada.post(PAGE, WANTED)
    [secret] = re.findall(r'id="webhook-secret">(whsec_[\w+/=]+)<', answer.content.decode())
    assert "no-store" in answer["Cache-Control"]
    webhook = Webhook.objects.get()
    assert derive_secret(webhook.salt) == secret
    assert webhook.digest == hash_secret(secret)
    assert (webhook.events, webhook.is_on, webhook.created_by) == (WANTED["events"], True, factories.ada())
    factories.webhook_delivery(webhook)
    paths = (PAGE, f"{PAGE}{webhook.pk}/", "/audit/", f"/admin/annotation/webhook/{webhook.pk}/change/")
    key = secret.removeprefix("whsec_")
    for path in paths:
        page = ada.get(path)
        assert page.status_code == 200
        for hidden in (key, webhook.salt, webhook.digest):
            assert hidden not in page.content.decode(), path
    for table in (Webhook, WebhookDelivery, AuditEvent):
        assert key not in str(list(table.objects.values()))
    assert key not in caplog.text


def test_it_is_in_the_audit_log_without_the_whole_address(ada: Client) -> None:
    ada.post(PAGE, WANTED)
    pk = Webhook.objects.get().pk
    ada.post(f"{PAGE}{pk}/switch/", {"on": "0"})
    ada.post(f"{PAGE}{pk}/switch/", {"on": "0"})
    ada.post(f"{PAGE}{pk}/delete/")
    rows = AuditEvent.objects.filter(verb__startswith="webhook").order_by("pk")
    assert [row.verb for row in rows] == ["webhook made", "webhook switched", "webhook deleted"]
    assert {row.user for row in rows} == {factories.ada()}
    assert rows[0].detail == {"host": "chat.example", "events": WANTED["events"]}
    assert not Webhook.objects.exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": ""}, "required"),
        ({"name": "old"}, "choose another name"),
        ({"events": []}, "required"),
        ({"events": ["build.exploded"]}, "not one of the available choices"),
        ({"address": "http://chat.example/"}, "Expected https"),
        ({"address": "ftp://chat.example/"}, "Expected https"),
        ({"address": "https://"}, "Expected https"),
        ({"address": "https://chat.example:99999/"}, "Expected https"),
        ({"address": "https://chat.example/a b"}, "Expected https"),
        ({"address": "https://chat.example/\r\nHost: x"}, "Expected https"),
        ({"address": "https://[::1"}, "Expected https"),
        ({"address": "https://me:word@chat.example/"}, "Leave out the name or password"),
        ({"address": "https://chat.example/" + "x" * 500}, "at most 500"),
    ],
)
def test_a_wrong_order_makes_nothing(ada: Client, changes: dict[str, object], said: str) -> None:
    factories.webhook("old")
    answer = ada.post(PAGE, WANTED | changes)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert Webhook.objects.count() == 1


def test_http_is_taken_where_private_addresses_are(ada: Client, settings: Settings) -> None:
    settings.DOWNLOAD_PRIVATE = True
    assert ada.post(PAGE, WANTED | {"address": "http://chat.local/"}).status_code == 200


def test_there_are_not_more_than_twenty(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "MOST_WEBHOOKS", 1)
    factories.webhook("old")
    assert "delete one first" in ada.post(PAGE, WANTED).content.decode()


def test_what_comes_back_is_shown_escaped(ada: Client) -> None:
    webhook = factories.webhook("<i>chat")
    told = {
        "status": 500,
        "answer": "<script>x</script>",
        "error": "<b>",
        "tries": 2,
        "tried_at": timezone.now(),
    }
    factories.webhook_delivery(webhook, state="waiting", **told)
    page = ada.get(f"{PAGE}{webhook.pk}/").content.decode()
    for hostile in ("<script>x", "<b>", "<i>chat"):
        assert hostile not in page
    for shown in ("&lt;script&gt;x", "2 tries", "webhook.test"):
        assert shown in page
    assert "&lt;i&gt;chat" in ada.get(PAGE).content.decode()


def test_a_test_is_written_for_a_worker(ada: Client) -> None:
    webhook = factories.webhook()
    page = ada.post(f"{PAGE}{webhook.pk}/test/", follow=True).content.decode()
    assert "A worker sends the test now" in page
    [row] = webhook.deliveries.all()
    assert (row.event, row.state, row.tries) == ("webhook.test", "waiting", 0)


def test_a_message_is_sent_again_with_its_id(ada: Client) -> None:
    webhook = factories.webhook()
    row = factories.webhook_delivery(webhook, state="failed", tries=8)
    ada.post(f"{PAGE}{webhook.pk}/deliveries/{row.pk}/again/")
    [again] = webhook.deliveries.all()
    assert (again.message, again.state, again.tries) == (row.message, "waiting", 0)
    assert again.due_at <= timezone.now()
    other = factories.webhook("other")
    assert ada.post(f"{PAGE}{other.pk}/deliveries/{row.pk}/again/").status_code == 404


def test_the_list_says_what_came_of_the_last_delivery(ada: Client) -> None:
    webhook = factories.webhook()
    assert ">none<" in ada.get(PAGE).content.decode()
    for state, said in (("failed", "failed"), ("waiting", "waiting"), ("sent", "arrived")):
        factories.webhook_delivery(webhook, state=state)
        page = ada.get(PAGE).content.decode()
        assert said in page.split("Last delivery", 1)[1].split("</table>", 1)[0]


def test_one_that_is_off_says_why_and_sends_nothing(ada: Client) -> None:
    webhook = factories.webhook()
    row = factories.webhook_delivery(webhook)
    webhook_delivery.switch_webhook(webhook, None, "Nothing arrived for 5 days.")
    row.refresh_from_db()
    assert (row.state, row.error) == ("failed", "The webhook was switched off.")
    for path in (PAGE, f"{PAGE}{webhook.pk}/"):
        assert "Nothing arrived for 5 days." in ada.get(path).content.decode()
    for path in ("test/", f"deliveries/{row.pk}/again/"):
        assert "switch it on first" in ada.post(f"{PAGE}{webhook.pk}/{path}", follow=True).content.decode()
    ada.post(f"{PAGE}{webhook.pk}/switch/", {"on": "1"})
    webhook.refresh_from_db()
    assert (webhook.is_on, webhook.off_reason, webhook.failing_since) == (True, "", None)


def test_to_delete_is_asked_first(ada: Client) -> None:
    webhook = factories.webhook()
    factories.webhook_delivery(webhook)
    assert "Delete the webhook" in ada.get(f"{PAGE}{webhook.pk}/delete/").content.decode()
    assert Webhook.objects.exists()
    page = ada.post(f"{PAGE}{webhook.pk}/delete/", follow=True).content.decode()
    assert "“chat” is deleted" in page
    assert not WebhookDelivery.objects.exists()


def test_a_long_list_has_pages(ada: Client) -> None:
    webhook = factories.webhook()
    for number in range(60):
        factories.webhook_delivery(webhook, created_at=timezone.now() - timedelta(hours=number))
    page = ada.get(f"{PAGE}{webhook.pk}/").content.decode()
    assert page.count('again/">') == 50
    assert "after=" in page


def test_experts_and_readers_see_none(erin: Client, ray: Client) -> None:
    webhook = factories.webhook()
    for client in (erin, ray):
        assert client.get(PAGE).status_code == 403
        assert client.post(f"{PAGE}{webhook.pk}/delete/").status_code == 403
    assert Webhook.objects.exists()
