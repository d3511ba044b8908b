"""Webhooks by the API: made, listed without their secret, tested, switched, sent again, deleted."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import StoredAnswer, Webhook
from annotation.webhooks.signature import derive_secret
from tests import factories
from tests.calls import get, pages, post, with_token

pytestmark = pytest.mark.django_db
WANTED = {"name": "chat", "address": "https://chat.example/hook", "events": ["build.done"]}


def test_a_webhook_goes_its_whole_way(ada: Client) -> None:
    made = post(ada, "webhooks", WANTED, 201)
    webhook = Webhook.objects.get()
    assert made["secret"] == derive_secret(webhook.salt)
    kept = {name: value for name, value in made.items() if name != "secret"}
    assert get(ada, "webhooks")["items"] == [get(ada, f"webhooks/{webhook.pk}")] == [kept]
    sent = post(ada, f"webhooks/{webhook.pk}/test", {}, 201)
    assert (sent["event"], sent["state"]) == ("webhook.test", "waiting")
    webhook.deliveries.update(state="failed", tries=8, status=500)
    [listed] = get(ada, f"webhooks/{webhook.pk}/deliveries")["items"]
    assert (listed["state"], listed["tries"], listed["status"]) == ("failed", 8, 500)
    again = post(ada, f"webhooks/{webhook.pk}/deliveries/{listed['id']}/again", {})
    assert (again["state"], again["message"], again["tries"]) == ("waiting", sent["message"], 0)
    assert post(ada, f"webhooks/{webhook.pk}/switch", {"on": False})["is_on"] is False
    refused = post(ada, f"webhooks/{webhook.pk}/test", {}, 409)
    assert refused["type"] == "urn:cosqa:webhook-refused"
    assert post(ada, f"webhooks/{webhook.pk}/switch", {"on": True})["is_on"] is True
    assert ada.post(f"/api/webhooks/{webhook.pk}/delete").status_code == 204
    assert not Webhook.objects.exists()


@pytest.mark.parametrize(
    "change",
    [{"address": "http://chat.example"}, {"events": []}, {"events": ["all"]}, {"name": "old"}, {"name": ""}],
)
def test_what_the_form_refuses_is_refused(ada: Client, change: dict[str, object]) -> None:
    factories.webhook("old")
    refused = post(ada, "webhooks", WANTED | change, 422)
    assert refused["type"] == "urn:cosqa:invalid-request"
    assert next(iter(change)) in str(refused["errors"])
    assert Webhook.objects.count() == 1


def test_deliveries_come_in_pages(ada: Client) -> None:
    webhook = factories.webhook()
    rows = [factories.webhook_delivery(webhook).pk for _ in range(5)]
    factories.webhook_delivery(factories.webhook("other"))
    assert [item["id"] for item in pages(ada, f"webhooks/{webhook.pk}/deliveries", 2)] == rows[::-1]


def test_a_secret_is_not_kept_for_a_request_that_is_sent_again() -> None:
    script = with_token(factories.ada())
    answers = [
        script.post(
            "/api/webhooks", WANTED, content_type="application/json", headers={"Idempotency-Key": "once"}
        )
        for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [201, 422]
    assert "choose another name" in answers[1].content.decode()
    assert (StoredAnswer.objects.count(), Webhook.objects.count()) == (0, 1)


@pytest.mark.parametrize("who", ["erin", "ray"])
def test_they_are_for_admins(who: str) -> None:
    script = with_token(getattr(factories, who)())
    webhook = factories.webhook()
    get(script, "webhooks", 403)
    get(script, f"webhooks/{webhook.pk}/deliveries", 403)
    post(script, "webhooks", WANTED, 403)
    post(script, f"webhooks/{webhook.pk}/delete", {}, 403)
