"""API tokens on a page: made with a scope and an end, shown once, listed, withdrawn."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import ApiToken, AuditEvent
from annotation.web.tokens import page as pages
from tests import factories
from tests.calls import get

pytestmark = pytest.mark.django_db
PAGE = "/tokens/"
WANTED = {"name": "laptop", "scope": "read", "days": "7"}


def test_a_token_is_shown_once_and_works(ray: Client) -> None:
    answer = ray.post(PAGE, WANTED)
    [secret] = re.findall(r'id="token-secret">([\w-]+)<', answer.content.decode())
    assert "no-store" in answer["Cache-Control"]
    script = Client(headers={"authorization": f"Bearer {secret}"})
    assert get(script, "me")["name"] == "ray"
    page = ray.get(PAGE).content.decode()
    assert secret not in page
    assert "laptop" in page
    token = ApiToken.objects.get()
    assert (token.scope, token.user) == ("read", factories.ray())
    assert timedelta(days=6) < token.expires_at - timezone.now() <= timedelta(days=7)
    assert token.last_used_at is not None
    assert AuditEvent.objects.filter(verb="token made", user=factories.ray()).exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": ""}, "required"),
        ({"scope": "root"}, "not one of the available choices"),
        ({"days": "0"}, "greater than or equal to 1"),
        ({"days": "4000"}, "less than or equal to 3650"),
        ({"name": "old"}, "choose another name"),
    ],
)
def test_a_wrong_order_makes_nothing(ray: Client, changes: dict[str, str], said: str) -> None:
    ApiToken.objects.issue(factories.ray(), "old")
    answer = ray.post(PAGE, WANTED | changes)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert ApiToken.objects.count() == 1


def test_nobody_hoards_tokens(ray: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MOST_TOKENS", 1)
    ApiToken.objects.issue(factories.ray(), "old")
    assert "withdraw one first" in ray.post(PAGE, WANTED).content.decode()


def test_everybody_sees_their_own_tokens_and_admins_all(ray: Client, ada: Client) -> None:
    ApiToken.objects.issue(factories.ray(), "of ray")
    ApiToken.objects.issue(factories.ada(), "of ada")
    assert "of ada" not in ray.get(PAGE).content.decode()
    page = ada.get(PAGE).content.decode()
    assert page.index("of ada") < page.index("of ray"), "one's own come first"


def test_a_token_is_withdrawn_at_once(ray: Client) -> None:
    token, secret = ApiToken.objects.issue(factories.ray(), "old")
    page = ray.post(f"{PAGE}withdraw/", {"token": token.pk}, follow=True).content.decode()
    assert "“old” is withdrawn" in page
    assert Client(headers={"authorization": f"Bearer {secret}"}).get("/api/me").status_code == 401
    again = ray.post(f"{PAGE}withdraw/", {"token": token.pk}, follow=True).content.decode()
    assert "no such token" in again


def test_only_admins_withdraw_tokens_of_others(ray: Client, ada: Client) -> None:
    token, _ = ApiToken.objects.issue(factories.ada(), "of ada")
    ray.post(f"{PAGE}withdraw/", {"token": token.pk})
    assert ApiToken.objects.exists()
    other, _ = ApiToken.objects.issue(factories.ray(), "of ray")
    ada.post(f"{PAGE}withdraw/", {"token": other.pk})
    assert not ApiToken.objects.filter(pk=other.pk).exists()
    assert AuditEvent.objects.filter(verb="token withdrawn", user=factories.ada()).exists()


def test_a_hostile_name_is_shown_as_text(ray: Client) -> None:
    page = ray.post(PAGE, WANTED | {"name": "<b>x</b>"}).content.decode()
    assert "&lt;b&gt;x" in page
    assert "<b>x" not in page
