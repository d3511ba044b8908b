"""Webhooks: make one, see what it was told, send a test, switch it off, delete it. For admins."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache

from annotation.accounts.roles import FORM, GET, POST, Role, require_role
from annotation.jobs.webhook_delivery import switch_webhook
from annotation.models import Webhook, WebhookDelivery
from annotation.web.shared.requests import person, render_form, say_refusals
from annotation.web.webhooks.control import (
    WebhookForm,
    WebhookRefused,
    delete_webhook,
    order_delivery_again,
    order_test,
)
from annotation.web.webhooks.page import webhook_page, webhooks_page


@never_cache
@require_role(Role.ADMIN, FORM)
def index(request: HttpRequest) -> HttpResponse:
    """POST makes a webhook; the answer alone shows its secret, which is stored nowhere."""
    form = WebhookForm(request.POST if request.method == "POST" else None)
    made, secret = None, ""
    if form.is_valid():
        made, secret = form.make(person(request))
        form = WebhookForm()
    context = {"page": webhooks_page(), "made": made, "secret": secret}
    return render_form(request, "annotation/webhooks/index.html", form, **context)


@require_role(Role.ADMIN, GET)
def detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One webhook and its deliveries."""
    webhook = get_object_or_404(Webhook, pk=pk)
    return render(request, "annotation/webhooks/detail.html", {"page": webhook_page(webhook, request.GET)})


@require_role(Role.ADMIN, POST)
def change_switch(request: HttpRequest, pk: int) -> HttpResponse:
    """Switch it `on` (1), or off (0)."""
    webhook = get_object_or_404(Webhook, pk=pk)
    switch_webhook(webhook, person(request), on=request.POST.get("on") == "1")
    return redirect("webhook", pk)


@require_role(Role.ADMIN, FORM)
def ask_and_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """GET asks, POST deletes."""
    webhook = get_object_or_404(Webhook, pk=pk)
    if request.method != "POST":
        return render(request, "annotation/webhooks/delete.html", {"webhook": webhook})
    delete_webhook(webhook, person(request))
    messages.success(request, f"The webhook “{webhook.name}” is deleted.")
    return redirect("webhooks")


@require_role(Role.ADMIN, POST)
def send_test(request: HttpRequest, pk: int) -> HttpResponse:
    """Have a worker send a test."""
    webhook = get_object_or_404(Webhook, pk=pk)
    with say_refusals(request, WebhookRefused):
        order_test(webhook)
        messages.success(request, "A worker sends the test now: reload the page to see what came of it.")
    return redirect("webhook", pk)


@require_role(Role.ADMIN, POST)
def send_again(request: HttpRequest, pk: int, delivery: int) -> HttpResponse:
    """Have a worker send a message again."""
    row = get_object_or_404(WebhookDelivery.objects.select_related("webhook"), pk=delivery, webhook=pk)
    with say_refusals(request, WebhookRefused):
        order_delivery_again(row)
        messages.success(request, "A worker sends it again now: reload the page to see what came of it.")
    return redirect("webhook", pk)
