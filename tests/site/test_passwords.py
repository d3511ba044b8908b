"""Forgotten passwords by mail, which tell nobody whether an account exists; and one's own changed."""

from __future__ import annotations

import re
import threading

import pytest
from django.core import mail
from django.core.cache import caches
from django.test import Client
from pytest_django import Settings

from annotation.models import AuditEvent
from cosqa_site.accounts import passwords
from tests import factories

pytestmark = pytest.mark.django_db

STRONG = "a long and strange one"


class AtOnce(threading.Thread):
    """Sends before the test looks."""

    def start(self) -> None:
        self.run()


@pytest.fixture(autouse=True)
def mails(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MAIL_IS_SET = True
    monkeypatch.setattr("cosqa_site.accounts.passwords.threading.Thread", AtOnce)
    caches["logins"].clear()
    ray = factories.ray()
    ray.email = "ray@example.org"
    ray.save()


def ask(email: str, address: str = "203.0.113.7") -> str:
    """The page after the question."""
    asked = Client(REMOTE_ADDR=address).post("/password/forgotten/", {"email": email}, follow=True)
    return re.sub(r'(csrf|nonce)\S*|"X-CSRFToken": "\w+"', "", asked.content.decode())


def test_a_link_is_mailed_and_sets_a_password_once() -> None:
    ask("RAY@example.org")
    link = re.search(r"http://testserver(\S+)", str(mail.outbox[0].body))
    assert link and "ray" in mail.outbox[0].body
    browser = Client()
    form = browser.get(link[1])["Location"]
    browser.post(form, {"new_password1": STRONG, "new_password2": STRONG})
    assert Client().login(username="ray", password=STRONG)
    assert b"can\xe2\x80\x99t be used" in Client().get(link[1]).content
    assert AuditEvent.objects.latest("pk").detail == {"new_password": "by a link"}


@pytest.mark.parametrize("who", ["nobody", "closed", "without password"])
def test_the_answer_does_not_tell_whether_there_is_an_account(who: str) -> None:
    known = ask("ray@example.org")
    ray, sent = factories.ray(), len(mail.outbox)
    if who == "closed":
        ray.is_active = False
    elif who == "without password":
        ray.set_unusable_password()
    ray.save()
    assert ask("nobody@example.org" if who == "nobody" else "ray@example.org") == known
    assert len(mail.outbox) == sent


def test_too_many_questions_send_nothing_more_and_look_the_same() -> None:
    pages = {ask("ray@example.org", f"203.0.113.{number}") for number in range(6)}
    assert (len(pages), len(mail.outbox)) == (1, passwords.MAILS_TO_ADDRESS)


def test_one_address_asks_for_so_many_accounts_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "MAILS_FROM_ADDRESS", 2)
    for email in ("a@example.org", "b@example.org", "ray@example.org"):
        ask(email)
    assert mail.outbox == []


def test_without_a_mail_server_an_admin_is_asked(settings: Settings) -> None:
    settings.MAIL_IS_SET = False
    assert "Ask an admin for a link" in ask("ray@example.org")
    assert mail.outbox == []
    assert b"Forgotten password" not in Client().get("/login/").content


def test_ones_own_password_is_changed_and_noted(ray: Client) -> None:
    sent = {"old_password": factories.PASSWORD, "new_password1": STRONG, "new_password2": STRONG}
    assert ray.post("/password/", sent)["Location"] == "/password/done/"
    assert ray.get("/browse/").status_code == 200, "this session goes on"
    assert AuditEvent.objects.latest("pk").detail == {"new_password": "by its owner"}
