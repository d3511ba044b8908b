"""`Client` against the API of this process: names, pages, errors, and where the token goes."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import django.test
import pytest
import requests
from requests.adapters import BaseAdapter

from annotation.models import Build as BuildRow
from cosqa import ApiError, Client, client
from tests import factories
from tests.calls import with_token

pytestmark = pytest.mark.django_db
SCHEMA = Path(__file__).resolve().parents[1] / "site" / "openapi.json"


class InProcess(BaseAdapter):
    """Hands each request to Django's test client, and keeps what was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[requests.PreparedRequest] = []

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: Any = None,
        verify: Any = True,
        cert: Any = None,
        proxies: Mapping[str, str] | None = None,
    ) -> requests.Response:
        self.asked.append(request)
        place = urlsplit(str(request.url))
        headers = {"authorization": str(request.headers["Authorization"])}
        theirs = django.test.Client(headers=headers).generic(
            str(request.method),
            f"{place.path}?{place.query}",
            request.body or b"",
            content_type=str(request.headers.get("Content-Type", "")),
        )
        answer = requests.Response()
        answer.status_code, answer.url, answer.request = theirs.status_code, str(request.url), request
        answer.headers.update(dict(theirs.items()))
        answer.raw = io.BytesIO(theirs.content)
        return answer

    def close(self) -> None:
        """Nothing is open."""


def client_of(user: Any) -> Client:
    """A client with a token of `user`, and its adapter as `session.adapters["http://"]`."""
    token = with_token(user).defaults["HTTP_AUTHORIZATION"].removeprefix("Bearer ")
    made = Client(token, "http://lab/")
    made.session.mount("http://", InProcess())
    return made


@pytest.fixture
def ada() -> Iterator[Client]:
    with client_of(factories.ada()) as made:
        yield made


def test_a_token_counts_as_its_account(ada: Client) -> None:
    assert ada.me() == {"name": "ada", "role": "admin"}


def test_lists_are_followed_to_their_end(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "MOST_A_PAGE", 2)
    names = [f"build {number}" for number in range(5)]
    for name in names:
        factories.launched(name)
    assert [build["name"] for build in ada.builds()] == names[::-1]
    adapter = ada.session.adapters["http://"]
    assert isinstance(adapter, InProcess)
    assert len(adapter.asked) == 3, "five rows in pages of two"


def test_a_build_is_found_by_name_or_id(ada: Client) -> None:
    made = factories.launched("7")
    assert ada.build("7")["id"] == ada.build(made.pk)["id"] == made.pk
    with pytest.raises(LookupError, match="no build called 'x'"):
        ada.build("x")


def test_launching_takes_names_of_collections(ada: Client) -> None:
    factories.queries(name="mine")
    factories.snippets(name="ours")
    build = ada.launch("night", "mine", "ours", encoders=["bm25"], k=3)
    assert BuildRow.objects.get(pk=build["id"]).queries.name == "mine"
    with pytest.raises(LookupError, match="no collection of snippets called 'mine'"):
        ada.launch("noon", "mine", "mine")


def test_cases_and_control(ada: Client) -> None:
    build = factories.opened("autumn")
    factories.settled(factories.cases(build)[0], 1)
    [case] = ada.cases(build.pk, stage="settled")
    assert case["label"] == 1
    assert ada.control(build.pk, "pause", "for the night")["state"] == "paused"
    assert ada.wait(build.pk)["state"] == "paused"


def test_waiting_ends_at_its_time(ada: Client) -> None:
    build = factories.opened("autumn")
    with pytest.raises(TimeoutError, match="Build 'autumn' is running after 0 s"):
        ada.wait(build.pk, seconds=0, every=0)


def test_a_refusal_has_status_type_and_what_is_wrong(ada: Client) -> None:
    with pytest.raises(ApiError) as refused:
        ada.post("builds", name="")
    assert (refused.value.status, refused.value.type) == (422, "urn:cosqa:invalid-request")
    assert "name" in str(refused.value)
    with pytest.raises(ApiError, match=r"^404: ") as missing:
        ada.build(10**6)
    assert missing.value.type == "urn:cosqa:not-found"


def test_a_wrong_token_is_refused() -> None:
    stranger = Client("wrong", "http://lab")
    stranger.session.mount("http://", InProcess())
    with pytest.raises(ApiError, match=r"^401: "):
        stranger.me()


def test_the_token_does_not_follow_a_redirection(
    ada: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def lead_away(self: InProcess, request: requests.PreparedRequest, **_: Any) -> requests.Response:
        self.asked.append(request)
        answer = requests.Response()
        answer.status_code, answer.url, answer.request = 302, str(request.url), request
        answer.headers["Location"], answer.raw = "http://elsewhere/api/me", io.BytesIO(b"")
        return answer

    monkeypatch.setattr(InProcess, "send", lead_away)
    with pytest.raises(ApiError, match="leads to http://elsewhere/api/me"):
        ada.me()
    adapter = ada.session.adapters["http://"]
    assert isinstance(adapter, InProcess)
    assert len(adapter.asked) == 1


def test_a_netrc_does_not_replace_the_token(
    ada: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "netrc").write_text("machine lab login someone password else\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    assert ada.me()["name"] == "ada"


def test_an_answer_of_another_server_is_told_by_its_status() -> None:
    answer = requests.Response()
    answer.status_code, answer.reason, answer.raw = 502, "Bad Gateway", io.BytesIO(b"<html>")
    assert str(client.error_of(answer)) == "502: Bad Gateway"


@pytest.mark.parametrize(
    ("row", "schema"), [("Build", "BuildOut"), ("Case", "CaseOut"), ("Collection", "CollectionOut")]
)
def test_typed_rows_are_those_of_the_api(row: str, schema: str) -> None:
    properties = json.loads(SCHEMA.read_text())["components"]["schemas"][schema]["properties"]
    assert set(getattr(client, row).__annotations__) <= set(properties)
