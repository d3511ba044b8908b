"""What compose-smoke looks at from outside, with nothing but the standard library.

`follow PORT` reads the accounts' note on its standard input, logs in as admin and follows the first build
over the websocket until it is done; `result` reads the demo's output and holds it against the sample.
"""

from __future__ import annotations

import base64
import http.client
import json
import os
import re
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO
from urllib.parse import urlencode

FOLLOW_SECONDS = 600
PAIRS = 192


def say(text: str) -> None:
    sys.stdout.write(f"        {text}\n")
    sys.stdout.flush()


def main() -> None:
    if sys.argv[1] == "result":
        hold(sys.stdin)
        return
    accounts = dict(line.split() for line in sys.stdin)
    browser = Browser(int(sys.argv[2]))
    browser.log_in("admin", accounts["admin"])
    say("logged in as admin")
    follow(browser)


def hold(output: IO[str]) -> None:
    """Raises AssertionError unless the demo's last line is what the sample must come to."""
    found = json.loads(output.read().splitlines()[-1])
    say(json.dumps(found))
    assert found["pairs"] == found["settled"] == PAIRS, "every pair has to be settled"
    assert found["executable_rate"] >= 0.9, "executable rate below 0.9"
    assert found["agreement_with_truth"] >= 0.95, "agreement below 0.95"


@dataclass
class Browser:
    """Keeps cookies; follows nothing."""

    port: int
    cookies: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, form: dict[str, str] | None = None) -> tuple[int, str]:
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Cookie": self.cookie_header(), "Content-Type": "application/x-www-form-urlencoded"}
        link.request(method, path, urlencode(form or {}), headers)
        reply = link.getresponse()
        for cookie in reply.headers.get_all("Set-Cookie") or []:
            name, _, value = cookie.partition(";")[0].partition("=")
            self.cookies[name] = value
        text = reply.read().decode()
        link.close()
        return reply.status, text

    def cookie_header(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def log_in(self, name: str, password: str) -> None:
        """Raises AssertionError unless the form is there and lets the account in."""
        status, page = self.ask("GET", "/login/")
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert status == 200 and token, f"the login page answered {status}"
        form = {"username": name, "password": password, "csrfmiddlewaretoken": token[1]}
        status, page = self.ask("POST", "/login/", form)
        assert status == 302, f"logging in answered {status}"


def follow(browser: Browser) -> None:
    """Read what the build's page gets until the build is done; several states must have been seen."""
    ends = time.monotonic() + FOLLOW_SECONDS
    while browser.ask("GET", "/builds/1/")[0] != 200:
        assert time.monotonic() < ends, "there is no page of the build"
        time.sleep(0.5)
    versions = set()
    for message in messages(browser, "/ws/builds/1/"):
        versions.add(message["version"])
        state = json.loads(browser.ask("GET", "/api/builds/1")[1])["state"]
        if state != "running":
            break
        assert time.monotonic() < ends, "the build did not end in time"
    assert state == "done", f"the build is {state}"
    say(f"the websocket sent {len(versions)} states of the build")
    assert len(versions) >= 3, "the websocket did not follow the build"


def messages(browser: Browser, path: str) -> Iterator[dict[str, str]]:
    """The JSON messages of a websocket; a server's frames are not masked."""
    with socket.create_connection(("127.0.0.1", browser.port), timeout=60) as link:
        key = base64.b64encode(os.urandom(16)).decode()
        link.sendall(
            (
                f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{browser.port}\r\n"
                f"Origin: http://127.0.0.1:{browser.port}\r\nCookie: {browser.cookie_header()}\r\n"
                "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                f"Sec-WebSocket-Key: {key}\r\n\r\n"
            ).encode()
        )
        stream = link.makefile("rb")
        status = stream.readline()
        assert b" 101 " in status, f"the websocket answered {status!r}"
        while stream.readline().strip():
            pass
        while True:
            kind, payload = frame(stream)
            if kind == 1:
                yield json.loads(payload)
            if kind == 9:
                link.sendall(bytes([0x8A, 0x80 | len(payload)]) + bytes(4) + payload)
            assert kind != 8, f"the server closed the websocket: {payload!r}"


def frame(stream: IO[bytes]) -> tuple[int, bytes]:
    """Kind (1 text, 8 close, 9 ping) and content of the next frame."""
    first, second = stream.read(2)
    length = second & 127
    if length >= 126:
        length = int.from_bytes(stream.read(2 if length == 126 else 8), "big")
    return first & 15, stream.read(length)


if __name__ == "__main__":
    main()
