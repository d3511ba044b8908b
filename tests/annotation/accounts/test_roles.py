"""Who a session belongs to, and which role that person has."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user
from django.contrib.auth.models import AnonymousUser, Group, User
from django.db import connection
from django.http import HttpRequest
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.accounts.roles import Backend, Role, give_role, role_of
from tests import factories

pytestmark = pytest.mark.django_db


def signed_in(client: Client) -> HttpRequest:
    request = HttpRequest()
    request.session = client.session
    return request


def test_person_and_role_are_read_in_one_query(ada: Client) -> None:
    with CaptureQueriesContext(connection) as asked:
        found = Backend().get_user(factories.ada().pk)
        before = len(asked)
        assert found is not None and role_of(found) == Role.ADMIN
    assert len(asked) == before


def test_a_page_asks_for_the_role_once(ada: Client) -> None:
    with CaptureQueriesContext(connection) as asked:
        assert ada.get("/dashboard/").status_code == 200
    assert sum('FROM "auth_user"' in one["sql"] for one in asked) == 1
    assert not any('FROM "auth_group"' in one["sql"] for one in asked)


def test_of_several_groups_the_highest_role_counts_and_other_groups_none() -> None:
    user = User.objects.create_user("several")
    names = (Role.READER.value, Role.EXPERT.value, "people of the third floor")
    user.groups.add(*(Group.objects.get_or_create(name=name)[0] for name in names))
    found = Backend().get_user(user.pk)
    assert found == user and found is not None and role_of(found) == Role.EXPERT
    assert role_of(User.objects.get(pk=user.pk)) == Role.EXPERT


def test_who_has_no_group_has_no_role_and_a_superuser_every_one() -> None:
    plain, above = User.objects.create_user("plain"), User.objects.create_superuser("above")
    roles = [role_of(Backend().get_user(user.pk) or AnonymousUser()) for user in (plain, above)]
    assert roles == [None, Role.ADMIN]


def test_a_role_that_is_taken_away_is_gone_at_the_next_request(erin: Client) -> None:
    assert erin.get("/work/").status_code == 200
    give_role(factories.erin(), Role.READER)
    assert erin.get("/work/").status_code == 403


def test_who_is_locked_out_or_gone_is_nobody(erin: Client) -> None:
    person = factories.erin()
    User.objects.filter(pk=person.pk).update(is_active=False)
    assert Backend().get_user(person.pk) is None
    assert not get_user(signed_in(erin)).is_authenticated
    assert Backend().get_user(10**9) is None
