"""Send what waits for webhooks: signed, tried again with growing waits, at least once with the same id.

A try is leased: where its worker dies, another one sends the same message again.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from annotation.builds.pipeline.llm_calls import no_connection
from annotation.models import Webhook, WebhookDelivery
from annotation.studies.audit_log import Verb, Who, append_audit_event
from annotation.webhooks.signature import find_secret, sign_message
from retrieval.sources.web.post import Answer, NotPosted, post_bytes
from retrieval.texts.hostile import mark_hostile_characters

WAITS: Final = (
    timedelta(seconds=5),
    timedelta(seconds=30),
    timedelta(minutes=2),
    timedelta(minutes=10),
    timedelta(hours=1),
    timedelta(hours=6),
    timedelta(days=1),
)
"""After each failed try; the one after the last wait is the last try."""
LEASE: Final = timedelta(minutes=1)
"""No try takes so long: its worker died."""
SOON: Final = timedelta(minutes=1)
OFF_AFTER: Final = timedelta(days=5)
"""A webhook to which nothing arrived for so long is switched off when the next message is given up."""
KEPT: Final = 200
"""Deliveries of a webhook that are over."""
GONE: Final = 410
"""The answer by which a receiver asks for no more."""
LONGEST_WORDS: Final = 300
OTHER_KEY: Final = "The server’s key has changed, and the secret with it. Make a new webhook."
State = WebhookDelivery.State


def send_due_delivery() -> int:
    """Try one message that is due; returns 0 where none is. Raises nothing for a receiver's sake."""
    now = timezone.now()
    due = find_due_deliveries(now).select_related("webhook")
    delivery = due.order_by("tries", "due_at", "pk").first()  # a dead receiver does not hold up the others
    if delivery is None or not lease_delivery(delivery, now):
        return 0
    secret = find_secret(delivery.webhook.salt, delivery.webhook.digest)
    if secret is None:
        switch_webhook(delivery.webhook, None, OTHER_KEY)
        return 1
    try:
        with no_connection():
            answer = post_delivery(delivery, secret, now)
    except NotPosted as why:
        record_failure(delivery, str(why))
    else:
        record_answer(delivery, answer)
    remove_old_deliveries(delivery.webhook)
    return 1


def find_due_deliveries(until: datetime) -> QuerySet[WebhookDelivery]:
    """What is to be sent by then, of webhooks that are on."""
    return WebhookDelivery.objects.filter(state=State.WAITING, due_at__lte=until, webhook__is_on=True)


def has_due_soon() -> bool:
    """Whether a message is due within a minute: workers look for it meanwhile."""
    return find_due_deliveries(timezone.now() + SOON).exists()


def send_all_due() -> None:
    """Try each message once that is due now: for whoever is about to end."""
    for _ in range(find_due_deliveries(timezone.now()).count()):
        send_due_delivery()


def lease_delivery(delivery: WebhookDelivery, now: datetime) -> bool:
    """Make the try this worker's until its lease ends."""
    mine = WebhookDelivery.objects.filter(pk=delivery.pk, state=State.WAITING, due_at=delivery.due_at)
    taken = mine.update(tries=F("tries") + 1, tried_at=now, due_at=now + LEASE)
    delivery.tries += taken
    return bool(taken)


def post_delivery(delivery: WebhookDelivery, secret: str, now: datetime) -> Answer:
    """Post the message, signed as at `now`. Raises NotPosted."""
    body, timestamp = delivery.body.encode(), int(now.timestamp())
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "CoSQA-Workbench",
        "webhook-id": delivery.message,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": sign_message(secret, delivery.message, timestamp, body),
    }
    return post_bytes(delivery.webhook.address, body, headers, public=not settings.DOWNLOAD_PRIVATE)


def record_answer(delivery: WebhookDelivery, answer: Answer) -> None:
    """Note that the message arrived, or why it did not."""
    text = mark_hostile_characters(answer.body.decode(errors="replace"))[:LONGEST_WORDS]
    if not 200 <= answer.status < 300:
        record_failure(delivery, f"The answer was {answer.status}.", answer.status, text)
        if answer.status == GONE:
            switch_webhook(delivery.webhook, None, "The receiver answered 410: it wants no more.")
        return
    mine = WebhookDelivery.objects.filter(pk=delivery.pk)  # it arrived, whatever was said of it meanwhile
    mine.update(state=State.SENT, status=answer.status, answer=text, error="")
    Webhook.objects.filter(pk=delivery.webhook_id, failing_since__isnull=False).update(failing_since=None)


def record_failure(
    delivery: WebhookDelivery, error: str, status: int | None = None, answer: str = ""
) -> None:
    """Have it tried again after a while, or give it up after the last wait."""
    over, now = delivery.tries > len(WAITS), timezone.now()
    # A late worker's failure says nothing where another one has tried meanwhile.
    mine = WebhookDelivery.objects.filter(pk=delivery.pk, state=State.WAITING, tries=delivery.tries)
    mine.update(
        state=State.FAILED if over else State.WAITING,
        due_at=now if over else now + WAITS[delivery.tries - 1],
        status=status,
        answer=answer,
        error=mark_hostile_characters(error)[:LONGEST_WORDS],
    )
    Webhook.objects.filter(pk=delivery.webhook_id, failing_since=None).update(failing_since=now)
    if over and Webhook.objects.filter(pk=delivery.webhook_id, failing_since__lte=now - OFF_AFTER).exists():
        switch_webhook(delivery.webhook, None, f"Nothing arrived for {OFF_AFTER.days} days.")


def switch_webhook(webhook: Webhook, by: Who, off_reason: str = "", *, on: bool = False) -> None:
    """Switch a webhook off, which gives up what waits, or on. `off_reason`: why the workbench does it."""
    rows = Webhook.objects.filter(pk=webhook.pk, is_on=not on)
    with transaction.atomic():
        if not rows.update(is_on=on, off_reason=off_reason, failing_since=None):
            return
        waiting = webhook.deliveries.filter(state=State.WAITING)
        waiting.update(state=State.FAILED, error="The webhook was switched off.")
        detail = {"on": on, "why": off_reason}
        append_audit_event(by, Verb.WEBHOOK_SWITCHED, f"webhook {webhook.name}", detail=detail)


def remove_old_deliveries(webhook: Webhook) -> None:
    """Keep the newest KEPT of those that are over."""
    over = webhook.deliveries.exclude(state=State.WAITING)
    if oldest := list(over.order_by("-pk").values_list("pk", flat=True)[KEPT : KEPT + 1]):
        over.filter(pk__lte=oldest[0]).delete()
