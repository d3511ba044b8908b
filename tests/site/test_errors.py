"""One shape for every error of the API, and a status for each."""

from __future__ import annotations

import inspect
import json
from http import HTTPStatus
from types import ModuleType

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.test import Client, RequestFactory
from ninja.errors import AuthenticationError, HttpError, ValidationError

from annotation import review, stages
from annotation.builds.control import pause_resume
from annotation.builds.launch import launcher
from annotation.builds.launch.order import LaunchRefused
from annotation.models.builds import cases
from cosqa_site import errors
from cosqa_site.errors import server_error
from tests import full_disks
from tests.calls import post


def raised_by(module: ModuleType) -> list[type[Exception]]:
    """The errors that callers of a module are told of."""
    found = [value for _, value in inspect.getmembers(module, inspect.isclass)]
    return [
        value
        for value in found
        if issubclass(value, Exception) and value.__module__.startswith(module.__name__)
    ]


@pytest.mark.parametrize("module", [launcher, review, stages, cases])
def test_every_error_of_the_domain_has_a_status(module: ModuleType) -> None:
    assert set(raised_by(module)) <= set(errors.STATUSES)


def test_every_error_has_a_name_of_its_own() -> None:
    names = [errors.error_slug(error) for error in errors.STATUSES]
    assert len(set(names)) == len(names)
    assert "override-needs-reason" in names
    assert "not-found" in names


def test_no_listed_error_hides_another() -> None:
    """Where one error is a kind of another, the closer one decides."""

    class Closer(LaunchRefused):
        pass

    response = errors.domain_problem(HttpRequest(), Closer("no"))
    assert json.loads(response.content)["type"] == "urn:cosqa:launch-refused"


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (LaunchRefused("Give it a name."), 422, "launch-refused"),
        (pause_resume.ControlRefused("It is done."), 409, "control-refused"),
        (PermissionDenied("For admins."), 403, "permission-denied"),
    ],
)
def test_a_refusal_is_told_in_the_words_of_the_domain(error: Exception, status: int, kind: str) -> None:
    response = errors.domain_problem(HttpRequest(), error)
    body = json.loads(response.content)
    assert response["Content-Type"] == "application/problem+json"
    assert body == {
        "type": f"urn:cosqa:{kind}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": str(error),
    }


def test_what_is_not_found_does_not_say_whether_it_exists() -> None:
    response = errors.domain_problem(HttpRequest(), Http404("No Build matches the given query."))
    assert "Build" not in response.content.decode()


def test_who_is_not_signed_in_is_told_how() -> None:
    response = errors.http_problem(HttpRequest(), AuthenticationError())
    assert (response.status_code, response["WWW-Authenticate"]) == (401, "Bearer")
    assert "token" in json.loads(response.content)["detail"]


def test_other_errors_of_the_framework_keep_their_message() -> None:
    response = errors.http_problem(HttpRequest(), HttpError(400, "Cannot parse request body"))
    body = json.loads(response.content)
    assert (body["type"], body["detail"]) == ("urn:cosqa:bad-request", "Cannot parse request body")


def test_each_wrong_value_is_told_with_its_place() -> None:
    wrong = [
        {"loc": ("body", "order", "k"), "msg": "too big", "type": "less_than", "ctx": {"error": ValueError()}}
    ]
    response = errors.validation_problem(HttpRequest(), ValidationError(wrong))
    body = json.loads(response.content)
    assert body["errors"] == [{"where": "k", "what": "too big", "kind": "less_than"}]
    assert body["detail"] == "k: too big"


@pytest.mark.django_db
@pytest.mark.parametrize("sent", [b"", b"{", b"\xff", b"[" * 5000, b'{"name": 1e999}', b"null"])
def test_a_body_that_is_no_order_is_a_problem_never_a_fault(ada: Client, sent: bytes) -> None:
    response = ada.post("/api/builds", sent, content_type="application/json")
    assert response.status_code in {400, 422}
    assert response["Content-Type"] == "application/problem+json"


@pytest.mark.django_db
def test_a_conflict_with_nothing_stored_says_so(erin: Client) -> None:
    body = json.loads(errors.domain_problem(HttpRequest(), review.Conflict(None, None)).content)
    assert body["stored"] is None
    assert post(erin, "cases/1/reviews", {"label": 1, "seen_revision": 0, "evidence": "a" * 64}, 404)


def test_an_api_address_that_is_not_there_is_a_problem_and_a_page_is_a_page(client: Client, db: None) -> None:
    answer = client.get("/api/nothing")
    assert (answer.status_code, answer["Content-Type"]) == (404, errors.CONTENT_TYPE)
    assert answer.json()["type"] == "urn:cosqa:not-found"
    assert client.get("/nothing")["Content-Type"].startswith("text/html")


def test_a_body_that_is_too_large_is_a_problem_that_says_how_much_may_be_sent(ada: Client) -> None:
    answer = post(ada, "builds", {"name": "x" * (6 * 2**20)}, status=413)
    assert answer["detail"] == "Send at most 5 MB in one request."


@pytest.mark.django_db
def test_a_page_that_finds_no_room_says_so_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    person = User.objects.create_user("ada", password="correct horse battery")
    monkeypatch.setattr(SessionStore, "save", lambda *_, **__: full_disks.raise_full_database())
    client = Client(raise_request_exception=False)
    asked = {"username": person.username, "password": "correct horse battery"}
    response = client.post("/login/", asked)
    assert (response.status_code, response["Retry-After"]) == (507, "60")
    assert "The disk of the server is full" in response.content.decode()
    assert "Traceback" not in response.content.decode()


def test_the_api_that_finds_no_room_answers_with_a_problem() -> None:
    try:
        full_disks.fill_file()
    except OSError:
        response = server_error(RequestFactory().post("/api/ratings"))
    body = json.loads(response.content)
    assert (response.status_code, response["Content-Type"]) == (507, "application/problem+json")
    assert (body["type"], body["title"]) == ("urn:cosqa:full-disk", "Insufficient Storage")


def test_any_other_fault_is_answered_as_before() -> None:
    try:
        raise KeyError("x")
    except KeyError:
        response = server_error(RequestFactory().get("/"))
    assert response.status_code == 500
    assert b"Something broke here" in response.content
