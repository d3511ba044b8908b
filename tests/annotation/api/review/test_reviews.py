"""Reviews over the API: assisted labels, their history, overrides, conflicts and undo."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from annotation.models import Case, Review
from retrieval.models import Label
from tests import factories
from tests.annotation.review import test_carried_labels as carried_labels
from tests.calls import cost, get, pages, post, with_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def case() -> Case:
    """Settled by the agents as a match."""
    return factories.settled(factories.cases(factories.opened())[0], 1)


def body(client: Client, case: Case, label: int | None, **changes: Any) -> dict[str, Any]:
    """A review as somebody sends it who has just read the case."""
    read = get(client, f"cases/{case.pk}")
    known = {name: read[name] for name in ("evidence", "seen_revision")}
    return {"label": label, **known, **changes}


def test_a_review_is_stored_as_assisted_with_its_evidence(erin: Client, case: Case) -> None:
    sent = body(erin, case, 1)
    made = post(erin, f"cases/{case.pk}/reviews", sent, 201)
    assert made | {"label": 1, "phase": "assisted", "revision": 1, "rater": "erin"} == made
    assert made["evidence"] == sent["evidence"]
    assert Label.objects.get(assisted=True).value == 1


def test_unsure_is_a_review_and_no_label(erin: Client, case: Case) -> None:
    assert post(erin, f"cases/{case.pk}/reviews", body(erin, case, None), 201)["label"] is None
    assert Label.objects.get(assisted=True).value is None


def test_an_override_needs_a_reason(erin: Client, case: Case) -> None:
    path = f"cases/{case.pk}/reviews"
    problem = post(erin, path, body(erin, case, 0), 422)
    assert problem["type"] == "urn:cosqa:override-needs-reason"
    assert not Review.objects.exists()
    made = post(erin, path, body(erin, case, 0, reason="it sorts, too"), 201)
    assert (made["is_override"], made["agent_label"]) == (True, 1)


def test_marked_lines_explain_an_override_and_are_told_with_the_code(erin: Client, case: Case) -> None:
    path = f"cases/{case.pk}/reviews"
    problem = post(erin, path, body(erin, case, 0, lines="9999"), 422)
    assert "The function has the lines 1 to" in problem["detail"]
    made = post(erin, path, body(erin, case, 0, lines="1-2"), 201)
    assert (made["lines"], made["lines_of"]) == ("1-2", case.pair.snippet.digest)
    assert [row["lines"] for row in get(erin, path)["items"]] == ["1-2"]


def test_a_lost_race_is_a_conflict_that_shows_what_stands(erin: Client, case: Case) -> None:
    path = f"cases/{case.pk}/reviews"
    late = body(erin, case, None)
    post(erin, path, body(erin, case, 1), 201)
    problem = post(erin, path, late, 409)
    assert problem["type"] == "urn:cosqa:conflict"
    assert (problem["stored"]["label"], problem["stored"]["revision"]) == (1, 1)
    assert Review.objects.count() == 1


def test_sending_the_same_again_stores_nothing_twice(erin: Client, case: Case) -> None:
    sent = body(erin, case, 1)
    first = post(erin, f"cases/{case.pk}/reviews", sent, 201)
    assert post(erin, f"cases/{case.pk}/reviews", sent, 201)["id"] == first["id"]


def test_two_people_do_not_get_in_each_others_way(erin: Client, ada: Client, case: Case) -> None:
    post(erin, f"cases/{case.pk}/reviews", body(erin, case, 1), 201)
    post(ada, f"cases/{case.pk}/reviews", body(ada, case, 1), 201)
    assert [row["rater"] for row in get(erin, f"cases/{case.pk}/reviews")["items"]] == ["erin", "ada"]


def test_undo_takes_the_last_label_back_and_keeps_the_history(erin: Client, case: Case) -> None:
    path = f"cases/{case.pk}/reviews"
    post(erin, path, body(erin, case, 1), 201)
    undone = post(erin, f"{path}/undo", {"seen_revision": 1}, 201)
    assert (undone["withdrawn"], undone["revision"]) == (True, 2)
    assert len(get(erin, path)["items"]) == 2
    assert post(erin, f"{path}/undo", {"seen_revision": 2}, 409)["type"] == "urn:cosqa:nothing-to-undo"


def test_undo_of_a_label_that_was_changed_meanwhile_is_a_conflict(erin: Client, case: Case) -> None:
    path = f"cases/{case.pk}/reviews"
    post(erin, path, body(erin, case, 1), 201)
    post(erin, path, body(erin, case, None), 201)
    assert post(erin, f"{path}/undo", {"seen_revision": 1}, 409)["stored"]["revision"] == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"label": 2},
        {"label": "yes"},
        {"label": "1"},
        {"label": True},
        {"label": 0.5},
        {"evidence": "x"},
        {"seen_revision": -1},
        {"lable": 1},
    ],
)
def test_what_is_no_review_is_refused(erin: Client, case: Case, wrong: dict[str, Any]) -> None:
    post(erin, f"cases/{case.pk}/reviews", body(erin, case, 1) | wrong, 422)
    assert not Review.objects.exists()


def test_a_label_is_never_guessed_from_a_missing_one(erin: Client, case: Case) -> None:
    sent = body(erin, case, None)
    del sent["label"]
    post(erin, f"cases/{case.pk}/reviews", sent, 422)


def test_readers_may_read_reviews_and_give_none(ray: Client, case: Case) -> None:
    assert get(ray, f"cases/{case.pk}/reviews") == {"items": [], "next": None}
    post(ray, f"cases/{case.pk}/reviews", body(ray, case, 1), 403)


def test_an_expert_may_review_by_token(case: Case) -> None:
    client = with_token(factories.erin(), enforce_csrf_checks=True)
    assert post(client, f"cases/{case.pk}/reviews", body(client, case, 1), 201)["rater"] == "erin"


def test_a_builds_reviews_come_in_pages_at_a_fixed_cost(erin: Client, case: Case) -> None:
    cases = factories.cases(case.build)[:4]
    for one in cases:
        post(erin, f"cases/{one.pk}/reviews", body(erin, one, None), 201)
    path = f"builds/{case.build_id}/reviews"
    assert [row["case"] for row in pages(erin, path, 3)] == [one.pk for one in cases]
    assert cost(erin, path, limit=1) == cost(erin, path, limit=200) <= 7


def test_an_earlier_revision_counts_again(erin: Client, ada: Client, case: Case) -> None:
    path = f"cases/{case.pk}/reviews"
    first = post(erin, path, body(erin, case, 1), 201)
    second = post(erin, path, body(erin, case, None), 201)
    where = f"reviews/{first['id']}/restore"
    assert post(erin, where, {"seen_revision": 1}, 409)["type"] == "urn:cosqa:no-review-to-restore"
    back = post(erin, where, {"seen_revision": second["revision"]}, 201)
    assert (back["label"], back["revision"]) == (1, 3)
    post(ada, where, {"seen_revision": 3}, 404)


def test_the_label_of_equal_code_is_carried_over(erin: Client) -> None:
    first, second = carried_labels.SNIPPETS[:2]
    factories.snippets((first, second))
    found = factories.cases(factories.opened(k=2))
    one, other = (factories.settled(case, 1) for case in found[:2])
    said = body(erin, other, 1)
    told = {name: said[name] for name in ("evidence", "seen_revision")}
    path = f"cases/{other.pk}/reviews/as-before"
    assert post(erin, path, told, 422)["type"] == "urn:cosqa:bad-review"
    given = post(erin, f"cases/{one.pk}/reviews", body(erin, one, 1), 201)
    assert post(erin, path, {**told, "evidence": "0" * 64}, 409)["type"] == "urn:cosqa:evidence-changed"
    made = post(erin, path, {**told, "source": given["id"]}, 201)
    assert (made["label"], made["case"]) == (1, other.pk)


@pytest.mark.parametrize("path", ["reviews", "reviews/as-before"])
def test_a_review_on_evidence_that_changed_is_refused_as_on_the_page(
    erin: Client, case: Case, path: str
) -> None:
    sent = body(erin, case, 1)
    Case.objects.filter(pk=case.pk).update(label=0)  # the agents were asked again meanwhile
    sent = {name: sent[name] for name in ("evidence", "seen_revision")} if "as-before" in path else sent
    problem = post(erin, f"cases/{case.pk}/{path}", sent, 409)
    assert problem["type"] == "urn:cosqa:evidence-changed"
    assert "agents continued" in problem["detail"]
    assert not Review.objects.exists()
