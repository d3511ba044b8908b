from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict

from annotation.models import Build, Case
from annotation.web.cases.matches import FAILED, NOT_RUN, PASSED, matches_page
from sandbox.reports.report import Assertion, Outcome
from tests import factories

pytestmark = pytest.mark.django_db


def page(case: Case, query: str = "") -> dict[str, Any]:
    return matches_page(case.build, Build.objects.all(), case.pair.query, QueryDict(query))


def checked(source: str, passed: bool, line: int = 2) -> Assertion:
    return Assertion(line, source, passed, "1", "2", touched=True)


def test_only_matches_are_shown_and_the_best_ranked_is_the_base() -> None:
    cases = factories.cases(factories.opened())
    first, _, third = (factories.settled(case, label) for case, label in zip(cases, (1, 0, 1), strict=False))

    plain = page(first)
    assert plain["view"] == "plain", "differences come when somebody asks for them"
    assert [match["difference"] for match in plain["matches"]] == [None, None]

    shown = page(first, "view=columns")
    assert [match["case"].pk for match in shown["matches"]] == [first.pk, third.pk]
    assert shown["base"] == first
    assert shown["matches"][0]["difference"] is None
    assert shown["matches"][1]["difference"] is not None


def test_another_base_can_be_chosen_and_a_wrong_one_is_none() -> None:
    cases = factories.cases(factories.opened())
    first, second = factories.settled(cases[0], 1), factories.settled(cases[1], 1)

    assert page(first, f"base={second.pk}")["base"] == second
    assert page(first, "base=0")["base"] == first
    assert page(first, "view=unified")["view"] == "unified"
    assert page(first, "view=other")["view"] == "plain"


def test_assertions_are_one_row_each_whatever_the_snippet_is_called() -> None:
    cases = factories.cases(factories.opened())
    passed = factories.a_report(
        assertions=(checked("assert reverse([1])", True), checked("assert 1", True, 3))
    )
    failed = factories.a_report(
        Outcome.FAILED, assertions=(checked("assert  parse_date([1])", True), checked("assert 1", False, 9))
    )
    first = factories.examined(cases[0], 1, passed)
    factories.examined(cases[1], 1, failed)
    factories.settled(cases[2], 1)

    shown = page(first)

    assert [row["source"] for row in shown["assertions"]] == ["assert 1", "assert candidate([1])"]
    assert [cell["sign"] for cell in shown["assertions"][0]["cells"]] == [PASSED, FAILED, NOT_RUN]
    assert [cell["sign"] for cell in shown["assertions"][1]["cells"]] == [PASSED, PASSED, NOT_RUN]
    assert [row["divides"] for row in shown["assertions"]] == [True, False]
    cell = shown["assertions"][0]["cells"][1]
    assert (cell["line"], cell["values"]) == (9, "1, not 2")
    assert shown["untested"] == 1


def test_one_failed_evaluation_fails_an_assertion() -> None:
    twice = (checked("assert 1", True), checked("assert 1", False), checked("assert 1", True))
    case = factories.cases(factories.opened())[0]
    case = factories.examined(case, 1, factories.a_report(Outcome.FAILED, assertions=twice))

    assert [cell["sign"] for cell in page(case)["assertions"][0]["cells"]] == [FAILED]


def test_more_than_a_page_of_matches_goes_on() -> None:
    snippets = [f"def f{number}(x):\n    return x + {number}" for number in range(8)]
    factories.snippets(snippets)
    factories.queries(["add a number"])
    cases = [factories.settled(case, 1) for case in factories.cases(factories.opened(k=8))]

    first = page(cases[0])
    second = page(cases[0], first["next"])

    assert (first["total"], len(first["matches"]), len(second["matches"])) == (8, 6, 2)
    assert second["place"] == ("after", str(first["matches"][-1]["case"].pk))


def test_without_a_match_the_page_is_empty() -> None:
    shown = page(factories.cases(factories.opened())[0])

    assert (shown["matches"], shown["assertions"], shown["base"]) == ([], [], None)
