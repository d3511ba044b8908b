"""`manage.py account`: accounts with one role, made and changed from the command line."""

from __future__ import annotations

import io

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from annotation.accounts.roles import Role, role_of
from tests import factories

pytestmark = pytest.mark.django_db


def account(*args: str) -> str:
    said = io.StringIO()
    call_command("account", *args, stdout=said)
    return said.getvalue()


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))


def test_a_new_account_gets_a_random_password_that_is_shown_once() -> None:
    password = account("zoe", "--role", "expert").split("password ")[1].strip()
    user = authenticate(username="zoe", password=password)
    assert isinstance(user, User)
    assert role_of(user) is Role.EXPERT


def test_a_password_can_be_given_unseen(monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, "a long and strange one\n")
    assert "password" not in account("zoe", "--role", "reader", "--password-stdin")
    assert authenticate(username="zoe", password="a long and strange one")


@pytest.mark.parametrize("weak", ["", "short", "1234567890", "password123", "marguerite"])
def test_a_weak_password_is_refused_and_nothing_is_made(monkeypatch: pytest.MonkeyPatch, weak: str) -> None:
    typed(monkeypatch, f"{weak}\n")
    with pytest.raises(CommandError, match="refused"):
        account("marguerite", "--role", "reader", "--password-stdin")
    assert not User.objects.exists()


def test_a_role_replaces_the_one_before_and_keeps_the_password() -> None:
    user = factories.ray()
    assert "password" not in account("ray", "--role", "admin")
    user.refresh_from_db()
    assert role_of(user) is Role.ADMIN
    assert [group.name for group in user.groups.all()] == ["admin"]
    assert authenticate(username="ray", password=factories.PASSWORD)


def test_a_new_password_on_request() -> None:
    factories.ray()
    password = account("ray", "--new-password").split("password ")[1].strip()
    assert authenticate(username="ray", password=password)
    assert role_of(User.objects.get()) is Role.READER


def test_a_closed_account_is_let_in_again_with_what_it_had() -> None:
    factories.ray()
    account("ray", "--close")
    assert authenticate(username="ray", password=factories.PASSWORD) is None
    account("ray", "--open")
    assert authenticate(username="ray", password=factories.PASSWORD)


def test_a_new_account_needs_a_role() -> None:
    with pytest.raises(CommandError, match="--role"):
        account("zoe")
    assert not User.objects.exists()


@pytest.mark.parametrize("name", ["", "two words", "x" * 151])
def test_a_name_that_can_not_be_used_is_refused(name: str) -> None:
    with pytest.raises(CommandError, match="can't be used"):
        account(name, "--role", "reader")


def test_what_became_of_the_account_is_said() -> None:
    factories.ray()
    assert "closed: no login and no token works" in account("ray", "--close")
    assert "open: log in again" in account("ray", "--open")
    assert account("ray", "--role", "reader") == "ray  role reader\n"
