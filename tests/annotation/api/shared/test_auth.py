"""Bearer tokens and sessions: who gets in, as whom, and what is asked before the body is read."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotation.accounts.roles import Role, give_role
from annotation.models import ApiToken, Build
from tests import factories
from tests.calls import get, post, with_token

pytestmark = pytest.mark.django_db


def test_a_token_counts_as_its_user() -> None:
    assert get(with_token(factories.erin()), "me") == {"name": "erin", "role": "expert"}


def test_a_session_counts_as_its_user(ray: Client) -> None:
    assert get(ray, "me") == {"name": "ray", "role": "reader"}


def test_a_token_wins_over_the_session_beside_it(ray: Client) -> None:
    _, secret = ApiToken.objects.issue(factories.ada(), "tests")
    response = ray.get("/api/me", headers={"authorization": f"Bearer {secret}"})
    assert response.json()["name"] == "ada"


def test_nobody_gets_nothing_but_a_problem() -> None:
    response = Client().get("/api/me")
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
    assert response.json()["type"] == "urn:cosqa:unauthorized"
    assert "token" in response.json()["detail"]


@pytest.mark.parametrize("header", ["Bearer ", "Bearer wrong", "Bearer \u00ff", "Bearer  a b"])
def test_a_wrong_token_is_refused_even_beside_a_good_session(ray: Client, header: str) -> None:
    assert ray.get("/api/me", headers={"authorization": header}).status_code == 401


def test_a_token_of_a_closed_account_is_refused() -> None:
    user = factories.ray()
    client = with_token(user)
    user.is_active = False
    user.save()
    assert client.get("/api/me").status_code == 401


def test_a_token_follows_its_users_role() -> None:
    user = factories.ray()
    client = with_token(user)
    assert client.post("/api/builds", {}, content_type="application/json").status_code == 403
    give_role(user, Role.ADMIN)
    assert client.post("/api/builds", {}, content_type="application/json").status_code == 422


def test_people_without_a_role_are_refused(nora: Client) -> None:
    problem = get(nora, "me", 403)
    assert problem["type"] == "urn:cosqa:permission-denied"
    assert "reader" in problem["detail"]


def test_the_role_is_checked_before_the_body(ray: Client) -> None:
    problem = post(ray, "builds", {"nonsense": 1}, 403)
    assert problem["type"] == "urn:cosqa:permission-denied"


def test_a_session_needs_the_csrf_token_to_change_something() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(factories.ada())
    build = factories.opened()
    path = f"/api/builds/{build.pk}/control"
    refused = client.post(path, {"action": "pause"}, content_type="application/json")
    assert refused.status_code == 403
    assert "X-CSRFToken" in refused.json()["detail"]
    assert Build.objects.get(pk=build.pk).state == Build.State.RUNNING
    client.cookies["csrftoken"] = "a" * 32
    allowed = client.post(
        path, {"action": "pause"}, content_type="application/json", headers={"X-CSRFToken": "a" * 32}
    )
    assert allowed.status_code == 200


def test_a_token_needs_no_csrf_token() -> None:
    build = factories.opened()
    client = with_token(factories.ada(), enforce_csrf_checks=True)
    assert post(client, f"builds/{build.pk}/control", {"action": "pause"})["state"] == "paused"


def test_the_secret_is_stored_nowhere() -> None:
    token, secret = ApiToken.objects.issue(factories.ray(), "laptop")
    row = ApiToken.objects.filter(pk=token.pk).values().get()
    assert secret not in str(row)


def test_the_last_use_is_noted_once_a_minute() -> None:
    client = with_token(factories.ray())
    get(client, "me")
    first = ApiToken.objects.get().last_used_at
    assert first is not None
    get(client, "me")
    assert ApiToken.objects.get().last_used_at == first
    ApiToken.objects.update(last_used_at=timezone.now() - timedelta(minutes=2))
    get(client, "me")
    again = ApiToken.objects.get().last_used_at
    assert again is not None and again > first


def scoped(user: User, scope: str) -> Client:
    _, secret = ApiToken.objects.issue(user, "tests", scope=scope)
    return Client(headers={"authorization": f"Bearer {secret}"})


PAUSE, REVIEW, RATE = "builds/{build}/control", "cases/{case}/reviews/undo", "rate/7/next"


@pytest.mark.parametrize(
    ("scope", "within"),
    [("read", set()), ("rate", {RATE}), ("review", {RATE, REVIEW}), ("all", {RATE, REVIEW, PAUSE})],
)
def test_a_token_reaches_as_far_as_its_scope(scope: str, within: set[str]) -> None:
    build = factories.opened()
    client = scoped(factories.ada(), scope)
    assert client.get(f"/api/builds/{build.pk}").status_code == 200
    for path in (PAUSE, REVIEW, RATE):
        address = "/api/" + path.format(build=build.pk, case=factories.cases(build)[0].pk)
        answer = client.post(address, {"action": "pause"}, content_type="application/json")
        refused = answer.status_code == 403 and "wider scope" in answer.json()["detail"]
        assert refused is (path not in within), (path, answer.content)


def test_a_scope_gives_nothing_that_the_account_has_not() -> None:
    build = factories.opened()
    client = scoped(factories.ray(), "all")
    path = f"/api/builds/{build.pk}/control"
    assert client.post(path, {"action": "pause"}, content_type="application/json").status_code == 403
