"""Tests of connections over the API."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from annotation.builds.control import connection_test
from annotation.models import ConnectionTest
from tests.annotation.web.connection.test_views import made
from tests.calls import get, pages, post
from tests.fake_messages import FakeMessages

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def configured(settings: Any) -> None:
    settings.ANTHROPIC_API_KEY, settings.LLM_BASE_URL = "a-secret-key", "https://api.example.org"
    settings.LLM_PROFILE, settings.LLM_MODEL = "anthropic", "usual-model"


def test_a_test_is_ordered_carried_out_and_read(ada: Client, settings: Any) -> None:
    with FakeMessages() as fake:
        settings.ANTHROPIC_API_KEY, settings.LLM_BASE_URL = fake.key, fake.url
        asked = post(ada, "connection/tests", {"profile": "deepseek"}, 201)
        assert (asked["state"], asked["model"], asked["configured"]) == ("waiting", "usual-model", True)
        connection_test.try_one()
    told = get(ada, f"connection/tests/{asked['id']}")
    assert told["state"] == "done" and "json_schema = true" in told["toml"]
    assert {"tried", "works", "told"} <= told["findings"][0].keys()
    assert fake.key not in str(told)


def test_one_test_runs_at_a_time_and_addresses_are_checked(ada: Client) -> None:
    wrong = post(ada, "connection/tests", {"base_url": "ftp://example.org"}, 409)
    assert wrong["type"] == "urn:cosqa:test-refused"
    assert post(ada, "connection/tests", {"profile": "nothing"}, 422)["errors"][0]["where"] == "profile"
    post(ada, "connection/tests", {}, 201)
    assert "already running" in post(ada, "connection/tests", {}, 409)["detail"]


def test_tests_are_listed_by_pages(ada: Client) -> None:
    ids = [made(state="done").pk for _ in range(3)]
    assert [row["id"] for row in pages(ada, "connection/tests", 2)] == ids[::-1]
    assert ConnectionTest.objects.count() == 3
