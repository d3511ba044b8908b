"""Guidelines over the API: written version by version, chosen for a build's reviewers."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import Build, BuildEvent
from tests import factories
from tests.calls import get, pages, post

pytestmark = pytest.mark.django_db
CASE = {"query": "sort a list", "code": "def f(x): return sorted(x)", "value": "1", "why": "it sorts"}


def test_versions_are_written_listed_and_read(ada: Client) -> None:
    first = post(ada, "guidelines", {"name": "rules", "text": "1 is a match."}, 201)
    assert (first["version"], first["change"], first["created_by"]) == (1, "first", "ada")
    told = {"name": "rules", "text": "1 does all.", "change": "meaning", "note": "all", "seen_version": 1}
    second = post(ada, "guidelines", {**told, "worked_cases": [CASE]}, 201)
    assert second["version"] == 2
    assert get(ada, f"guidelines/{second['id']}")["worked_cases"] == [CASE]
    assert [row["version"] for row in pages(ada, "guidelines", 1, name="rules")] == [2, 1]
    assert get(ada, "guidelines", name="others")["items"] == []


def test_nobody_writes_over_a_version_that_they_have_not_seen(ada: Client) -> None:
    post(ada, "guidelines", {"name": "rules", "text": "1 is a match."}, 201)
    again = post(ada, "guidelines", {"name": "rules", "text": "other"}, 422)
    assert (again["type"], "already" in again["detail"]) == ("urn:cosqa:bad-guideline", True)
    unsaid = {"name": "rules", "text": "other", "seen_version": 1}
    assert "wording or the meaning" in post(ada, "guidelines", unsaid, 422)["detail"]


def test_reviewers_of_a_build_read_the_chosen_version(ada: Client) -> None:
    build = factories.opened()
    post(ada, "guidelines", {"name": "rules", "text": "1 is a match."}, 201)
    wish = {"guideline": "rules@1", "reason": "after the pilot"}
    told = post(ada, f"builds/{build.pk}/guidelines", wish)
    assert (told["guideline"]["name"], told["changed"]) == ("rules", True)
    assert post(ada, f"builds/{build.pk}/guidelines", wish)["changed"] is False
    assert "after the pilot" in BuildEvent.objects.get(event="guidelines changed").note
    assert (
        post(ada, f"builds/{build.pk}/guidelines", {"guideline": None, "reason": "back"})["guideline"] is None
    )
    assert Build.objects.get(pk=build.pk).guideline is None
    post(ada, f"builds/{build.pk}/guidelines", {"guideline": "nothing", "reason": "x"}, 409)
