"""A server process as people start it, in a scratch database, and clients that time each answer it gives."""

from __future__ import annotations

import http.client
import os
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client as Browser

from bench.measure.scratch_database import Scratch
from bench.pipeline.processes import Process, start_child_process

PATIENCE_SECONDS: Final = 60.0
TOKEN: Final = "b" * 32
READY: Final = "/login/"


class Failed(Exception):
    """An answer was not what a browser would go on with; the message says which."""


@dataclass(frozen=True)
class Answer:
    """One answer: `seconds` from the first byte sent to the last one read."""

    status: int
    place: str
    text: str
    seconds: float


@dataclass
class Client:
    """A signed-in person's keep-alive connection."""

    port: int
    session: str
    connection: http.client.HTTPConnection = field(init=False)

    def __post_init__(self) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def get(self, path: str, expected: tuple[int, ...] = (200,)) -> Answer:
        """Raises Failed where the answer has another status."""
        return self.ask("GET", path, None, expected)

    def post(self, path: str, values: Mapping[str, str], expected: tuple[int, ...] = (302,)) -> Answer:
        """The same."""
        return self.ask("POST", path, urlencode(values), expected)

    def ask(self, method: str, path: str, body: str | None, expected: tuple[int, ...]) -> Answer:
        began = time.perf_counter()
        answer = self.sent(method, path, body)
        text = answer.read()
        seconds = time.perf_counter() - began
        if answer.status not in expected:
            raise Failed(f"{method} {path} answers {answer.status}: {text[:300]!r}")
        return Answer(answer.status, answer.getheader("Location", ""), text.decode(), seconds)

    def sent(self, method: str, path: str, body: str | None) -> http.client.HTTPResponse:
        """As browsers do: a connection that the server closed while it was idle is made again for a GET."""
        for last in (method != "GET", True):
            try:
                self.connection.request(method, path, body, self.headers(body))
                return self.connection.getresponse()
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                self.connection.close()
                if last:
                    raise
        raise AssertionError("the last try returns or raises")

    def headers(self, body: str | None) -> dict[str, str]:
        known = {"Cookie": f"sessionid={self.session}; csrftoken={TOKEN}"}
        typed = {"X-CSRFToken": TOKEN, "Content-Type": "application/x-www-form-urlencoded"}
        return known if body is None else {**known, **typed}

    def close(self) -> None:
        self.connection.close()


def session_of(user: User) -> str:
    """A session in which the person is signed in; in the database that is entered."""
    browser = Browser()
    browser.force_login(user)
    return browser.cookies["sessionid"].value


def path_of(place: str) -> str:
    """Where a redirect leads, without its host."""
    parts = urlsplit(place)
    return parts.path + (f"?{parts.query}" if parts.query else "")


@contextmanager
def run_scratch_server(scratch: Scratch) -> Iterator[int]:
    """`manage.py serve` without workers until the block ends; gives its port. Raises RuntimeError."""
    with run_server_with_workers(scratch) as (_, port):
        yield port


@contextmanager
def run_server_with_workers(scratch: Scratch, workers: bool = False) -> Iterator[tuple[Process, int]]:
    """The same with its process, and beside it workers where they are wanted. Raises RuntimeError."""
    port = free_port()
    command = [sys.executable, "-c", SERVE, str(settings.BASE_DIR / "manage.py"), str(port)]
    command += [] if workers else ["--no-workers"]
    # Sessions that this process opens are good for the other one.
    environment = scratch.environment(
        DJANGO_SETTINGS_MODULE="cosqa_site.settings", COSQA_SECRET_KEY=settings.SECRET_KEY
    )
    with start_child_process(command, environment) as process:
        wait_for(process, port)
        yield process, port


SERVE: Final = """
import os, sys, threading
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
from django.core.management import execute_from_command_line
execute_from_command_line([sys.argv[1], "serve", "--port", *sys.argv[2:]])
"""
"""It ends with this process, whose pipe it reads."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(process: Process, port: int) -> None:
    """Until it answers; the first requests, which load what later ones have, are not measured."""
    ends = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < ends and process.poll() is None:
        probe = Client(port, "")
        try:
            probe.get(READY)
        except (OSError, http.client.HTTPException):
            time.sleep(0.2)
        else:
            return
        finally:
            probe.close()
    raise RuntimeError(f"the server did not answer within {PATIENCE_SECONDS:.0f} s; process {os.getpid()}")
