import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client

from annotation import consumers
from annotation.models import Build
from cosqa_site.asgi import application
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "LOOK", 0.02)


PATIENCE = 60
"""Seconds; an answer takes one at most, but for a busy machine."""


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """The thread in which asgiref runs what is synchronous outlives a test; its connection must not."""
    yield
    asyncio.run(sync_to_async(connections.close_all)())


def address(build: Build) -> str:
    return f"/ws/builds/{build.pk}/"


class Socket:
    """A browser's end of a websocket; channels.testing has one too, but needs a server of its own for it."""

    def __init__(self, user: User | None, path: str, origin: str = "http://localhost") -> None:
        headers = [(b"origin", origin.encode()), (b"host", b"localhost")]
        if user:
            self.client = client = Client()
            client.force_login(user)
            headers.append((b"cookie", f"sessionid={client.cookies['sessionid'].value}".encode()))
        scope = {
            "type": "websocket",
            "path": path,
            "query_string": b"",
            "headers": headers,
            "subprotocols": [],
        }
        self.scope: dict[str, Any] = scope
        self.app: Any = None

    async def connect(self) -> bool:
        """Whether the server accepted."""
        self.app = ApplicationCommunicator(application, self.scope)  # type: ignore[no-untyped-call]  # asgiref
        await self.app.send_input({"type": "websocket.connect"})
        return bool((await self.app.receive_output(PATIENCE))["type"] == "websocket.accept")

    async def message(self) -> dict[str, str]:
        sent = await self.app.receive_output(PATIENCE)
        assert sent["type"] == "websocket.send", sent
        return dict(json.loads(sent["text"]))

    async def closed_with(self) -> int:
        """The close code, whatever is sent before."""
        while (sent := await self.app.receive_output(PATIENCE))["type"] != "websocket.close":
            pass
        return int(sent["code"])

    async def silent(self, seconds: float) -> bool:
        return bool(await self.app.receive_nothing(seconds))

    async def say(self, **frame: Any) -> None:
        await self.app.send_input({"type": "websocket.receive", **frame})

    async def leave(self) -> None:
        await self.app.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.app.wait(PATIENCE)


def run(scenario: Any) -> None:
    asyncio.run(asyncio.wait_for(scenario, 3 * PATIENCE))


def test_admin_gets_the_fragment_at_once_and_after_each_change() -> None:
    build, ada = factories.opened(), factories.ada()
    connection = Socket(ada, address(build))
    case = factories.cases(build)[0]

    async def scenario() -> None:
        assert await connection.connect()
        first = await connection.message()
        assert "0 of 9 cases finished" in first["html"]
        await sync_to_async(factories.settled)(case, 1)
        second = await connection.message()
        assert "1 of 9 cases finished" in second["html"]
        assert second["version"] != first["version"]
        await connection.leave()

    run(scenario())


def test_nothing_is_sent_while_nothing_changes() -> None:
    build, ada = factories.opened(), factories.ada()
    Build.objects.update(state=Build.State.PAUSED)
    connection = Socket(ada, address(build))

    async def scenario() -> None:
        await connection.connect()
        await connection.message()
        assert await connection.silent(0.3)
        await connection.leave()

    run(scenario())


@pytest.mark.parametrize("role", ["erin", "ray", "nora", None])
def test_others_are_refused(role: str | None) -> None:
    build = factories.opened()
    connection = Socket(getattr(factories, role)() if role else None, address(build))

    async def scenario() -> None:
        await connection.connect()
        assert await connection.closed_with() == consumers.REFUSED
        await connection.leave()

    run(scenario())


def test_losing_the_role_ends_the_stream() -> None:
    build, ada = factories.opened(), factories.ada()
    connection = Socket(ada, address(build))

    async def scenario() -> None:
        await connection.connect()
        await connection.message()
        await sync_to_async(ada.groups.clear)()
        assert await connection.closed_with() == consumers.REFUSED
        await connection.leave()

    run(scenario())


def test_a_build_that_is_not_there_is_told_apart() -> None:
    connection = Socket(factories.ada(), "/ws/builds/999/")

    async def scenario() -> None:
        await connection.connect()
        assert await connection.closed_with() == consumers.GONE
        await connection.leave()

    run(scenario())


def test_other_origins_are_refused_before_anything_is_read() -> None:
    connection = Socket(factories.ada(), address(factories.opened()), origin="http://evil.example")

    async def scenario() -> None:
        assert not await connection.connect()

    run(scenario())


def test_what_a_browser_sends_is_ignored() -> None:
    build, ada = factories.opened(), factories.ada()
    Build.objects.update(state=Build.State.PAUSED)
    connection = Socket(ada, address(build))

    async def scenario() -> None:
        await connection.connect()
        await connection.message()
        await connection.say(text="not json")
        await connection.say(bytes=b"\x00")
        assert await connection.silent(0.2)
        await connection.leave()

    run(scenario())


@pytest.mark.parametrize("path", ["/", "/ws/", "/ws/builds/x/", "/ws/builds/1/more"])
def test_an_address_without_a_socket_is_refused_and_no_fault(path: str) -> None:
    assert not asyncio.run(Socket(None, path).connect())


def log_out(client: Client) -> None:
    client.post("/logout/")


def delete_session(client: Client) -> None:
    client.session.delete()


def change_password(client: Client) -> None:
    ada = factories.ada()
    ada.set_password("a long and winding road")
    ada.save()


def close_account(client: Client) -> None:
    ada = factories.ada()
    ada.is_active = False
    ada.save()


@pytest.mark.parametrize("end", [log_out, delete_session, change_password, close_account])
def test_the_stream_ends_with_the_session(end: Callable[[Client], None]) -> None:
    connection = Socket(factories.ada(), address(factories.opened()))

    async def scenario() -> None:
        assert await connection.connect()
        await connection.message()
        await sync_to_async(end)(connection.client)
        assert await connection.closed_with() == consumers.REFUSED

    run(scenario())
