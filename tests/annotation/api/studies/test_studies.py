"""Studies over the API: made, started, read and exported by admins alone."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.accounts.roles import Role
from annotation.models import AuditEvent, Build, Study
from annotation.studies.plan import plan as planning
from tests import factories, studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def build() -> Build:
    return factories.said(factories.opened(), (1, 0, 1, 0, 1, 0, 1, 0, 1))


def order(build: Build, **changes: Any) -> dict[str, Any]:
    raters = [
        {"user": factories.person(name, Role.EXPERT).username, "condition": "own_tests", "capacity": 9}
        for name in ("ruth", "sam", "tess")
    ]
    usual = {
        "name": "first",
        "builds": [build.pk],
        "sample": {"size": 3, "strata": ["label"]},
        "conditions": [{"kind": "own_tests", "seconds": 60}],
        "raters": raters,
        "comparisons": [["agents", "own_tests"]],
    }
    return usual | changes


def post(client: Client, path: str, data: dict[str, Any]) -> Any:
    return client.post(f"/api/studies{path}", data, content_type="application/json")


def test_a_study_is_made_started_and_read(ada: Client, build: Build) -> None:
    made = post(ada, "", order(build))
    assert made.status_code == 201, made.content
    told = made.json()
    assert (told["state"], told["pairs"], told["outlook"]["ratings"]) == ("draft", 3, 9)
    assert told["plan"]["comparisons"] == [["agents", "own_tests"]]
    assert told["plan"]["own_tests_need_a_run"] is True
    assert post(ada, f"/{told['id']}/control", {"action": "start"}).json() == {"state": "running"}
    again = ada.get(f"/api/studies/{told['id']}").json()
    assert again["outlook"] is None and again["progress"][0]["wanted"] == 9
    assert [one["name"] for one in ada.get("/api/studies?state=running").json()["items"]] == ["first"]
    assert ada.get("/api/studies?state=closed").json()["items"] == []


def test_rates_are_kept_with_the_draft_for_the_planner(ada: Client, build: Build) -> None:
    pk = post(ada, "", order(build)).json()["id"]
    refused = post(ada, "", order(build, name="second", rates={"pilot": pk}))
    assert refused.status_code == 409 and "is no pilot" in refused.json()["detail"]
    assert post(ada, "", order(build, name="second", rates={"skipped": 1.5})).status_code == 422
    post(ada, f"/{pk}/control", {"action": "start"})
    rates = {"pilot": pk, "prevalence": 0.25}
    made = post(ada, "", order(build, name="second", rates=rates))
    kept = Study.objects.get(pk=made.json()["id"]).sample["rates"]
    assert (kept["pilot"], kept["prevalence"], kept["skipped"]) == (pk, 0.25, None)


def test_a_draft_is_deleted(ada: Client, build: Build) -> None:
    pk = post(ada, "", order(build)).json()["id"]
    assert post(ada, f"/{pk}/control", {"action": "delete"}).json() == {"state": None}
    assert not Study.objects.exists()


@pytest.mark.parametrize(
    ("changes", "status", "kind"),
    [
        ({"builds": [999]}, 409, "study-refused"),
        ({"raters": [{"user": "nobody", "condition": "own_tests", "capacity": 3}]}, 409, "study-refused"),
        ({"guideline": 999}, 409, "study-refused"),
        ({"against": 999}, 409, "study-refused"),
        ({"sample": {"size": 3, "strata": ["label"], "per_query": 2}}, 422, "sample-refused"),
        ({"sample": {"size": 0}}, 422, "invalid-request"),
        ({"margin": 2}, 422, "invalid-request"),
        ({"more": 2}, 422, "invalid-request"),
    ],
)
def test_what_is_refused(ada: Client, build: Build, changes: dict[str, Any], status: int, kind: str) -> None:
    answer = post(ada, "", order(build, **changes))
    assert (answer.status_code, answer.json()["type"]) == (status, f"urn:cosqa:{kind}")
    assert not Study.objects.exists()


def test_raters_are_experts_whose_accounts_are_open(ada: Client, build: Build) -> None:
    for name, role, is_open in (("rey", Role.READER, True), ("gone", Role.EXPERT, False)):
        User.objects.filter(pk=factories.person(name, role).pk).update(is_active=is_open)
        rater = {"user": name, "condition": "own_tests", "capacity": 9}
        answer = post(ada, "", order(build, raters=[rater]))
        assert (
            answer.status_code == 409 and f"{name} is no expert, or is locked out" in answer.json()["detail"]
        )
    assert not Study.objects.exists()


def test_the_plan_and_the_ratings_are_exported(ada: Client) -> None:
    study = studies.study()
    ruth = studies.rater("ruth", study)
    for number in (1, 2, 3):
        studies.rated(ruth, 1, study.pairs.get(number=number))
    planning.freeze_plan(study)
    plan = ada.get(f"/api/studies/{study.pk}/plan").json()
    assert planning.hash_plan(plan) == study.plan_hash
    first = ada.get(f"/api/studies/{study.pk}/ratings?limit=2").json()
    rest = ada.get(f"/api/studies/{study.pk}/ratings?limit=2&after={first['next']}").json()
    rows = first["items"] + rest["items"]
    assert [row["pair"] for row in rows] == [1, 2, 3] and {row["rater"] for row in rows} == {"R01"}
    assert rest["next"] is None
    assert AuditEvent.objects.filter(verb="exported").count() == 1


def test_raters_of_a_live_study_read_nothing_of_it(ada: Client) -> None:
    study = studies.study(created_by=factories.person("boss", Role.ADMIN))
    enrolled = studies.rater("ada", study)
    enrolled.user = factories.ada()
    enrolled.save()
    factories.ada()
    for path in ("", "/plan", "/ratings"):
        assert ada.get(f"/api/studies/{study.pk}{path}").status_code == 403


def test_a_closed_study_is_published_once(ada: Client) -> None:
    study = studies.study()
    raters = [studies.rater(name, study) for name in ("ruth", "sam", "tess")]
    for number, said in enumerate(((1, 1, 0), (1, 0, None)), 1):
        for rater, value in zip(raters, said, strict=True):
            studies.rated(rater, value, study.pairs.get(number=number))
    planning.freeze_plan(study)
    assert ada.get(f"/api/studies/{study.pk}/publication").status_code == 409, "it still runs"
    Study.objects.update(state=Study.State.CLOSED)
    told = ada.get(f"/api/studies/{study.pk}/publication").json()
    assert told == {"labels": 1, "by_majority": 1, "by_adjudication": 0, "undecided": 2}
    assert post(ada, f"/{study.pk}/publish", {}).json()["labels"] == 1
    again = post(ada, f"/{study.pk}/publish", {})
    assert (again.status_code, again.json()["type"]) == (409, "urn:cosqa:study-refused")
    tables = ada.get(f"/api/studies/{study.pk}/figures").json()
    table = next(iter(tables))
    answer = ada.get(f"/api/studies/{study.pk}/figures?table={table}&format=csv")
    assert answer["Content-Type"].startswith("text/csv")


def test_figures_that_are_not_there_say_why(ada: Client) -> None:
    answer = ada.get(f"/api/studies/{studies.study(state=Study.State.DRAFT).pk}/figures")
    assert (answer.status_code, answer.json()["type"]) == (409, "urn:cosqa:no-figures")
