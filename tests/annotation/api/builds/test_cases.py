"""Cases and executions over the API."""

from __future__ import annotations

import json

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from annotation.models import Build, Case, ExecutionRequest, Seen
from sandbox.reports.canonical import canonical_text
from sandbox.reports.report import Outcome, Raised, Report
from tests import factories
from tests.calls import cost, get, pages

pytestmark = pytest.mark.django_db


@pytest.fixture
def build() -> Build:
    return factories.opened()


@pytest.fixture
def examined(build: Build) -> Case:
    return factories.examined(factories.cases(build)[0], 0, factories.a_report(Outcome.FAILED))


def test_cases_come_by_query_and_rank_in_pages(ray: Client, build: Build) -> None:
    rows = pages(ray, f"builds/{build.pk}/cases", 4)
    assert [row["id"] for row in rows] == [case.pk for case in factories.cases(build)]
    assert rows[0]["query"]["head"] == factories.QUERIES[0]
    assert rows[0]["function"]["head"].startswith("def reverse")


def test_cases_can_be_narrowed_by_stage_label_and_query(ray: Client, build: Build) -> None:
    first, second, third = factories.cases(build)[:3]
    factories.settled(first, 1)
    factories.settled(second, 0)
    factories.abandoned(third, "no sandbox")
    path = f"builds/{build.pk}/cases"
    assert [row["id"] for row in get(ray, path, label=1)["items"]] == [first.pk]
    assert [row["id"] for row in get(ray, path, label=0)["items"]] == [second.pk]
    assert [row["reason"] for row in get(ray, path, stage="abandoned")["items"]] == ["no sandbox"]
    assert len(get(ray, path, query=first.query_id)["items"]) == 3
    assert get(ray, path, query=first.query_id, stage="screening")["items"] == []


@pytest.mark.parametrize(
    "wrong", [{"stage": "dead"}, {"label": 2}, {"limit": 201}, {"limit": 0}, {"after": -1}]
)
def test_a_wrong_filter_is_refused_not_ignored(ray: Client, build: Build, wrong: dict[str, str]) -> None:
    problem = get(ray, f"builds/{build.pk}/cases", 422, **wrong)
    assert next(iter(wrong)) in problem["errors"][0]["where"]


def test_other_builds_cases_are_not_listed(ray: Client, build: Build) -> None:
    other = factories.opened("second")
    assert len(get(ray, f"builds/{other.pk}/cases")["items"]) == 9


def test_the_list_costs_the_same_however_long_it_is(ray: Client, build: Build, examined: Case) -> None:
    path = f"builds/{build.pk}/cases"
    get(ray, path)  # what was seen is written once
    assert cost(ray, path, limit=1) == cost(ray, path, limit=200) <= 9


def test_whoever_was_shown_a_page_of_cases_has_seen_their_pairs(ray: Client, build: Build) -> None:
    get(ray, f"builds/{build.pk}/cases", limit=2)
    seen = Seen.objects.filter(user=factories.ray()).values_list("pair", flat=True)
    assert set(seen) == {case.pair_id for case in factories.cases(build)[:2]}


def test_a_case_comes_with_its_texts_its_steps_and_its_program(ray: Client, examined: Case) -> None:
    found = get(ray, f"cases/{examined.pk}")
    assert found["code"] == factories.SNIPPETS[0].strip()
    assert found["query_text"] == factories.QUERIES[0]
    assert (found["stage"], found["label"], found["outcome"]) == ("settled", 0, "failed")
    assert [step["event"] for step in found["steps"]] == ["unclear", "written", "executed", "denied"]
    assert [step["agent"] for step in found["steps"]] == ["screener", "test_writer", None, "arbiter"]
    assert found["program"]["source"] == factories.PROGRAM
    assert found["steps"][2]["execution"] == found["execution"] == examined.execution_id


def test_a_case_that_was_not_judged_has_no_label(ray: Client, build: Build) -> None:
    case = factories.abandoned(factories.cases(build)[0], "no sandbox")
    found = get(ray, f"cases/{case.pk}")
    assert (found["label"], found["left_stage"], found["reason"]) == (None, "screening", "no sandbox")
    assert found["program"] is None


def test_the_hash_of_the_evidence_changes_with_the_evidence(ray: Client, build: Build) -> None:
    case = factories.cases(build)[0]
    before = get(ray, f"cases/{case.pk}")["evidence"]
    assert get(ray, f"cases/{case.pk}")["evidence"] == before
    factories.examined(case, 1)
    assert get(ray, f"cases/{case.pk}")["evidence"] != before


def test_whoever_reads_a_case_has_seen_its_pair(ray: Client, examined: Case) -> None:
    get(ray, f"cases/{examined.pk}")
    assert Seen.objects.filter(user=factories.ray(), pair=examined.pair_id).exists()


def test_a_case_costs_a_fixed_number_of_queries(
    ray: Client, examined: Case, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    get(ray, f"cases/{examined.pk}")
    with django_assert_max_num_queries(8):
        get(ray, f"cases/{examined.pk}")


def test_an_execution_comes_with_its_whole_report(ray: Client, examined: Case) -> None:
    assert examined.execution is not None
    found = get(ray, f"executions/{examined.execution_id}")
    assert found["outcome"] == "failed"
    stored = json.loads(examined.execution.whole_report().to_json())
    assertions = [{"own_word": "", **assertion} for assertion in stored.pop("assertions")]
    assert found["report"] == {"case_results": [], "assertions": assertions, **stored}
    assert found["canonical"] == canonical_text(examined.execution.whole_report())
    assert Report.from_json(json.dumps(found["report"])) == examined.execution.whole_report()


def test_what_a_program_raised_is_structured(ray: Client, build: Build) -> None:
    report = factories.a_report(Outcome.ERRORED, raised=Raised("ValueError", "bad \u202e text"))
    case = factories.examined(factories.cases(build)[0], 0, report)
    found = get(ray, f"executions/{case.execution_id}")["report"]["raised"]
    assert found == {"type": "ValueError", "message": "bad \u202e text", "frames": []}


def test_an_execution_that_no_case_rests_on_is_not_there(ray: Client, examined: Case) -> None:
    program = factories.program_for(examined, "assert True\n")
    stray = factories.execution(program)
    get(ray, f"executions/{stray.pk}", 404)
    ExecutionRequest.objects.create(program=program, user=factories.erin(), execution=stray)
    get(ray, f"executions/{stray.pk}")


def test_whoever_reads_an_execution_has_seen_its_pairs(ray: Client, examined: Case) -> None:
    get(ray, f"executions/{examined.execution_id}")
    assert Seen.objects.filter(user=factories.ray(), pair=examined.pair_id).exists()
