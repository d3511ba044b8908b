from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.builds.control import connection_test
from annotation.models import ConnectionTest
from tests import factories
from tests.fake_messages import FakeMessages

pytestmark = pytest.mark.django_db
PAGE = "/connection/"
WANTED = {"model": "some-model", "profile": "anthropic", "base_url": ""}


@pytest.fixture(autouse=True)
def configured(settings: Any) -> None:
    settings.ANTHROPIC_API_KEY, settings.LLM_BASE_URL = "a-secret-key", "https://api.example.org"
    settings.LLM_PROFILE = "anthropic"


def made(**columns: Any) -> ConnectionTest:
    defaults = {"base_url": "https://api.example.org", "configured": True, "model": "m", "profile": "generic"}
    return ConnectionTest.objects.create(user=factories.ada(), **defaults | columns)


def test_the_page_says_what_a_test_costs_before_it_is_made(ada: Client) -> None:
    page = ada.get(PAGE).content.decode()
    assert "up to 14 short questions" in page and "there is no price for" in page
    assert "https://api.example.org" in page and "a-secret-key" not in page
    assert not ConnectionTest.objects.exists()


def test_a_test_is_recorded_with_who_asked_and_the_page_waits_without_blocking(ada: Client) -> None:
    answer = ada.post(PAGE, WANTED)
    test = ConnectionTest.objects.get()
    assert (test.user, test.configured, test.state) == (factories.ada(), True, "waiting")
    assert answer["Location"] == reverse("connection-test", args=[test.pk])
    page = ada.get(answer["Location"]).content.decode()
    assert "waiting for a worker" in page and 'hx-trigger="every 1s"' in page
    assert "some-model" in ada.get(PAGE).content.decode()


def test_the_result_comes_as_a_fragment_and_stops_asking(ada: Client, settings: Any) -> None:
    with FakeMessages() as fake:
        settings.ANTHROPIC_API_KEY, settings.LLM_BASE_URL = fake.key, fake.url
        ada.post(PAGE, WANTED | {"profile": "deepseek"})
        connection_test.try_one()
    path = reverse("connection-test", args=[ConnectionTest.objects.get().pk])
    part = ada.get(path, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part and "hx-trigger" not in part
    assert "json_schema = true" in part and "COSQA_LLM_PROFILE=mine.toml" in part
    assert "no price known: enter one" in part
    said = " ".join(part.split())
    assert '<th scope="row">json schema</th><td data-label="The profile says">no</td>' in said
    assert fake.key not in part


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": ""}, "This field is required"),
        ({"profile": "/etc/passwd"}, "Select a valid choice"),
        ({"base_url": "file:///etc/passwd"}, "has to be like https://example.org"),
    ],
)
def test_what_is_wrong_is_said_and_kept(ada: Client, change: dict[str, str], said: str) -> None:
    answer = ada.post(PAGE, WANTED | change)
    assert (answer.status_code, ConnectionTest.objects.count()) == (422, 0)
    page = answer.content.decode()
    assert said in page
    assert change.get("base_url", "") in page


def test_a_batch_is_tried_by_a_choice_and_compared_with_the_profile(ada: Client, settings: Any) -> None:
    with FakeMessages() as fake:
        settings.ANTHROPIC_API_KEY, settings.LLM_BASE_URL = fake.key, fake.url
        fake.batches.looks = 0
        ada.post(PAGE, WANTED | {"profile": "deepseek", "batches": "on"})
        connection_test.try_one()
    test = ConnectionTest.objects.get()
    page = " ".join(ada.get(reverse("connection-test", args=[test.pk])).content.decode().split())
    assert '<th scope="row">batches</th><td data-label="The profile says">no</td>' in page


def test_what_a_server_says_is_shown_as_text(ada: Client) -> None:
    told = {"tried": "json schema", "works": False, "told": "<script>alert(1)</script>\u202e"}
    test = made(state="done", findings=[told], toml="broken", latency=0.1)
    page = ada.get(reverse("connection-test", args=[test.pk])).content.decode()
    assert "<script>alert" not in page and "\u202e" not in page
    assert "can no longer be read" in page


def test_a_failure_is_said(ada: Client) -> None:
    test = made(state="failed", message="the provider does not accept the key")
    page = ada.get(reverse("connection-test", args=[test.pk])).content.decode()
    assert "does not accept the key" in page and "hx-trigger" not in page


@pytest.mark.parametrize("who", ["erin", "ray"])
def test_nobody_but_an_admin_has_anything_asked(who: str, request: pytest.FixtureRequest) -> None:
    client = Client()
    client.force_login(getattr(factories, who)())
    assert client.post(PAGE, WANTED | {"base_url": "http://localhost:1"}).status_code == 403
    assert client.get(reverse("connection-test", args=[made().pk])).status_code == 403
    assert ConnectionTest.objects.count() == 1


def test_the_dashboard_and_the_launch_form_lead_there(ada: Client) -> None:
    for path in ("/dashboard/", "/builds/new/"):
        assert f'href="{PAGE}"' in ada.get(path).content.decode()
