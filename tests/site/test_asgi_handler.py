"""HTTP under ASGI: one thread a request, and what those threads keep open."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.db import connection, connections
from django.http import HttpRequest, HttpResponse
from django.test import override_settings
from django.urls import path

from cosqa_site.http.asgi_handler import OneThread

pytestmark = pytest.mark.django_db(transaction=True)
Answer = dict[str, Any]
threads: list[str] = []


class Marks:
    """A middleware that notes where it ran."""

    sync_capable, async_capable = True, True

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        threads.append(threading.current_thread().name)
        return self.get_response(request)


def said(request: HttpRequest) -> HttpResponse:
    threads.append(threading.current_thread().name)
    return HttpResponse(f"{request.method} {request.body.decode()}")


def fails(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("nobody foresaw this")


urlpatterns = [path("said/", said), path("fails/", fails), path("", said, name="home")]
alone = override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=[f"{__name__}.Marks", f"{__name__}.Marks"])


@contextmanager
def opened() -> Iterator[OneThread]:
    """A handler, whose one thread closes what it opened: no other test finds the file in use."""
    made = OneThread()
    yield made
    made.threads.submit(connections.close_all).result(60)
    made.threads.shutdown()


def ask(address: str, method: str = "GET", body: bytes = b"") -> tuple[Answer, Answer]:
    """How the answer begins, and its body."""
    with opened() as handler:
        return asyncio.run(asked(handler, address, method, body))


async def asked(handler: OneThread, address: str, method: str, body: bytes) -> tuple[Answer, Answer]:
    scope = {"type": "http", "method": method, "path": address, "query_string": b"", "headers": []}
    application: Any = ApplicationCommunicator(handler, scope)  # type: ignore[no-untyped-call]
    await application.send_input({"type": "http.request", "body": body})
    answer = await application.receive_output(60), await application.receive_output(60)
    await application.wait(60)
    return answer


@alone
def test_middleware_and_view_of_a_request_run_in_one_thread() -> None:
    threads.clear()
    start, body = ask("/said/", "POST", b"this")
    assert (start["status"], body["body"]) == (200, b"POST this")
    assert len(threads) == 3
    assert len(set(threads)) == 1
    assert threads[0].startswith("request")


@alone
def test_a_fault_of_a_view_is_an_answer() -> None:
    start, _ = ask("/fails/")
    assert start["status"] == 500


def test_what_is_no_http_is_refused() -> None:
    with pytest.raises(ValueError, match="only HTTP is answered here, not lifespan"):
        asyncio.run(OneThread()({"type": "lifespan"}, None, None))  # type: ignore[arg-type]


@alone
def test_a_thread_keeps_its_connection_as_long_as_the_settings_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found: list[object] = []

    def asks(request: HttpRequest) -> HttpResponse:
        connection.ensure_connection()
        found.append(connection.connection)
        return HttpResponse()

    monkeypatch.setattr(f"{__name__}.urlpatterns", [path("asks/", asks)])
    request = HttpRequest()
    request.path = request.path_info = "/asks/"
    request.method = "GET"

    def twice() -> None:
        handler.answer(asks, request)
        handler.answer(asks, request)

    with opened() as handler:
        handler.threads.submit(twice).result(20)
    kept = connection.settings_dict["CONN_MAX_AGE"] != 0
    assert (found[0] is found[1]) == kept
