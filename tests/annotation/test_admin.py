from __future__ import annotations

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from annotation.access import Role, role_of
from annotation.models import Price
from tests import factories

pytestmark = pytest.mark.django_db
TABLES = sorted((model._meta.app_label, model._meta.model_name or "") for model in admin.site._registry)


@pytest.mark.parametrize(("app", "model"), TABLES)
def test_every_table_can_be_looked_at_by_admins(ada: Client, app: str, model: str) -> None:
    factories.examined(factories.cases(factories.opened())[0], 1)
    assert ada.get(reverse(f"admin:{app}_{model}_changelist")).status_code == 200


@pytest.mark.parametrize(("app", "model"), TABLES)
def test_nobody_else_gets_in(erin: Client, app: str, model: str) -> None:
    answer = erin.get(reverse(f"admin:{app}_{model}_changelist"))
    assert (answer.status_code, answer["Location"].startswith("/admin/login/")) == (302, True)


def test_what_happened_cannot_be_edited(ada: Client) -> None:
    case = factories.settled(factories.cases(factories.opened())[0], 1)
    address = reverse("admin:annotation_case_change", args=[case.pk])
    assert ada.get(address).status_code == 200
    assert ada.post(address, {"label": "0"}).status_code == 403
    assert ada.post(reverse("admin:annotation_case_delete", args=[case.pk])).status_code == 403
    case.refresh_from_db()
    assert case.label == 1


def test_prices_can_be_added(ada: Client) -> None:
    form = {
        "model": "small-model",
        "effective_from_0": "2026-01-01",
        "effective_from_1": "00:00",
        "input": "1",
        "output": "5",
        "cache_read": "0",
        "cache_write": "0",
        "note": "",
    }
    ada.post(reverse("admin:annotation_price_add"), form)
    assert Price.objects.get().output == 5


def test_admins_make_accounts_and_give_them_a_role(ada: Client) -> None:
    form = {
        "username": "uma",
        "usable_password": "true",
        "password1": "a long winding road",
        "password2": "a long winding road",
    }
    ada.post(reverse("admin:auth_user_add"), form)
    uma = User.objects.get(username="uma")
    assert role_of(uma) is None
    group, _ = Group.objects.get_or_create(name=Role.EXPERT.value)
    change = {"username": "uma", "is_active": "on", "groups": [group.pk]}
    ada.post(reverse("admin:auth_user_change", args=[uma.pk]), change)
    assert role_of(User.objects.get(pk=uma.pk)) is Role.EXPERT


def test_nobody_is_made_a_superuser_here(ada: Client) -> None:
    ray = factories.ray()
    form = {"username": "ray", "is_active": "on", "is_superuser": "on", "is_staff": "on"}
    ada.post(reverse("admin:auth_user_change", args=[ray.pk]), form)
    ray.refresh_from_db()
    assert not (ray.is_superuser or ray.is_staff)
