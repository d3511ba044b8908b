"""What ends with a password or an account, and does not come back."""

from __future__ import annotations

import io

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from pytest_django import Settings

from annotation.models import ApiToken
from tests import factories

pytestmark = pytest.mark.django_db


def token(of: User) -> str:
    return ApiToken.objects.issue(of, "laptop")[1]


def answer(secret: str) -> int:
    return Client(headers={"authorization": f"Bearer {secret}"}).get("/api/me").status_code


def account(*args: str) -> None:
    call_command("account", *args, stdout=io.StringIO())


def test_no_session_and_no_token_comes_back_when_a_closed_account_is_opened(
    ray: Client, erin: Client
) -> None:
    secret, other = token(factories.ray()), token(factories.erin())
    account("ray", "--close")
    account("ray", "--open")
    assert (ray.get("/browse/").status_code, answer(secret)) == (302, 401)
    assert (erin.get("/browse/").status_code, answer(other)) == (200, 200)


def test_the_same_holds_where_an_admin_closes_the_account_in_the_tables(ada: Client, ray: Client) -> None:
    user, secret = factories.ray(), token(factories.ray())
    address, groups = f"/admin/auth/user/{user.pk}/change/", [group.pk for group in user.groups.all()]
    for sent in ({}, {"is_active": "on"}):
        assert ada.post(address, {"username": "ray", "groups": groups, **sent}).status_code == 302
    assert User.objects.get(pk=user.pk).is_active
    assert (ray.get("/browse/").status_code, answer(secret)) == (302, 401)


def test_a_new_password_withdraws_the_tokens(ray: Client) -> None:
    secret, new = token(factories.ray()), "a long and winding road"
    form = {"old_password": factories.PASSWORD, "new_password1": new, "new_password2": new}
    assert ray.post("/password/", form).status_code == 302
    assert answer(secret) == 401


def test_a_new_password_by_the_command_withdraws_them_too() -> None:
    secret = token(factories.ray())
    account("ray", "--new-password")
    assert answer(secret) == 401


def test_the_same_password_hashed_anew_withdraws_nothing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
    monkeypatch.setattr(PBKDF2PasswordHasher, "iterations", 10)
    ray = factories.ray()
    ray.set_password(factories.PASSWORD)
    ray.save()
    secret, before = token(ray), ray.password
    monkeypatch.setattr(PBKDF2PasswordHasher, "iterations", 20)
    assert ray.check_password(factories.PASSWORD)
    assert User.objects.get(pk=ray.pk).password != before
    assert answer(secret) == 200
