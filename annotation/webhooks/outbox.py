"""What webhooks are told is written here, in the transaction of what it tells; workers send it.

So no event is lost where a process is killed, and none is told of what was rolled back. A body has names
and counts of pairs alone: no text of a query, function or reply, no label and no verdict.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from django.urls import reverse
from django.utils import timezone

from annotation.models import Build, Study, Webhook, WebhookDelivery

VERSION: Final = 1
"""Of the body; it grows where a field goes or changes its meaning."""
MOST_WAITING: Final = 1000
"""Deliveries of one webhook; what comes on top is kept as failed, so that an admin sees it."""
TEST: Final = "webhook.test"
Event = Webhook.Event


def announce_build(build: Build, event: Webhook.Event) -> None:
    """Tell webhooks of a build's new state; call it in the transaction of the change, after it."""
    webhooks = find_listeners(event)
    if not webhooks:
        return
    row = Build.objects.select_related("tally").get(pk=build.pk)
    data = {
        "id": row.pk,
        "name": row.name,
        "address": build_page_address("build", row.pk),
        "state": row.state,
        "waits_for": row.waits_for if row.state == Build.State.WAITING else "",
        "cases": row.tally.total,
        "settled": row.tally.settled,
        "abandoned": row.tally.abandoned,
    }
    for webhook in webhooks:
        write_delivery(webhook, event, {"build": data})


def announce_study(study: Study, event: Webhook.Event) -> None:
    """The same of a study."""
    webhooks = find_listeners(event)
    if not webhooks:
        return
    data = {
        "id": study.pk,
        "name": study.name,
        "address": build_page_address("study", study.pk),
        "state": study.state,
        "pairs": study.pairs.filter(planted="").count(),
        "raters": study.enrolments.count(),
    }
    for webhook in webhooks:
        write_delivery(webhook, event, {"study": data})


def find_listeners(event: Webhook.Event) -> list[Webhook]:
    """The webhooks that are on and told of `event`."""
    return [webhook for webhook in Webhook.objects.filter(is_on=True) if event in webhook.events]


def write_delivery(webhook: Webhook, event: str, data: Mapping[str, Any]) -> WebhookDelivery:
    """One message for a worker to send, with its id."""
    now, message = timezone.now(), f"msg_{secrets.token_hex(12)}"
    told = {"type": event, "timestamp": now.isoformat(), "version": VERSION, "id": message, "data": data}
    waiting = webhook.deliveries.filter(state=WebhookDelivery.State.WAITING).count()
    columns = {"message": message, "event": str(event), "body": json.dumps(told), "due_at": now}
    if waiting >= MOST_WAITING:
        columns |= {"state": WebhookDelivery.State.FAILED, "error": f"{MOST_WAITING:,} others waited."}
    return WebhookDelivery.objects.create(webhook=webhook, **columns)


def build_page_address(route: str, pk: int) -> str:
    """The page of a row, at the first origin that is trusted; its path alone where there is none."""
    origin = settings.CSRF_TRUSTED_ORIGINS[0].rstrip("/") if settings.CSRF_TRUSTED_ORIGINS else ""
    # A worker's thread answers no request, which would have said the prefix.
    return origin + settings.PREFIX + reverse(route, args=[pk]).removeprefix(settings.PREFIX)
