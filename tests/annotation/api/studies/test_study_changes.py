"""Changes of studies over the API: drafts, amendments, raters, rounds, sealed scores."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from annotation.accounts.roles import Role, give_role
from annotation.models import Amendment, AuditEvent, Build, Scoring, Study
from annotation.studies.plan import plan as planning
from tests import factories, studies
from tests.annotation.api.studies.test_studies import build, order
from tests.annotation.studies.rated import agents, rated_study
from tests.calls import get, pages, post

__all__ = ["build"]  # a fixture
pytestmark = pytest.mark.django_db


def frozen() -> Study:
    study = studies.study()
    ruth = studies.rater("ruth", study)
    studies.rated(ruth, 1, study.pairs.get(number=1), tags=["inverse"])
    planning.freeze_plan(study)
    return study


def test_an_order_is_estimated_and_nothing_is_stored(ada: Client, build: Build) -> None:
    told = post(ada, "studies/estimate", order(build))
    assert (told["outlook"]["pairs"], told["outlook"]["ratings"], told["simulated"]) == (3, 9, None)
    simulated = post(ada, "studies/estimate", order(build, simulate="precision"))["simulated"]
    assert 0 <= simulated["power"] <= 100 and simulated["rates"]["source"]
    assert not Study.objects.exists()


def test_a_draft_is_drawn_anew_unless_somebody_else_has_changed_it(ada: Client, build: Build) -> None:
    made = post(ada, "studies", order(build), 201)
    path, seen = f"studies/{made['id']}/redraw", made["last_change"]
    again = post(ada, path, order(build, sample={"size": 2}, seen_change=seen))
    assert (again["pairs"], again["last_change"] > seen) == (2, True)
    refused = post(ada, path, order(build, seen_change=seen), 409)
    assert refused["type"] == "urn:cosqa:study-refused" and "nothing is stored" in refused["detail"]


def test_a_frozen_plan_is_amended_with_a_reason_and_the_rest_stays(ada: Client) -> None:
    study, other = frozen(), studies.guideline(version=2, text="More.")
    path = f"studies/{study.pk}/amendments"
    refused = post(ada, path, {"question": "which?"}, 422)
    assert refused["errors"][0]["where"] == "reason"
    told = post(ada, path, {"question": "which?", "guideline": "rules@2", "reason": "the pilot"})
    study.refresh_from_db()
    assert (study.question, study.guideline, study.reference) == ("which?", other, "own_tests")
    assert (Amendment.objects.get().reason, told["plan"]["question"]) == ("the pilot", "which?")
    post(ada, path, {"guideline": None, "reason": "none"})
    study.refresh_from_db()
    assert (study.guideline, study.question) == (None, "which?")


def test_an_amendment_keeps_what_somebody_else_has_changed(ada: Client) -> None:
    study = frozen()
    seen = get(ada, f"studies/{study.pk}")["last_change"]
    path = f"studies/{study.pk}/amendments"
    post(ada, path, {"question": "which?", "reason": "one", "seen_change": seen})
    post(ada, path, {"question": "what?", "reason": "two", "seen_change": seen}, 409)
    assert Study.objects.get().question == "which?"


def test_raters_are_added_changed_removed_and_included(ada: Client) -> None:
    study = frozen()
    factories.person("sam", Role.EXPERT)
    path = f"studies/{study.pk}/raters"
    wish = {"user": "sam", "condition": "own_tests", "capacity": 5}
    assert "why" in post(ada, path, wish, 409)["detail"]
    sam = post(ada, path, {**wish, "reason": "one more"}, 201)
    assert (sam["user"], sam["capacity"], sam["given"]) == ("sam", 5, 0)
    assert [row["user"] for row in pages(ada, path, 1)] == ["ruth", "sam"]
    more = {"action": "capacity", "capacity": 8, "reason": "time"}
    assert post(ada, f"{path}/{sam['id']}/changes", more)["rater"]["capacity"] == 8
    ruth = study.enrolments.get(user__username="ruth")
    out = {"action": "remove", "exclude": True, "reason": "guessed"}
    told = post(ada, f"{path}/{ruth.pk}/changes", out)
    assert (told["freed"], told["rater"]["excluded"]) == (1, True)
    back = post(ada, f"{path}/{ruth.pk}/changes", {"action": "include", "reason": "a mistake"})
    assert (back["counted"], back["taken"], back["rater"]["excluded"]) == (1, 0, False)


def test_a_rater_in_no_condition_of_the_study_is_refused(ada: Client) -> None:
    study = studies.study()
    factories.person("sam", Role.EXPERT)
    wish = {"user": "sam", "condition": "reading", "capacity": 5}
    assert "no condition reading" in post(ada, f"studies/{study.pk}/raters", wish, 409)["detail"]
    assert "no account" in post(ada, f"studies/{study.pk}/raters", {**wish, "user": "zoe"}, 409)["detail"]


def test_pairs_are_counted_then_asked_again(ada: Client) -> None:
    study = frozen()
    path = f"studies/{study.pk}/again"
    told = post(ada, f"{path}/estimate", {"tag": "inverse"})
    assert (told["pairs"], told["takers"][0]["planned"]) == (1, 3)
    assert post(ada, f"{path}/estimate", {}, 422)["type"] == "urn:cosqa:invalid-request"
    assert post(ada, path, {"tag": "inverse", "reason": "new rules"}) == {"pairs": 1}
    assert AuditEvent.objects.get(verb="pairs asked again").detail["why"] == "new rules"


def test_ratings_that_nobody_can_give_are_given_up(ada: Client) -> None:
    study = studies.study(raters=3)
    studies.rater("ruth", study)
    assert post(ada, f"studies/{study.pk}/give-up", {"reason": "only Ruth is here"}) == {"ratings": 6}
    post(ada, f"studies/{study.pk}/give-up", {"reason": " "}, 409)


def test_versions_are_scored_on_a_sealed_study(ada: Client) -> None:
    study = rated_study([[1, 0, 1, 0]] * 3, purpose=Study.Purpose.SEALED)
    made = agents(study, [1, 0, 1, 0])
    path = f"studies/{study.pk}/scores"
    assert [row["id"] for row in get(ada, path)["waiting"]] == [made.pk]
    for versions in ([999], ["nobody"]):
        assert post(ada, path, {"versions": versions}, 409)["type"] == "urn:cosqa:study-refused"
    assert not Scoring.objects.exists()
    told = post(ada, path, {"versions": [made.pk, made.name]}, 201)
    assert (told["waiting"], [row["id"] for row in told["scored"]]) == ([], [made.pk])


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("amendments", {"question": "?"}),
        ("raters", {"user": "sam", "condition": "own_tests", "capacity": 5}),
        ("again", {"every": True, "reason": "so"}),
        ("scores", {"versions": [1]}),
    ],
)
def test_who_rates_in_a_study_changes_nothing_of_it(path: str, body: dict[str, Any]) -> None:
    study = studies.study()
    client = Client()
    rita = studies.rater("rita", study)
    give_role(rita.user, Role.ADMIN)
    client.force_login(rita.user)
    post(client, f"studies/{study.pk}/{path}", body, 403)
    assert not AuditEvent.objects.exists()
