"""Trying to log in: how often, how many at once, and what the log says of it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.core.cache import caches
from django.http import HttpRequest, HttpResponseBase
from django.test import Client

from annotation.accounts import logins
from annotation.accounts.logins import TooManyLogins
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nobody_tried() -> None:
    caches["logins"].clear()


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logins, "ACCOUNT_FAILURES", 2)
    monkeypatch.setattr(logins, "ADDRESS_FAILURES", 4)
    monkeypatch.setattr(logins, "WAITED_FAILURES", 0)


@pytest.fixture
def full() -> Iterator[None]:
    """As many log-ins are checked and wait as may."""
    for _ in range(logins.HASHED_AT_ONCE + logins.WAITING):
        logins.places.acquire()
    yield
    for _ in range(logins.HASHED_AT_ONCE + logins.WAITING):
        logins.places.release()


def enter(name: str, password: str, address: str = "203.0.113.7") -> HttpResponseBase:
    return Client(REMOTE_ADDR=address).post("/login/", {"username": name, "password": password})


def status(name: str, password: str, address: str = "203.0.113.7") -> int:
    return enter(name, password, address).status_code


@pytest.mark.usefixtures("few")
def test_after_too_many_wrong_passwords_the_right_one_waits_too_from_everywhere() -> None:
    factories.ray()
    assert [status("ray", "wrong") for _ in range(2)] == [200, 200]
    refused = enter("ray", factories.PASSWORD, "203.0.113.8")
    assert (refused.status_code, refused["Retry-After"]) == (429, str(logins.WINDOW_SECONDS))
    assert b"Try again in 15 minutes" in getattr(refused, "content", b"")


@pytest.mark.usefixtures("few")
def test_with_a_new_password_an_account_is_let_in_at_once() -> None:
    ray = factories.ray()
    tried = [status("ray", "wrong") for _ in range(2)]
    assert (tried, status("ray", factories.PASSWORD)) == ([200] * 2, 429)
    ray.set_password("a long and strange one")
    ray.save()
    assert status("ray", "a long and strange one") == 302


@pytest.mark.usefixtures("few")
def test_an_address_that_tries_many_accounts_is_refused_and_others_are_not() -> None:
    factories.ray()
    tried = [status(f"guess{number}", "wrong") for number in range(4)]
    assert (tried, status("ray", factories.PASSWORD)) == ([200] * 4, 429)
    assert status("ray", factories.PASSWORD, "203.0.113.8") == 302


@pytest.mark.usefixtures("few")
def test_the_right_password_takes_back_the_wrong_ones_of_the_account() -> None:
    factories.ray()
    answers = [status("ray", password) for password in ("wrong", factories.PASSWORD, "wrong")]
    assert answers == [200, 302, 200]
    assert status("ray", factories.PASSWORD) == 302


@pytest.mark.usefixtures("few")
def test_addresses_of_one_network_count_together() -> None:
    tried = [status(f"guess{number}", "wrong", f"2001:db8::{number}") for number in range(4)]
    assert (tried, status("more", "wrong", "2001:db8::ffff")) == ([200] * 4, 429)
    assert status("more", "wrong", "2001:db8:0:1::1") == 200, "another network"


@pytest.mark.usefixtures("full")
def test_more_than_wait_are_turned_away_before_a_password_is_hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    factories.ray()
    monkeypatch.setattr(User, "check_password", lambda *_: pytest.fail("a password was hashed"))
    refused = enter("ray", factories.PASSWORD)
    assert (refused.status_code, refused["Retry-After"]) == (429, "5")


def test_one_password_is_hashed_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logins, "limits_of", lambda request, name: {"account-ray": 10})
    begun, go_on, running, most = threading.Event(), threading.Event(), [0], [0]
    request = HttpRequest()

    def check() -> None:
        running[0] += 1
        most[0] = max(most[0], running[0])
        begun.set()
        go_on.wait(20)
        running[0] -= 1

    several = [threading.Thread(target=logins.check_login, args=(request, "ray", check)) for _ in range(3)]
    for thread in several:
        thread.start()
    begun.wait(20)
    go_on.set()
    for thread in several:
        thread.join(20)
    assert most == [1]


def test_whoever_waits_too_long_is_turned_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logins, "PATIENCE_SECONDS", 0.01)
    with logins.hashing, pytest.raises(TooManyLogins, match="right now"):
        logins.check_login(HttpRequest(), "ray", lambda: pytest.fail("checked beside another one"))


def test_the_log_says_who_came_in_and_who_did_not_and_never_a_password(
    caplog: pytest.LogCaptureFixture,
) -> None:
    factories.ray()
    with caplog.at_level(logging.INFO, logins.__name__):
        enter("ray", factories.PASSWORD)
        enter("ray", "my secret guess")
        enter("my secret typed as a name", "x")
    said = [record.getMessage() for record in caplog.records if record.name == logins.__name__]
    assert said == [
        "log-in of 'ray' from 203.0.113.7",
        "log-in of 'ray' failed, from 203.0.113.7",
        "log-in of an unknown account failed, from 203.0.113.7",
    ]


def test_before_the_limit_each_wrong_password_costs_a_longer_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("annotation.accounts.logins.time.time", lambda: now[0])
    factories.ray()
    assert [status("ray", "wrong") for _ in range(4)] == [200] * 4  # the fourth is 10 - 6
    refused = enter("ray", factories.PASSWORD)
    assert (refused.status_code, refused["Retry-After"]) == (429, "5")
    assert b"Try again in 5 seconds" in getattr(refused, "content", b"")
    now[0] += 5
    assert (status("ray", "wrong"), enter("ray", "wrong")["Retry-After"]) == (200, "10")
    now[0] += 10
    assert status("ray", factories.PASSWORD) == 302
    assert status("ray", "wrong") == 200, "the right one takes the waits back"


def test_a_name_that_nobody_has_waits_as_one_that_somebody_has() -> None:
    factories.ray()
    known = [status("ray", "wrong", "203.0.113.8") for _ in range(5)]
    assert known == [status("nobody", "wrong", "203.0.113.9") for _ in range(5)] == [200] * 4 + [429]
