"""How long an admin's pages take, with and without a build at full speed behind them."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.consumers import LOOK, changed
from cosqa_site.benches.clock import latencies, median_and_p95
from cosqa_site.benches.pipeline_processes import Process, held
from cosqa_site.benches.seeding import ADMIN

TIMES: Final = 10
"""Looks at each page in one turn."""
SETTLING_SECONDS: Final = 0.5
"""What waited while the workers were held is done with after that."""
EVENT_SECONDS: Final = 3.0
Looks = dict[str, list[float]]
Shown = Mapping[str, Mapping[str, float]]


def pages(build: int, processes: Sequence[Process], turns: int) -> tuple[Shown, Shown]:
    """Milliseconds (median, p95) of an admin's pages while the processes are held, and while they run.

    In turns, with the same build in the same state: what differs is what runs beside the page.
    """
    look = partial(looks, viewer(), addresses(build))
    look()
    idle: Looks = defaultdict(list)
    busy: Looks = defaultdict(list)
    for _ in range(turns):
        with held(processes):
            look(idle)
        time.sleep(SETTLING_SECONDS)
        look(busy)
    return told(idle), told(busy)


def viewer() -> Client:
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(User.objects.get(username=ADMIN))
    return client


def addresses(build: int) -> dict[str, str]:
    return {"dashboard": reverse("dashboard"), "build": reverse("build", args=[build])}


def looks(client: Client, urls: Mapping[str, str], found: Looks | None = None) -> None:
    """One turn; without `found` it only warms the page up."""
    for name, url in urls.items():
        seconds = latencies(partial(show, client, url), TIMES)
        if found is not None:
            found[name].extend(seconds)


def told(found: Looks) -> Shown:
    return {name: {**median_and_p95(seconds), "looks": len(seconds)} for name, seconds in found.items()}


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
