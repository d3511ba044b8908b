"""Webhooks: make and list them, switch one off, delete it, send a test, see its deliveries. For admins."""

from __future__ import annotations

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Path, Query, Router, Status

from annotation.accounts.roles import Role
from annotation.api.shared import visible
from annotation.api.shared.auth import signed_in
from annotation.api.shared.form_refusals import form_values, refuse_invalid
from annotation.jobs.webhook_delivery import switch_webhook
from annotation.models import Webhook, WebhookDelivery
from annotation.schemas.project.webhooks import (
    WebhookDeliveryOut,
    WebhookIn,
    WebhookMade,
    WebhookOut,
    WebhookSwitch,
)
from annotation.web.webhooks.control import (
    WebhookForm,
    delete_webhook,
    order_delivery_again,
    order_test,
)
from retrieval.schemas import LARGEST_ID, Id, Page, Paging

router = Router(tags=["webhooks"], auth=signed_in(Role.ADMIN))


@router.get("", response=Page[WebhookOut])
def list_webhooks(request: HttpRequest, wanted: Query[Paging]) -> Page[Webhook]:
    """All webhooks, the newest first."""
    return wanted.page(Webhook.objects.filter(pk__lt=wanted.after or LARGEST_ID).order_by("-pk"))


@router.post("", response={201: WebhookMade})
def make_webhook(request: HttpRequest, wanted: WebhookIn) -> Status[WebhookMade]:
    """Make a webhook. The answer alone has its secret."""
    form = WebhookForm(form_values(wanted.dict()))
    refuse_invalid(form)
    webhook, secret = form.make(visible.caller(request))
    return Status(201, WebhookMade.of(webhook, secret=secret))


@router.get("/{int:pk}", response=WebhookOut)
def get_webhook(request: HttpRequest, pk: Path[Id]) -> Webhook:
    """One webhook."""
    return get_object_or_404(Webhook, pk=pk)


@router.post("/{int:pk}/switch", response=WebhookOut)
def set_webhook(request: HttpRequest, pk: Path[Id], wanted: WebhookSwitch) -> Webhook:
    """Switch a webhook off, which gives up what waits for it, or on."""
    webhook = get_object_or_404(Webhook, pk=pk)
    switch_webhook(webhook, visible.caller(request), on=wanted.on)
    webhook.refresh_from_db()
    return webhook


@router.post("/{int:pk}/delete", response={204: None})
def remove_webhook(request: HttpRequest, pk: Path[Id]) -> Status[None]:
    """Delete a webhook with its deliveries."""
    delete_webhook(get_object_or_404(Webhook, pk=pk), visible.caller(request))
    return Status(204, None)


@router.post("/{int:pk}/test", response={201: WebhookDeliveryOut})
def send_webhook_test(request: HttpRequest, pk: Path[Id]) -> Status[WebhookDelivery]:
    """Have a worker send a test: look at the deliveries to see what came of it."""
    return Status(201, order_test(get_object_or_404(Webhook, pk=pk)))


@router.get("/{int:pk}/deliveries", response=Page[WebhookDeliveryOut])
def list_deliveries(request: HttpRequest, pk: Path[Id], wanted: Query[Paging]) -> Page[WebhookDelivery]:
    """What a webhook was told, the newest first; the last 200 that are over are kept."""
    webhook = get_object_or_404(Webhook, pk=pk)
    return wanted.page(webhook.deliveries.filter(pk__lt=wanted.after or LARGEST_ID).order_by("-pk"))


@router.post("/{int:pk}/deliveries/{int:delivery}/again", response=WebhookDeliveryOut)
def send_delivery_again(request: HttpRequest, pk: Path[Id], delivery: Path[Id]) -> WebhookDelivery:
    """Have a message sent again, with the same id."""
    rows = WebhookDelivery.objects.select_related("webhook")
    row = get_object_or_404(rows, pk=delivery, webhook=pk)
    order_delivery_again(row)
    row.refresh_from_db()
    return row
