"""Logging in and out, and sessions that nobody uses."""

from __future__ import annotations

import time
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from annotation.models import AuditEvent
from cosqa_site.accounts.log_in import USED
from tests import factories, studies

pytestmark = pytest.mark.django_db

BY_SCRIPT = {"sec-fetch-mode": "cors"}


@pytest.mark.parametrize("address", ["/logout/", "/admin/logout/"])
def test_a_log_out_leaves_neither_pages_nor_drafts_in_the_browser(ada: Client, address: str) -> None:
    left = ada.post(address)
    assert (left.status_code, left["Location"]) == (302, "/login/")
    assert left["Clear-Site-Data"] == '"cache", "storage"', "cookies are deleted by the log-out itself"
    assert ada.get("/admin/").status_code == 302


def test_the_tables_have_no_log_in_page_of_their_own() -> None:
    assert Client().get("/admin/login/?next=/admin/auth/")["Location"] == "/login/?next=/admin/auth/"


def test_whoever_is_logged_in_and_no_admin_is_refused_there_and_not_sent_to_and_fro(ray: Client) -> None:
    assert ray.get("/admin/", follow=True).status_code == 403


def test_a_session_lasts_as_long_as_the_setting_says_after_it_was_used(
    ray: Client, settings: Settings
) -> None:
    settings.SESSION_COOKIE_AGE = 7200
    grow_old(ray, 7100)
    ray.get("/browse/")
    left = Session.objects.get().expire_date - timezone.now()
    assert timedelta(seconds=7100) < left <= timedelta(seconds=7200)


def test_what_an_open_page_asks_for_by_itself_keeps_no_session_alive(ray: Client) -> None:
    grow_old(ray, 7100)
    before = Session.objects.get().expire_date
    ray.get("/browse/", headers=BY_SCRIPT)
    ray.post(f"/rate/{studies.study().pk}/pairs/1/heartbeat/", {"token": "t"}, headers=BY_SCRIPT)
    assert Session.objects.get().expire_date == before
    ray.post("/review/layout/", headers=BY_SCRIPT)
    assert Session.objects.get().expire_date > before, "what a person sends counts"


def test_a_session_that_ran_out_is_no_session(ray: Client) -> None:
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert ray.get("/browse/")["Location"] == "/login/?next=/browse/"


def test_a_page_that_is_opened_again_soon_writes_nothing(ray: Client) -> None:
    before = Session.objects.get().expire_date
    ray.get("/browse/")
    assert Session.objects.get().expire_date == before


def grow_old(client: Client, seconds: int) -> None:
    """As if the session had been used last so long ago."""
    session = client.session
    session[USED] = int(time.time()) - seconds
    session.save()
    Session.objects.update(expire_date=timezone.now() + timedelta(seconds=100))


def test_whoever_is_logged_in_already_is_led_on(ray: Client) -> None:
    assert ray.get("/login/").status_code == 302
    assert factories.ray().is_authenticated


def test_the_audit_log_has_both_ends_of_a_log_in_and_never_what_was_typed() -> None:
    factories.ray()
    for name, password in (("ray", "guess"), ("my password", "x"), ("ray", factories.PASSWORD)):
        Client(REMOTE_ADDR="203.0.113.7").post("/login/", {"username": name, "password": password})
    rows = AuditEvent.objects.order_by("pk").values_list("verb", "what", "user__username", "detail")
    here = {"from": "203.0.113.7"}
    assert list(rows) == [
        ("log-in failed", "account ray", None, here),
        ("log-in failed", "an unknown account", None, here),
        ("logged in", "account ray", "ray", here),
    ]
