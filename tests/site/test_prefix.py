"""Below a prefix every address of a page, a redirect, a cookie and a socket lies below it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.db import connections
from django.urls import reverse, set_script_prefix
from hypothesis import given as drawn
from hypothesis import strategies as st

from annotation.consumers import websocket_urlpatterns
from annotation.jobs.notifications import address_of
from annotation.models import Build
from cosqa_site.http.asgi_handler import OneThread
from cosqa_site.http.prefix import add_prefix, place_below_prefix
from tests import factories
from tests.site.samples import samples
from tests.site.test_access import browser, ours

PREFIX = "/wb"
ROOT = Path(__file__).resolve().parents[2]
ADDRESS = re.compile(rb"""(?:href|src|action|poster|hx-\w+|data-(?!key)[\w-]+)=["'](/[^"']*)""")
IN_SCRIPTS = re.compile(r"""(?<!endsWith\()["'`]/[a-z]""")


@pytest.fixture
def below(settings: Any) -> Iterator[None]:
    """What COSQA_PREFIX=/wb sets."""
    settings.PREFIX = settings.FORCE_SCRIPT_NAME = PREFIX
    settings.STATIC_URL = f"{PREFIX}/static/"
    settings.SESSION_COOKIE_PATH = settings.CSRF_COOKIE_PATH = f"{PREFIX}/"
    settings.MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"
    set_script_prefix(f"{PREFIX}/")
    yield
    set_script_prefix("/")


class Asked:
    """One request to the application below the prefix, and its answer."""

    def __init__(self, path: str, cookies: dict[str, str] | None = None, form: str = "") -> None:
        given = {"host": "127.0.0.1", "cookie": "; ".join(f"{k}={v}" for k, v in (cookies or {}).items())}
        if form:
            given["content-type"] = "application/x-www-form-urlencoded"
            given["content-length"] = str(len(form))
        path, _, query = path.partition("?")
        self.scope = {
            "type": "http",
            "method": "POST" if form else "GET",
            "path": path,
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in given.items() if value],
        }
        handler = OneThread()
        asyncio.run(self.ask(handler, form.encode()))
        handler.threads.submit(connections.close_all).result(60)
        handler.threads.shutdown()

    async def ask(self, handler: OneThread, body: bytes) -> None:
        application: Any = ApplicationCommunicator(  # type: ignore[no-untyped-call]
            place_below_prefix(handler, PREFIX), self.scope
        )
        await application.send_input({"type": "http.request", "body": body})
        start = await application.receive_output(60)
        self.status, headers = start["status"], start["headers"]
        self.headers = [(name.decode().lower(), value.decode()) for name, value in headers]
        self.body = b""
        while True:
            part = await application.receive_output(60)
            self.body += part.get("body", b"")
            if not part.get("more_body"):
                break
        await application.wait(60)

    def all(self, name: str) -> list[str]:
        return [value for found, value in self.headers if found == name]

    @property
    def cookies(self) -> dict[str, str]:
        return dict(value.partition(";")[0].split("=", 1) for value in self.all("set-cookie"))


@pytest.mark.django_db
def test_every_address_of_every_page_lies_below_the_prefix(below: None) -> None:
    given, wrong, seen = samples(factories.examined(factories.cases(factories.opened())[0], 0)), [], 0
    ada = factories.ada()
    for route in ours():
        response = browser(ada).get(given.address(route.path))
        body = b"" if response.streaming else response.content
        found = ADDRESS.findall(body)
        seen += len(found)
        wrong += [(route.name, address) for address in found if not address.startswith(b"/wb/")]
        if "Location" in response and response["Location"].startswith("/"):
            assert response["Location"].startswith("/wb/"), route.name
    assert wrong == []
    assert seen > 1000


def test_no_script_has_an_address_of_its_own() -> None:
    """Where a page lies, the page says: in an attribute."""
    texts = {script.name: script.read_text() for script in (ROOT / "static/js").glob("*.js")}
    assert {name: IN_SCRIPTS.findall(text) for name, text in texts.items() if IN_SCRIPTS.search(text)} == {}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("taken_off", [True, False])
def test_somebody_logs_in_below_the_prefix(below: None, taken_off: bool, django_user_model: Any) -> None:
    """Proxies take the prefix off, or pass it on."""
    django_user_model.objects.create_user("ada", password="a-long-password")
    at = "" if taken_off else PREFIX
    first = Asked(f"{at}/")
    assert (first.status, first.all("location")) == (302, ["/wb/login/?next=/wb/"])
    page = Asked(f"{at}/login/?next=/wb/")
    assert page.status == 200
    assert {address.startswith(b"/wb/") for address in ADDRESS.findall(page.body)} == {True}
    token = re.search(rb'name="csrfmiddlewaretoken" value="(\w+)"', page.body)
    assert token
    form = f"username=ada&password=a-long-password&next=/wb/&csrfmiddlewaretoken={token[1].decode()}"
    done = Asked(f"{at}/login/", page.cookies, form)
    assert (done.status, done.all("location")) == (302, ["/wb/"])
    assert set(done.cookies) == {"sessionid", "csrftoken"}
    cookies = [*page.all("set-cookie"), *done.all("set-cookie")]
    assert ["Path=/wb/" in cookie for cookie in cookies] == [True] * len(cookies)
    assert Asked(f"{at}/", done.cookies).all("location") != ["/wb/login/?next=/wb/"]


@pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume")  # as the server does
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "path", ["/static/css/base.css", "/static/js/live.js", "/health/", "/static/admin/css/base.css"]
)
def test_files_and_health_are_found_with_and_without_the_prefix(below: None, path: str) -> None:
    assert [Asked(path).status, Asked(PREFIX + path).status] == [200, 200]


@pytest.mark.django_db(transaction=True)
def test_the_prefix_without_its_slash_leads_to_the_start_page(below: None) -> None:
    asked = Asked(PREFIX)
    assert asked.status in (301, 302)
    assert asked.all("location")[0].startswith("/wb/")


@pytest.mark.django_db(transaction=True)
def test_an_address_of_the_api_is_a_problem_below_the_prefix(below: None) -> None:
    asked = Asked("/wb/api/nowhere")
    assert (asked.status, asked.all("content-type")) == (404, ["application/problem+json"])


def test_the_documentation_of_the_api_says_the_prefix(below: None) -> None:
    assert reverse("api:openapi-json") == "/wb/api/openapi.json"
    from cosqa_site.api import api

    assert {path[:8] for path in api.get_openapi_schema()["paths"]} == {"/wb/api/"}


@pytest.mark.parametrize("path", ["/ws/builds/7/", "/wb/ws/builds/7/"])
def test_a_socket_is_found_with_and_without_the_prefix(path: str) -> None:
    from channels.routing import URLRouter

    found: list[Any] = []

    async def consumer(scope: Any, receive: Any, send: Any) -> None:
        found.append(scope["url_route"]["kwargs"])
        await receive()
        await send({"type": "websocket.close"})

    async def connect() -> None:
        known = [type(route)(route.pattern, consumer) for route in websocket_urlpatterns]
        application = place_below_prefix(URLRouter(known), PREFIX)
        scope = {"type": "websocket", "path": path}
        socket: Any = ApplicationCommunicator(application, scope)  # type: ignore[no-untyped-call]
        await socket.send_input({"type": "websocket.connect"})
        await socket.receive_output(60)

    asyncio.run(connect())
    assert found == [{"pk": 7}]


@pytest.mark.parametrize("prefix", ["", PREFIX])
def test_a_notification_names_the_address_in_any_thread(settings: Any, prefix: str) -> None:
    settings.PREFIX = prefix
    settings.CSRF_TRUSTED_ORIGINS = ["https://host.example/"]
    for known in ("/", f"{prefix}/"):  # as in a worker's thread, and in one that answers a request
        set_script_prefix(known)
        assert address_of(Build(pk=7)) == f"https://host.example{prefix}/builds/7/"
    set_script_prefix("/")


@drawn(path=st.from_regex(r"(/[a-z]{1,3}){0,3}/?", fullmatch=True))
def test_the_prefix_is_added_once(path: str) -> None:
    once = add_prefix(path, PREFIX)
    assert once == PREFIX or once.startswith("/wb/") or not path
    assert add_prefix(once, PREFIX) == once
