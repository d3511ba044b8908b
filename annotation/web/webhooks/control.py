"""Make a webhook, delete it, send a test, send a message again: what admins do on its page and by the API."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlsplit

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.models import Webhook, WebhookDelivery
from annotation.studies.audit_log import Verb, append_audit_event
from annotation.webhooks.outbox import TEST, write_delivery
from annotation.webhooks.signature import derive_secret, draw_salt, hash_secret
from retrieval.texts.hostile import mark_hostile_characters

MOST_WEBHOOKS: Final = 20
SPELLED: Final = re.compile(r"[!-~]+")


class WebhookRefused(Exception):
    """The webhook is in no state for this; the message says what to do first."""


class WebhookForm(forms.Form):
    """A new webhook. Where its address leads is judged by the worker that sends to it."""

    name = forms.CharField(max_length=80, label="Name", help_text="What listens there, such as chat.")
    address = forms.CharField(
        max_length=500,
        label="Address",
        help_text="https://… of a public server.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    events = forms.MultipleChoiceField(
        choices=Webhook.Event.choices,
        initial=Webhook.Event.values,
        label="Events",
        widget=forms.CheckboxSelectMultiple,
    )

    def clean_name(self) -> str:
        name = mark_hostile_characters(self.cleaned_data["name"]).strip()
        if Webhook.objects.filter(name=name).exists():
            raise forms.ValidationError("There is a webhook of this name: choose another name.")
        return name

    def clean_address(self) -> str:
        address: str = self.cleaned_data["address"]
        try:
            parts = urlsplit(address)
            is_spelled = bool(parts.hostname) and parts.port != 0 and SPELLED.fullmatch(address)
        except ValueError:
            is_spelled = False
        schemes = ("https", "http") if settings.DOWNLOAD_PRIVATE else ("https",)
        if not is_spelled or parts.scheme not in schemes or "#" in address:
            raise forms.ValidationError("Expected https://…, without blanks.")
        if "@" in parts.netloc:
            raise forms.ValidationError("Leave out the name or password in it: others would see it.")
        return address

    def clean(self) -> dict[str, Any]:
        if Webhook.objects.count() >= MOST_WEBHOOKS:
            self.add_error(None, f"There are {MOST_WEBHOOKS} webhooks: delete one first.")
        return self.cleaned_data

    def make(self, by: User) -> tuple[Webhook, str]:
        """The webhook of a valid form, and its secret."""
        values, salt = self.cleaned_data, draw_salt()
        secret = derive_secret(salt)
        with transaction.atomic():
            webhook = Webhook.objects.create(salt=salt, digest=hash_secret(secret), created_by=by, **values)
            detail = {"host": urlsplit(webhook.address).hostname, "events": webhook.events}
            append_audit_event(by, Verb.WEBHOOK_MADE, f"webhook {webhook.name}", detail=detail)
        return webhook, secret


def delete_webhook(webhook: Webhook, by: User) -> None:
    """Delete it with its deliveries; its name stays in the audit log."""
    with transaction.atomic():
        append_audit_event(by, Verb.WEBHOOK_DELETED, f"webhook {webhook.name}")
        webhook.delete()


def order_test(webhook: Webhook) -> WebhookDelivery:
    """Have a test sent, which says nothing but the webhook's name. Raises WebhookRefused."""
    refuse_switched_off(webhook)
    return write_delivery(webhook, TEST, {"webhook": {"name": webhook.name}})


def order_delivery_again(delivery: WebhookDelivery) -> None:
    """Have a message sent at once, with its id, and tried as often as a new one. Raises WebhookRefused."""
    refuse_switched_off(delivery.webhook)
    rows = WebhookDelivery.objects.filter(pk=delivery.pk)
    rows.update(state=WebhookDelivery.State.WAITING, tries=0, due_at=timezone.now())


def refuse_switched_off(webhook: Webhook) -> None:
    if not webhook.is_on:
        raise WebhookRefused("The webhook is off: switch it on first.")
