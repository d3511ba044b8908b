"""Accounts and invitations over the API."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from pytest_django import Settings

from annotation.accounts.roles import Role, role_of
from annotation.models import AuditEvent, Invitation, StoredAnswer
from tests import factories
from tests.annotation.web.people.test_views import fresh, join, verbs
from tests.calls import get, pages, post

pytestmark = pytest.mark.django_db


def test_people_are_listed_filtered_by_pages(ada: Client) -> None:
    for person in (factories.erin(), factories.ray()):
        person.email = f"{person}@example.org"
        person.save()
    assert [row["name"] for row in pages(ada, "people", 2)] == ["ada", "erin", "ray"]
    (erin,) = get(ada, "people", role="expert")["items"]
    assert (erin["name"], erin["role"], erin["open"]) == ("erin", "expert", True)
    assert [row["name"] for row in get(ada, "people", q="RAY@")["items"]] == ["ray"]


def test_an_admin_changes_roles_and_closes_accounts(ada: Client) -> None:
    ray = factories.ray()
    path = f"people/{ray.pk}/changes"
    assert post(ada, path, {"action": "role", "role": "expert"})["role"] == "expert"
    assert role_of(fresh(ray)) is Role.EXPERT
    assert post(ada, path, {"action": "close"})["open"] is False
    assert post(ada, path, {"action": "open"})["open"] is True
    assert verbs() == ["account changed"] * 3
    assert AuditEvent.objects.filter(user=factories.ada()).count() == 3


def test_no_token_makes_an_admin_or_a_way_to_a_password(ada: Client) -> None:
    path = f"people/{factories.ray().pk}/changes"
    for wish in (
        {"action": "role", "role": "admin"},
        {"action": "reset"},
        {"action": "email", "email": "mine@example.org"},
        {"action": "role"},
    ):
        post(ada, path, wish, 422)
    post(ada, "people/invitations", {"role": "admin"}, 422)
    assert role_of(fresh(factories.ray())) is Role.READER and not Invitation.objects.exists()


def test_nobody_changes_their_own_role(ada: Client) -> None:
    path = f"people/{factories.ada().pk}/changes"
    refused = post(ada, path, {"action": "role", "role": "reader"}, 409)
    assert refused["type"] == "urn:cosqa:account-change-refused"


def test_an_invitation_is_used_with_the_link_that_was_told_once(ada: Client) -> None:
    made = post(ada, "people/invitations", {"role": "expert", "name": "Zoe"}, 201)
    assert (made["state"], made["mailed"], made["created_by"]) == ("open", False, "ada")
    _, status = join(urlsplit(made["link"]).path)
    assert status == 302 and role_of(User.objects.get(username="zoe")) is Role.EXPERT
    (row,) = get(ada, "people/invitations")["items"]
    assert (row["state"], row["accepted_by"], "link" in row) == ("accepted", "zoe", False)


def test_an_invitation_is_mailed_and_revoked(ada: Client, settings: Settings) -> None:
    settings.MAIL_IS_SET, settings.ALLOWED_HOSTS = True, ["testserver"]
    made = post(ada, "people/invitations", {"email": "zoe@example.org"}, 201)
    assert made["mailed"] and made["link"] in mail.outbox[0].body
    assert post(ada, f"people/invitations/{made['id']}/revoke", {}) == {"revoked": True}
    assert post(ada, f"people/invitations/{made['id']}/revoke", {}) == {"revoked": False}
    assert Invitation.objects.get().state == "revoked"
    assert verbs() == ["invitation made", "invitation revoked"]


def test_a_link_is_not_kept_for_who_sends_the_same_again(ada: Client) -> None:
    headers = {"Idempotency-Key": "one"}
    answers = [
        ada.post("/api/people/invitations", {}, content_type="application/json", headers=headers)
        for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [201, 409]
    assert "shown once" in answers[1].json()["detail"]
    assert Invitation.objects.count() == 1
    secret = answers[0].json()["link"].rstrip("/").rpartition("/")[2]
    assert secret and secret not in StoredAnswer.objects.get().body
