"""The project's cap and prices over the API."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import Price, ProjectCapChange
from tests.calls import get, pages, post

pytestmark = pytest.mark.django_db


def test_the_projects_cap_is_read_and_changed_with_a_reason(ada: Client) -> None:
    assert get(ada, "project/cap")["budget"] is None
    told = post(ada, "project/cap", {"budget": "12.50", "reason": "the first half"})
    assert (told["budget"], told["spent"], told["stopped"]) == ("12.5", "0", [])
    post(ada, "project/cap", {"budget": None, "reason": "no cap"})
    assert ProjectCapChange.objects.count() == 2
    rows = pages(ada, "project/cap/changes", 1)
    assert [(row["before"], row["after"], row["user"]) for row in rows] == [
        ("12.5", None, "ada"),
        (None, "12.5", "ada"),
    ]
    assert post(ada, "project/cap", {"budget": "-1", "reason": "x"}, 422)
    assert post(ada, "project/cap", {"budget": "1", "reason": ""}, 422)


def test_a_price_is_entered_once_and_holds_from_then_on(ada: Client) -> None:
    since = "2026-01-01T00:00:00Z"
    told = {"model": "small", "input": "0.25", "output": "2", "effective_from": since}
    made = post(ada, "prices", told, 201)
    assert (made["model"], made["source"], made["cache_read"]) == ("small", "", None)
    again = post(ada, "prices", told, 422)
    assert again["type"] == "urn:cosqa:invalid-request"
    post(ada, "prices", {"model": "small", "input": "0.5", "output": "4"}, 201)
    assert [row["input"] for row in pages(ada, "prices", 1, model="small")] == ["0.500000", "0.250000"]
    assert Price.objects.filter(model="small").count() == 2
    for wrong in ({"input": "-1"}, {"input": "NaN"}, {"output": "1e9"}):
        post(ada, "prices", {"model": "wrong", "input": "1", "output": "1", **wrong}, 422)
    assert not Price.objects.filter(model="wrong").exists()
