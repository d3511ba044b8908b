"""The call box against the clock: from the form that is sent, by a worker, to the value on the page."""

from __future__ import annotations

import os
import re
import time
from dataclasses import dataclass
from html import unescape
from typing import Final

from django.contrib.auth.models import User

from annotation.accounts.roles import Role
from annotation.models import Build
from bench.measure.clock import median_and_p95
from bench.measure.scratch_database import Scratch
from bench.review.server import (
    PATIENCE_SECONDS,
    Client,
    Failed,
    run_server_with_workers,
    session_of,
)
from bench.seed import database

CALLS: Final = 20
AGAIN: Final = re.compile(r'<div hx-get="([^"]+)" hx-trigger="load')
VALUE: Final = re.compile(r'class="call-value">.*?<code[^>]*>([^<]*)</code>', re.DOTALL)


@dataclass
class CallClient(Client):
    """Sends as the page's script does, which is answered with the value."""

    def headers(self, body: str | None) -> dict[str, str]:
        return {**super().headers(body), "HX-Request": "true"}


def call_box() -> float:
    """p95 in milliseconds of so many calls of one reviewer, in a copy of the small database.

    A server that is started with its workers answers them; builds are paused, so that these do nothing else.
    The first call, for which the sandbox is made ready, is not counted. Raises Failed where one has no value.
    """
    copy = database.prepare_seeded_database("few").copy(f"calls_{os.getpid()}")
    try:
        with copy.entered():
            Build.objects.filter(state=Build.State.RUNNING).update(state=Build.State.PAUSED)
            case = Build.objects.get(name=database.FINISHED).cases.earliest("pk").pk
            session = session_of(load_calling_user())
        return measure_call_seconds(copy, session, f"/review/cases/{case}/call/")
    finally:
        copy.drop()


def load_calling_user() -> User:
    return database.create_seeded_user("bench-caller", Role.EXPERT)


def measure_call_seconds(copy: Scratch, session: str, path: str) -> float:
    with run_server_with_workers(copy, workers=True) as (_, port):
        client = CallClient(port, session)
        try:
            seconds = [time_single_call(client, path, number) for number in range(CALLS + 1)]
        finally:
            client.close()
    return median_and_p95(seconds[1:])["p95"]


def time_single_call(client: Client, path: str, number: int) -> float:
    """Of one call, until its value is on the page, which asks again where it has to. Raises Failed."""
    began = time.perf_counter()
    answer = client.post(path, {"expression": f"{number} + 1000"}, (200,))
    while (again := AGAIN.search(answer.text)) and time.perf_counter() - began < PATIENCE_SECONDS:
        answer = client.get(unescape(again[1]))
    seconds = time.perf_counter() - began
    found = VALUE.search(answer.text)
    if again or found is None or found[1] != str(number + 1000):
        raise Failed(f"the call box shows {found[1] if found else 'no value'!r}, not {number + 1000}")
    return seconds
