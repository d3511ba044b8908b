"""Comments and flags over the API."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import Build, Case, Comment, Seen
from tests import factories
from tests.calls import get, pages, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def case() -> Case:
    return factories.examined(factories.cases(factories.opened())[0], 1)


def test_a_comment_is_written_told_and_read(erin: Client, case: Case) -> None:
    factories.ada()
    made = post(erin, f"cases/{case.pk}/comments", {"text": "@ada and @nobody look"}, 201)
    assert (made["kind"], made["told"], made["unknown"]) == ("comment", ["ada"], ["nobody"])
    post(erin, f"cases/{case.pk}/comments", {"text": "and this"}, 201)
    rows = pages(erin, f"cases/{case.pk}/comments", 1)
    assert [(row["text"], row["author"]) for row in rows] == [
        ("@ada and @nobody look", "erin"),
        ("and this", "erin"),
    ]
    assert Seen.objects.filter(user=factories.erin(), pair=case.pair).exists()
    assert post(erin, f"cases/{case.pk}/comments", {"text": "  "}, 422)["type"] == "urn:cosqa:bad-comment"


def test_a_flag_waits_for_an_admin_who_answers_once(erin: Client, ada: Client, case: Case) -> None:
    flag = post(erin, f"cases/{case.pk}/comments", {"text": "wrong test", "flag": True}, 201)
    assert [row["id"] for row in get(ada, "flags")["items"]] == [flag["id"]]
    get(erin, "flags", 403)
    answer = post(ada, f"flags/{flag['id']}/answers", {"text": "mended"}, 201)
    assert (answer["answers"], answer["told"]) == (flag["id"], ["erin"])
    again = post(ada, f"flags/{flag['id']}/answers", {"text": "again"}, 409)
    assert again["type"] == "urn:cosqa:already-answered"
    assert get(ada, "flags")["items"] == []


def test_where_labels_are_hidden_others_comments_are_too(erin: Client, ada: Client, case: Case) -> None:
    Build.objects.update(hides_reviews=True)
    post(ada, f"cases/{case.pk}/comments", {"text": "I say 0"}, 201)
    post(erin, f"cases/{case.pk}/comments", {"text": "hm"}, 201)
    assert [row["text"] for row in get(erin, f"cases/{case.pk}/comments")["items"]] == ["hm"]
    assert len(get(ada, f"cases/{case.pk}/comments")["items"]) == Comment.objects.count() == 2
