from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

from annotation.accounts.roles import Role, role_of
from annotation.agents import screener
from annotation.builds.limits import budget
from annotation.models import AuditEvent, Price, Seen
from annotation.review import labels
from annotation.studies.audit_log import Verb
from tests import factories

pytestmark = pytest.mark.django_db
admin.autodiscover()
TABLES = sorted((model._meta.app_label, model._meta.model_name or "") for model in admin.site._registry)


@pytest.mark.parametrize(("app", "model"), TABLES)
def test_every_table_can_be_looked_at_by_admins(ada: Client, app: str, model: str) -> None:
    factories.examined(factories.cases(factories.opened())[0], 1)
    assert ada.get(reverse(f"admin:{app}_{model}_changelist")).status_code == 200


@pytest.mark.parametrize("asked", ["at__year=99999", "at__year=0", "id__exact=99999999999999999999", "q=%00"])
@pytest.mark.parametrize("table", ["annotation_buildevent", "annotation_step", "retrieval_collection"])
def test_an_address_that_asks_for_what_can_not_be_shows_the_table(
    ada: Client, table: str, asked: str
) -> None:
    answer = ada.get(f"{reverse(f'admin:{table}_changelist')}?{asked}", follow=True)
    assert answer.status_code == 200


@pytest.mark.alike
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


def test_a_price_that_calls_were_made_at_stays_as_it_is(ada: Client) -> None:
    price = Price.objects.create(model="any", effective_from="2026-01-01T00:00:00Z", input=1, output=5)
    case = factories.cases(factories.opened())[0]
    request = screener.build_screener_request(screener.ScreenerInputs(query="q", code="c"), "any")
    form = {
        "model": "any",
        "effective_from_0": "2026-01-01",
        "effective_from_1": "00:00",
        "input": "2",
        "output": "5",
        "note": "",
    }
    address = reverse("admin:annotation_price_change", args=[price.pk])
    ada.post(address, form)
    price.refresh_from_db()
    assert price.input == 2

    assert budget.reserve_call(case, request, "fake").price == price
    page = ada.get(address).content.decode()
    assert "Add a price of the same model with a later date" in page
    assert 'name="input"' not in page
    answer = ada.post(address, form | {"input": "3"}, follow=True)
    assert "Calls were made at this price" in answer.content.decode()
    price.refresh_from_db()
    assert price.input == 2


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


def account_events() -> list[tuple[str, str, dict[str, Any]]]:
    rows = AuditEvent.objects.filter(verb=Verb.ACCOUNT_CHANGED).order_by("pk").select_related("user")
    return [(row.user.get_username() if row.user else "", row.what, row.detail) for row in rows]


def test_role_and_lock_out_are_recorded(ada: Client) -> None:
    ray = factories.ray()
    expert, _ = Group.objects.get_or_create(name=Role.EXPERT.value)
    address = reverse("admin:auth_user_change", args=[ray.pk])
    ada.post(address, {"username": "ray", "is_active": "on", "groups": [expert.pk]})
    ada.post(address, {"username": "ray", "groups": [expert.pk]})
    ada.post(address, {"username": "ray", "groups": [expert.pk]})
    first, second = account_events()
    assert first[:2] == ("ada", "account ray")
    assert (first[2]["role_before"], first[2]["role"], first[2]["state"]) == ("reader", "expert", "open")
    assert (second[2]["state"], second[2]["changed"]) == ("closed", ["is_active"])


def test_new_accounts_and_passwords_are_recorded_without_the_password(ada: Client) -> None:
    secret = "a long winding road"  # a test's
    new = {"username": "uma", "usable_password": "true", "password1": secret, "password2": secret}
    ada.post(reverse("admin:auth_user_add"), new)
    uma = User.objects.get(username="uma")
    address = reverse("admin:auth_user_password_change", args=[uma.pk])
    assert ada.post(address, {"password1": "short", "password2": "other"}).status_code == 200
    other = {"usable_password": "true", "password1": "another long road", "password2": "another long road"}
    assert ada.post(address, other).status_code == 302
    made, changed = account_events()
    assert (made[1], made[2]["made"]) == ("account uma", True)
    assert changed[2] == {"new_password": True}
    assert "road" not in str(account_events())


@pytest.mark.parametrize(
    "table",
    [
        "annotation_case",
        "annotation_step",
        "annotation_review",
        "annotation_llmcall",
        "annotation_execution",
        "retrieval_label",
        "retrieval_candidate",
    ],
)
def test_whoever_looks_at_tables_of_judgements_has_seen_the_pairs(ada: Client, table: str) -> None:
    case = factories.examined(factories.cases(factories.opened())[0], 1)
    labels.store_label(factories.erin(), case, 1, "", "a" * 64, 0)
    app, _, name = table.partition("_")
    model = apps.get_model(app, name)
    for route, keys in (("changelist", []), ("change", [model._default_manager.earliest("pk").pk])):
        Seen.objects.all().delete()
        assert ada.get(reverse(f"admin:{table}_{route}", args=keys)).status_code == 200
        assert Seen.objects.filter(user=factories.ada(), pair=case.pair).exists(), route


def test_who_opens_other_tables_has_seen_nothing(ada: Client) -> None:
    factories.examined(factories.cases(factories.opened())[0], 1)
    ada.get(reverse("admin:annotation_build_changelist"))
    assert not Seen.objects.exists()
