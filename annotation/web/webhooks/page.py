"""The pages of webhooks: all of them, and one with what it was told."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from django.db.models import OuterRef, Subquery
from django.http import QueryDict

from annotation.models import Webhook, WebhookDelivery
from annotation.web.shared.pagination import Window, load_page_window

PAGE_SIZE: Final = 50


def webhooks_page() -> dict[str, Any]:
    """All webhooks by name, each with what came of its last delivery."""
    newest = WebhookDelivery.objects.filter(webhook=OuterRef("pk")).order_by("-pk")
    rows = Webhook.objects.annotate(last_state=Subquery(newest.values("state")[:1]))
    rows = rows.annotate(last_at=Subquery(newest.values("created_at")[:1]))
    return {"webhooks": [{"row": row, "host": urlsplit(row.address).netloc} for row in rows]}


def webhook_page(webhook: Webhook, params: QueryDict) -> dict[str, Any]:
    """One webhook, and its deliveries, the newest first."""
    found: Window[WebhookDelivery] = load_page_window(
        webhook.deliveries.defer("body"), ("-pk",), params, PAGE_SIZE
    )
    return {
        "webhook": webhook,
        "events": [Webhook.Event(event).label for event in webhook.events if event in Webhook.Event],
        "deliveries": found.rows,
        "previous": found.previous,
        "next": found.next,
    }
