"""A body is refused before it is read where its sender may not send so much."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.db import connections
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from annotation.models import ApiToken
from cosqa_site.http import body_limits
from cosqa_site.http.asgi_handler import OneThread
from cosqa_site.http.body_limits import ANONYMOUS_BYTES, BoundedBody, signed_in_bytes

pytestmark = pytest.mark.django_db(transaction=True)
MB = 2**20
LARGE = 200 * MB
Headers = dict[str, str]


class Sender:
    """One request whose body is `size` bytes, sent as asked for; notes how much was read, and the answer."""

    def __init__(self, path: str, headers: Headers, size: int) -> None:
        self.scope = {
            "type": "http",
            "method": "POST",
            "path": path,
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
        self.left, self.read = size, 0
        self.sent: list[dict[str, Any]] = []

    async def receive(self) -> dict[str, Any]:
        if self.left < 0:
            await asyncio.Event().wait()  # as a client that waits for its answer
        part = min(self.left, MB)
        self.read += part
        self.left = self.left - part or -1
        return {"type": "http.request", "body": b"a" * part, "more_body": self.left > 0}

    async def send(self, message: dict[str, Any]) -> None:
        self.sent.append(message)

    def ask(self) -> int:
        """The status of the answer."""
        handler = OneThread()

        async def asked() -> None:
            await asyncio.wait_for(handler(self.scope, self.receive, self.send), 60)

        asyncio.run(asked())
        handler.threads.submit(connections.close_all).result(60)
        handler.threads.shutdown()
        return int(self.sent[0]["status"])

    @property
    def answer_headers(self) -> Headers:
        return {name.decode().lower(): value.decode() for name, value in self.sent[0]["headers"]}


def of_length(size: int, **others: str) -> Headers:
    return {"host": "127.0.0.1", "content-length": str(size), **others}


CHUNKED = {"host": "127.0.0.1", "transfer-encoding": "chunked"}


@pytest.mark.parametrize("path", ["/login/", "/api/builds", "/nowhere/", "/health/", "/admin/login/"])
@pytest.mark.parametrize("headers", [of_length(LARGE), CHUNKED, of_length(LARGE, cookie="sessionid=made-up")])
def test_a_strangers_large_body_is_refused_unread(path: str, headers: Headers) -> None:
    sender = Sender(path, headers, LARGE)
    assert sender.ask() == 401
    assert sender.read == 0
    assert sender.answer_headers["connection"] == "close"


def test_the_refusal_of_the_api_is_a_problem() -> None:
    sender = Sender("/api/builds", of_length(LARGE, authorization="Bearer made-up"), LARGE)
    assert sender.ask() == 401
    assert sender.answer_headers["content-type"] == "application/problem+json"
    assert b"bearer token" in sender.sent[1]["body"]


def test_a_strangers_login_form_is_read() -> None:
    sender = Sender("/login/", of_length(1000), 1000)
    assert sender.ask() == 403  # it has no CSRF token
    assert sender.read == 1000


@pytest.fixture
def session(django_user_model: type[User]) -> Headers:
    """The cookie of somebody who is logged in."""
    browser = Client()
    browser.force_login(django_user_model.objects.create_user("ada"))
    return {"cookie": f"sessionid={browser.cookies['sessionid'].value}"}


@pytest.fixture
def token(django_user_model: type[User]) -> Headers:
    user = django_user_model.objects.create_user("bob")
    return {"authorization": f"Bearer {ApiToken.objects.issue(user, 'test')[1]}"}


@pytest.mark.parametrize("who", ["session", "token"])
def test_who_is_signed_in_may_send_files(who: str, request: pytest.FixtureRequest) -> None:
    sender = Sender("/api/nowhere", of_length(2 * MB, **request.getfixturevalue(who)), 2 * MB)
    assert sender.ask() in (403, 404)
    assert sender.read == 2 * MB


def test_nobody_may_send_more_than_a_forms_files(session: Headers) -> None:
    size = signed_in_bytes() + 1
    sender = Sender("/collections/", of_length(size, **session), size)
    assert sender.ask() == 413
    assert sender.read == 0


def test_a_body_of_unknown_length_is_read_up_to_the_limit(
    session: Headers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body_limits, "signed_in_bytes", lambda: 3 * MB)
    sender = Sender("/collections/", CHUNKED | session, LARGE)
    assert sender.ask() == 413
    assert sender.read == 4 * MB  # the part that is too much is the first one not kept


def test_a_closed_session_is_a_stranger(session: Headers) -> None:
    SessionStore(session["cookie"].partition("=")[2]).flush()
    sender = Sender("/collections/", of_length(LARGE, **session), LARGE)
    assert (sender.ask(), sender.read) == (401, 0)


@given(parts=st.lists(st.integers(0, 5), max_size=20), most=st.integers(0, 30))
def test_exactly_what_fits_is_let_through(parts: list[int], most: int) -> None:
    left = iter(parts)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"a" * next(left)}

    async def read() -> list[str]:
        body = BoundedBody(receive)
        return [(await body())["type"] for _ in parts]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(body_limits, "signed_in_bytes", lambda: most)
        told = asyncio.run(read())
    fits = [sum(parts[: place + 1]) <= most for place in range(len(parts))]
    assert told == ["http.request" if fit else "http.disconnect" for fit in fits]


def test_what_a_stranger_may_send_is_enough_for_a_login() -> None:
    assert 10_000 < ANONYMOUS_BYTES < MB
