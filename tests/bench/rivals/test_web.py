"""The client that all tools are timed by."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from bench.review.server import Failed, free_port
from bench.rivals.web import Link, answers, until

DELAYED_ACKNOWLEDGEMENT = 0.04
"""Seconds that Linux waits at least, unless it is told not to."""


class Handler(BaseHTTPRequestHandler):
    """Sets a cookie and keeps what it got; closes the connection after /drop without saying so."""

    protocol_version = "HTTP/1.1"
    seen: ClassVar[list[tuple[str, str, str | None, str | None]]] = []

    def do_GET(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size).decode()
        self.seen.append((self.path, body, self.headers["Cookie"], self.headers["X-CSRFToken"]))
        self.send_response(404 if self.path == "/absent" else 200)
        self.send_header("Set-Cookie", "csrftoken=abc; Path=/")
        self.send_header("Content-Length", "2")
        self.end_headers()
        pieces = [b"{", b"}"] if self.path == "/pieces" else [b"{}"]
        for piece in pieces:
            self.wfile.write(piece)
        self.close_connection = self.path == "/drop"

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name that it has there
        pass


@pytest.fixture
def port() -> Iterator[int]:
    Handler.seen.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def link(port: int) -> Iterator[Link]:
    made = Link(port)
    yield made
    made.close()


def test_it_keeps_cookies_and_sends_the_token_with_what_changes_things(link: Link) -> None:
    link.get("/")
    reply = link.send("/save", {"a": 1})
    assert reply.json() == {}
    assert reply.seconds > 0
    assert Handler.seen == [("/", "", None, None), ("/save", '{"a": 1}', "csrftoken=abc", "abc")]


def test_forms_and_files_have_their_shapes(link: Link) -> None:
    link.form("/form", {"a": "b c"}, 200)
    link.upload("/file", "filepond", b"[1]")
    assert Handler.seen[0][1] == "a=b+c"
    assert 'name="filepond"; filename="rows.json"' in Handler.seen[1][1]
    assert "\r\n\r\n[1]\r\n--" in Handler.seen[1][1]


def test_another_status_than_expected_is_a_failure(link: Link) -> None:
    with pytest.raises(Failed, match="GET /absent answers 404"):
        link.get("/absent")
    assert link.get("/absent", 404).status == 404


def test_a_connection_that_was_closed_meanwhile_is_made_again(link: Link) -> None:
    link.get("/drop")
    assert link.get("/again").status == 200


def test_a_server_is_there_or_not(port: int) -> None:
    assert answers(port, "/absent")
    assert not answers(free_port(), "/")


def test_what_never_happens_is_given_up() -> None:
    with pytest.raises(Failed, match="its start took longer"):
        until(lambda: False, "its start", 0.1)


def test_an_answer_in_pieces_is_acknowledged_at_once(link: Link) -> None:
    waited = [link.get("/pieces").seconds for _ in range(10)]
    waited += [link.send("/pieces", {}).seconds for _ in range(10)]
    assert min(waited[:10]) < DELAYED_ACKNOWLEDGEMENT
    assert min(waited[10:]) < DELAYED_ACKNOWLEDGEMENT
