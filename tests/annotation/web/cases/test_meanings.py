"""Where a test checks several meanings: of which one each assertion is, and what is shown first."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Case, Step, TestProgram
from annotation.stages import Event
from annotation.web.cases.meanings import (
    describe_test_case,
    find_decisive_meaning,
    find_meaning,
    list_meanings,
)
from annotation.web.cases.reports import report_view
from sandbox.reports.report import Assertion, CaseOutcome, CaseResult, Frame, Outcome, Raised, Report
from tests import factories

READINGS = [
    {"sense": "reverse the <list> itself", "likelihood": 70},
    {"sense": "give a reversed copy", "likelihood": 30},
]
NAMES = ("r1_ordinary_two_items", "r1_edge_empty", "r2_ordinary_copy")
TEST_CASES = [
    {"name": name, "reading": int(name[1]), "kind": name.split("_")[1], "checks": name} for name in NAMES
]


def program(**columns: Any) -> TestProgram:
    return TestProgram(**{"readings": READINGS, "test_cases": TEST_CASES, **columns})


def report(**ended: CaseOutcome) -> Report:
    """The run of the three cases, which hold where nothing else is said."""
    results = tuple(
        CaseResult(name, ended.get(name, CaseOutcome.HELD), assertions=1, touched=True) for name in NAMES
    )
    assertions = tuple(
        Assertion(line, f"assert f({line})", row.outcome is CaseOutcome.HELD, touched=True, case=row.name)
        for line, row in enumerate(results, 2)
    )
    return Report(Outcome.FAILED, assertions=assertions, case_results=results)


def test_a_test_of_one_meaning_has_none_to_tell_apart() -> None:
    assert list_meanings(program(readings=READINGS[:1])) == list_meanings(None) == ()
    assert find_meaning((), "r1_ordinary_x") is None


def test_a_case_says_its_meaning_and_what_it_tries() -> None:
    first, second = list_meanings(program())
    assert (first.name, second.name) == ("main meaning", "meaning 2")
    assert find_meaning((first, second), "r2_ordinary_copy") == second
    assert find_meaning((first, second), "r3_ordinary_x") is None
    assert find_meaning((first, second), "test_x") is None
    assert describe_test_case("r1_edge_no_items_at_all") == "no items at all"
    assert describe_test_case("test_x") == "test_x"


@pytest.mark.parametrize(
    ("ended", "label", "number", "passed"),
    [
        ({}, 1, 1, True),
        ({"r1_edge_empty": CaseOutcome.FAILED}, 1, 1, True),  # an edge case decides nothing
        ({"r1_ordinary_two_items": CaseOutcome.FAILED}, 1, 2, True),
        ({"r1_ordinary_two_items": CaseOutcome.CRASHED}, 0, 1, False),  # a no match rests on the likeliest
        (dict.fromkeys(("r1_ordinary_two_items", "r2_ordinary_copy"), CaseOutcome.FAILED), 1, 1, False),
    ],
)
def test_a_match_rests_on_the_meaning_that_passed(
    ended: dict[str, CaseOutcome], label: int, number: int, passed: bool
) -> None:
    found = find_decisive_meaning(program(), report(**ended), label)
    assert found is not None
    assert (found.meaning.number, found.passed) == (number, passed)


def test_without_a_verdict_or_a_run_none_decides() -> None:
    assert find_decisive_meaning(program(), report(), None) is None
    assert find_decisive_meaning(program(), None, 1) is None


def test_what_failed_of_the_main_meaning_comes_first() -> None:
    failed = report(r2_ordinary_copy=CaseOutcome.FAILED, r1_edge_empty=CaseOutcome.FAILED)
    turned = Report(Outcome.FAILED, assertions=failed.assertions[::-1], case_results=failed.case_results)
    broken = report_view(turned, meanings=list_meanings(program())).broken
    assert [view.meaning.name for view in broken if view.meaning] == ["main meaning", "meaning 2"]


def test_an_assertion_says_its_message_where_it_failed() -> None:
    raised = Raised("AssertionError", "order <b>", (Frame("program", 3, "main"),))
    held, broken = Assertion(3, "assert a", True), Assertion(3, "assert a", False)
    views = report_view(Report(Outcome.FAILED, (held, broken), raised=raised)).assertions
    assert [view.message for view in views] == ["", "order <b>"]
    inside = Raised("AssertionError", "its own", (Frame("program", 3, "main"), Frame("candidate", 3, "f")))
    assert report_view(Report(Outcome.FAILED, (broken,), raised=inside)).assertions[0].message == ""


def test_a_case_that_was_stopped_says_why_and_where() -> None:
    raised = Raised("ValueError", "no <b>", (Frame("program", 3, "r"), Frame("candidate", 2, "f")))
    results = (
        CaseResult("r2_ordinary_copy", CaseOutcome.TIMED_OUT),
        CaseResult("r1_ordinary_two_items", CaseOutcome.CRASHED, raised=raised),
        CaseResult("r1_edge_empty", CaseOutcome.FAILED, 1, 1),
        CaseResult("r1_edge_one", CaseOutcome.HELD, 1),
    )
    view = report_view(Report(Outcome.ERRORED, case_results=results), meanings=list_meanings(program()))
    first, second = view.case_errors
    assert (first.name, first.exception, first.frame and first.frame.href) == (
        "two items",
        "ValueError: no <b>",
        "#c-2",
    )
    assert (second.exception, second.frame) == ("It was stopped at the time limit.", None)
    assert [case["sign"].word for case in view.cases] == ["stopped", "stopped", "failed", "passed"]


@pytest.fixture
def case() -> Case:
    """A match by the second meaning: a case of the first one failed, another one was stopped."""
    raised = Raised("ValueError", "no <b>", (Frame("candidate", 2, "reverse"),))
    found = report(r1_ordinary_two_items=CaseOutcome.FAILED)
    results = (*found.case_results[:1], CaseResult(NAMES[1], CaseOutcome.CRASHED, raised=raised))
    run = Report(Outcome.FAILED, found.assertions, case_results=(*results, found.case_results[2]))
    made = factories.examined(factories.cases(factories.opened())[0], 1, run)
    TestProgram.objects.filter(cases=made).update(readings=READINGS, test_cases=TEST_CASES)
    return made


@pytest.mark.django_db
def test_the_page_begins_with_what_went_wrong_and_says_of_which_meaning(erin: Client, case: Case) -> None:
    page = erin.get(reverse("review-case", args=[case.pk])).content.decode()
    outcome = page.split('class="test-outcome"', 1)[1]
    assert outcome.index("ValueError: no &lt;b&gt;") < outcome.index("assert f(2)")
    assert outcome.index("assert f(2)") < outcome.index("assert f(4)")
    assert "main meaning, 70 %" in outcome
    assert "give a reversed copy <span" in page and "(meaning 2 of 2, 30 %)" in page
    assert "The test failed, but its ordinary checks of meaning 2 passed." in page
    trace = page.split('class="trace-cause"', 1)[1].split("steps", 1)[0]
    assert "ValueError: no &lt;b&gt;" in trace


@pytest.mark.django_db
def test_each_part_of_a_dispute_is_whole_and_says_who_spoke(erin: Client, case: Case) -> None:
    steps = list(case.steps.order_by("number"))
    long = "It reverses. " * 40
    Step.objects.filter(pk=steps[0].pk).update(event=Event.READ, before="reading", note=f"No match. {long}")
    Step.objects.filter(pk=steps[1].pk).update(event=Event.DISPUTED, before="arbitrating", note=long)
    page = erin.get(reverse("review-case", args=[case.pk])).content.decode()
    dispute = page.split('class="dispute"', 1)[1].split("verdict-details", 1)[0]
    assert dispute.count("It reverses. " * 39) == 2
    assert dispute.count("<summary") == 2
    assert 'title="The agent that judges an unclear pair by its code alone' in dispute
