"""A keep-alive client on loopback that times each answer, the same one for every tool."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from typing import Any, Final
from urllib.parse import urlencode

from bench.review.server import Answer, Failed

TIMEOUT_SECONDS: Final = 600
POLL_SECONDS: Final = 0.05
DROPPED: Final = (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError)


@dataclass(frozen=True)
class Reply:
    """One answer; `seconds` until its last byte."""

    status: int
    place: str
    body: bytes
    seconds: float

    def json(self) -> Any:
        return json.loads(self.body)

    def page(self) -> Answer:
        """As the benches of our own pages read it."""
        return Answer(self.status, self.place, self.body.decode(), self.seconds)


@dataclass
class Link:
    """A person's connection: keeps cookies, and sends the CSRF token of Django's with what changes things."""

    port: int
    cookies: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    connection: http.client.HTTPConnection = field(init=False)

    def __post_init__(self) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_SECONDS)

    def get(self, path: str, *expected: int) -> Reply:
        """Raises Failed where the status is another one (default: 200)."""
        return self.ask("GET", path, None, "", expected or (200,))

    def send(self, path: str, value: object, *expected: int) -> Reply:
        """POST as JSON; any of 200, 201 and 204 will do where nothing else is said. Raises Failed."""
        return self.ask(
            "POST", path, json.dumps(value).encode(), "application/json", expected or (200, 201, 204)
        )

    def form(self, path: str, values: Mapping[str, str], *expected: int) -> Reply:
        """POST as a form; a redirect is what is expected. Raises Failed."""
        kind = "application/x-www-form-urlencoded"
        return self.ask("POST", path, urlencode(values).encode(), kind, expected or (302,))

    def upload(self, path: str, name: str, content: bytes) -> Reply:
        """POST a file as browsers do. Raises Failed."""
        edge = "edge-of-the-file-7d1c"
        head = f'--{edge}\r\nContent-Disposition: form-data; name="{name}"; filename="rows.json"\r\n'
        body = f"{head}Content-Type: application/json\r\n\r\n".encode() + content
        kind = f"multipart/form-data; boundary={edge}"
        return self.ask("POST", path, body + f"\r\n--{edge}--\r\n".encode(), kind, (200, 201))

    def ask(self, method: str, path: str, body: bytes | None, kind: str, expected: tuple[int, ...]) -> Reply:
        began = time.perf_counter()
        answer = self.sent(method, path, body, self.heading(kind))
        read = answer.read()
        seconds = time.perf_counter() - began
        self.keep_cookies(answer)
        if answer.status not in expected:
            raise Failed(f"{method} {path} answers {answer.status}: {read[:300]!r}")
        return Reply(answer.status, answer.getheader("Location", ""), read, seconds)

    def sent(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        """A connection that the server closed while it was idle is made again, once."""
        for last in (False, True):
            try:
                self.connection.request(method, path, body, headers)
                self.hurry()
                return self.connection.getresponse()
            except DROPPED:
                self.connection.close()
                if last:
                    raise
        raise AssertionError("the last try returns or raises")

    def hurry(self) -> None:
        """Acknowledge at once: servers that write an answer in two pieces would be waited for 40 ms else.

        The kernel forgets it whenever something is sent, so this is for the answer that comes next.
        """
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)

    def heading(self, kind: str) -> dict[str, str]:
        found = dict(self.headers)
        if self.cookies:
            found["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if kind:
            found["Content-Type"] = kind
            found["X-CSRFToken"] = self.cookies.get("csrftoken", "")
        return found

    def keep_cookies(self, answer: http.client.HTTPResponse) -> None:
        for line in answer.headers.get_all("Set-Cookie", []):
            self.cookies |= {name: morsel.value for name, morsel in SimpleCookie(line).items()}

    def close(self) -> None:
        self.connection.close()


def until(done: Callable[[], bool], what: str, seconds: float = TIMEOUT_SECONDS) -> None:
    """Ask until it is done. Raises Failed where that takes too long."""
    ends = time.monotonic() + seconds
    while not done():
        if time.monotonic() > ends:
            raise Failed(f"{what} took longer than {seconds:.0f} s")
        time.sleep(POLL_SECONDS)


def answers(port: int, path: str) -> bool:
    """Whether a server answers there, with anything but an error of its own."""
    link = Link(port)
    try:
        return link.ask("GET", path, None, "", tuple(range(200, 500))).status < 500
    except (OSError, http.client.HTTPException, Failed):
        return False
    finally:
        link.close()
