"""How long an admin's pages take alone, beside a build at full speed, and beside a loop as busy as it."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client
from django.urls import reverse

from bench.measure.clock import measure_latencies, median_and_p95
from bench.pipeline.processes import Process, plain_loop, suspend_processes
from bench.seed.database import ADMIN
from cosqa_site.asgi import application

TIMES: Final = 10
"""Looks at each page in one turn."""
SETTLING_SECONDS: Final = 0.5
"""What waited while the workers were held is done with after that."""
EVENT_SECONDS, PATIENCE_SECONDS = 3.0, 30
IDLE, LOOP, BUSY = "milliseconds_idle", "milliseconds_beside_a_loop", "milliseconds_busy"
Looks = dict[str, list[float]]
Shown = Mapping[str, Mapping[str, float]]


def measure_admin_pages(
    build: int, processes: Sequence[Process], turns: int, share: float
) -> dict[str, Shown]:
    """Milliseconds (median, p95) of an admin's pages alone, beside a loop that keeps `share` of a processor
    busy and asks nobody for anything, and beside the processes.

    In turns, with the same build in the same state: what differs is what runs beside the page. What the loop
    costs a page is the machine's; what the processes cost beyond that is theirs.
    """
    look = partial(time_admin_pages, create_admin_client(), list_admin_addresses(build))
    look()
    found: dict[str, Looks] = {state: defaultdict(list) for state in (IDLE, LOOP, BUSY)}
    with plain_loop(share) as loop:
        for _ in range(turns):
            with suspend_processes([*processes, loop]):
                look(found[IDLE])
            with suspend_processes(processes):
                look(found[LOOP])
            with suspend_processes([loop]):
                time.sleep(SETTLING_SECONDS)
                look(found[BUSY])
    return {state: summarize_admin_looks(seen) for state, seen in found.items()}


def create_admin_client() -> Client:
    client = Client(headers={"host": "127.0.0.1"})
    client.force_login(User.objects.get(username=ADMIN))
    return client


def list_admin_addresses(build: int) -> dict[str, str]:
    return {"dashboard": reverse("dashboard"), "build": reverse("build", args=[build])}


def time_admin_pages(client: Client, urls: Mapping[str, str], found: Looks | None = None) -> None:
    """One turn; without `found` it only warms the page up."""
    for name, url in urls.items():
        seconds = measure_latencies(partial(fetch_admin_page, client, url), TIMES)
        if found is not None:
            found[name].extend(seconds)


def summarize_admin_looks(found: Looks) -> Shown:
    return {name: {**median_and_p95(seconds), "looks": len(seconds)} for name, seconds in found.items()}


def fetch_admin_page(client: Client, url: str) -> None:
    """Raises RuntimeError unless the page is there."""
    answer = client.get(url)
    if answer.status_code != 200:
        raise RuntimeError(f"{url} answers {answer.status_code}")


def events_a_second(build: int) -> float:
    """How often a viewer's page of a running build is changed: by what its websocket sends, at its own pace.

    Raises RuntimeError where it is refused, or where the build does not change.
    """
    cookie = create_admin_client().cookies["sessionid"].value
    return asyncio.run(counted_events(f"/ws/builds/{build}/", cookie))


async def counted_events(path: str, cookie: str) -> float:
    """Events a second of the application that the server serves, as a browser with this session gets them."""
    headers = [(b"host", b"127.0.0.1"), (b"origin", b"http://127.0.0.1")]
    headers.append((b"cookie", f"sessionid={cookie}".encode()))
    scope = {"type": "websocket", "path": path, "query_string": b"", "headers": headers, "subprotocols": []}
    socket: Any = ApplicationCommunicator(application, scope)  # type: ignore[no-untyped-call]  # asgiref
    try:
        await socket.send_input({"type": "websocket.connect"})
        if (await socket.receive_output(PATIENCE_SECONDS))["type"] != "websocket.accept":
            raise RuntimeError(f"{path} was refused")
        await the_next(socket)  # the page as it is, no change
        began, sent = time.perf_counter(), 0
        while (left := EVENT_SECONDS - (time.perf_counter() - began)) > 0:
            if await socket.receive_nothing(left):
                continue
            await the_next(socket)
            sent += 1
        seconds = time.perf_counter() - began
        await socket.send_input({"type": "websocket.disconnect", "code": 1000})
        await socket.wait(PATIENCE_SECONDS)
    finally:
        await sync_to_async(connections.close_all)()
    if not sent:
        raise RuntimeError(f"{path} sent nothing of a build at work")
    return round(sent / seconds, 2)


async def the_next(socket: Any) -> None:
    """Raises RuntimeError unless it is a fragment."""
    event = await socket.receive_output(PATIENCE_SECONDS)
    if event["type"] != "websocket.send":
        raise RuntimeError(f"the websocket of a build's page was closed: {event}")
