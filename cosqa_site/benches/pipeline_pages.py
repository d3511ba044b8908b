"""How long an admin's pages take, with and without a build at full speed behind them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import partial

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.consumers import LOOK, changed
from cosqa_site.benches.clock import latencies, median_and_p95
from cosqa_site.benches.seeding import ADMIN

TIMES = 20
EVENT_SECONDS = 3.0


def pages(build: int) -> dict[str, Mapping[str, float]]:
    """Milliseconds (median, p95) of the dashboard and of the build's page, one viewer, in this process."""
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(User.objects.get(username=ADMIN))
    addresses = {"dashboard": reverse("dashboard"), "build": reverse("build", args=[build])}
    return {
        name: median_and_p95(latencies(partial(show, client, url), TIMES)) for name, url in addresses.items()
    }


def show(client: Client, url: str) -> None:
    """Raises RuntimeError unless the page is there."""
    answer = client.get(url)
    if answer.status_code != 200:
        raise RuntimeError(f"{url} answers {answer.status_code}")


def events_a_second(build: int) -> float:
    """How often a viewer's page of a running build is changed: the websocket's look, at its own pace."""
    user, known, sent = User.objects.get(username=ADMIN).pk, None, 0
    began = time.perf_counter()
    while time.perf_counter() - began < EVENT_SECONDS:
        change = changed(user, build, known)
        if change is not None:
            known, sent = change["version"], sent + 1
        time.sleep(LOOK)
    return round(sent / (time.perf_counter() - began), 2)
