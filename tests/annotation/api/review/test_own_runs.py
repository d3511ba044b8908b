"""What a reviewer runs over the API: tests, calls, the strength of a test, tests crossed."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import CallAnswer, CallRequest, Case, ExecutionRequest, Seen, Trial
from sandbox.expression_call import Answer, CallOutcome
from tests import factories
from tests.calls import get, post

pytestmark = pytest.mark.django_db
OWN = "assert reverse([1]) == [1]\n"


@pytest.fixture
def case() -> Case:
    return factories.examined(factories.cases(factories.opened())[0], 1)


def test_the_agents_test_is_run_again(erin: Client, case: Case) -> None:
    asked = post(erin, f"cases/{case.pk}/runs", {}, 201)
    assert (asked["state"], asked["program"], asked["report"]) == ("waiting", case.program_id, None)
    assert post(erin, f"cases/{case.pk}/runs", {"program": case.program_id}, 201)["id"] == asked["id"]
    assert Seen.objects.filter(user=factories.erin(), pair=case.pair).exists()


def test_an_own_test_is_kept_run_and_told(erin: Client, case: Case) -> None:
    asked = post(erin, f"cases/{case.pk}/runs", {"source": OWN}, 201)
    row = ExecutionRequest.objects.select_related("program__source", "program__pair").get(pk=asked["id"])
    assert (row.program.source.text, row.program.author) == (OWN, factories.erin())
    done = factories.execution(row.program)
    ExecutionRequest.objects.filter(pk=row.pk).update(state="done", execution=done)
    told = get(erin, f"runs/{row.pk}")
    assert (told["state"], told["outcome"], told["execution"]) == ("done", "passed", done.pk)
    assert told["report"]["assertions"]
    other = Client()
    other.force_login(factories.ada())
    get(other, f"runs/{row.pk}", 404)
    assert post(erin, f"cases/{case.pk}/runs", {"source": " "}, 422)["type"] == "urn:cosqa:bad-test"


def test_a_pair_without_a_test_wants_one(erin: Client, case: Case) -> None:
    plain = Case.objects.filter(build=case.build, program=None)[0]
    assert post(erin, f"cases/{plain.pk}/runs", {}, 422)["errors"][0]["where"] == "source"
    post(erin, f"cases/{plain.pk}/runs", {"program": case.program_id}, 404)


def test_a_call_is_asked_and_answered(erin: Client, case: Case) -> None:
    asked = post(erin, f"cases/{case.pk}/calls", {"expression": "reverse([1, 2])"}, 201)
    answer = Answer(CallOutcome.RETURNED, "[2, 1]", "list")
    kept = CallAnswer.objects.create(outcome=answer.outcome, seconds=0, text=answer.to_json())
    CallRequest.objects.filter(pk=asked["id"]).update(state="done", answer=kept)
    assert get(erin, f"calls/{asked['id']}")["answer"]["value"] == "[2, 1]"
    refused = post(erin, f"cases/{case.pk}/calls", {"expression": "import os"}, 422)
    assert refused["type"] == "urn:cosqa:bad-expression"


def test_the_strength_of_a_test_is_asked_for_and_told(erin: Client, case: Case) -> None:
    path = f"programs/{case.program_id}/strength"
    assert get(erin, path)["asked"] is False
    told = post(erin, path, {}, 201)
    assert told["asked"] and told["open"] == Trial.objects.count() > 1 and told["tried"] == 0


def test_a_querys_tests_are_crossed(erin: Client, case: Case) -> None:
    path = f"builds/{case.build_id}/queries/{case.query_id}/tests"
    before = get(erin, path)
    assert (len(before["functions"]), len(before["tests"]), before["missing"]) == (3, 1, 2)
    assert sorted(map(str, before["tests"][0]["outcomes"])) == ["None", "None", "passed"]
    after = post(erin, path, {}, 201)
    assert (after["missing"], after["open"]) == (0, 2)
