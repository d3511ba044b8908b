"""The panes: they show a pair, a program and an execution without any case."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.template.loader import render_to_string

from annotation.models import Execution, TestProgram
from annotation.web.cases.evidence import candidate_code, execution_view, program_view
from annotation.web.cases.panes import CodePane, execution_pane, query_pane
from annotation.web.review.calls import CallPlaces, box_of
from annotation.web.review.keys import key_views
from sandbox.reports.report import Outcome
from tests import factories

pytestmark = pytest.mark.django_db

SOURCE = "assert reverse([])\nassert reverse([1, 2]) == [2, 1]\nassert reverse([3])\n"


@pytest.fixture
def erin() -> User:
    return factories.erin()


@pytest.fixture
def program() -> TestProgram:
    """A program that belongs to a pair and to no case's evidence."""
    return factories.program_for(factories.cases(factories.opened())[0], SOURCE)


@pytest.fixture
def execution(program: TestProgram) -> Execution:
    """Its run, which failed at its second line."""
    return factories.execution(program, factories.a_report(Outcome.FAILED))


def rendered(name: str, pane: object) -> str:
    return render_to_string(f"annotation/{name}.html", {"pane": pane, "query": pane, "run": pane})


def test_the_query_shows_its_readings_once_each() -> None:
    page = rendered("review/_query", query_pane("first <item>", ["of a list", "", "of a list"]))

    assert "first &lt;item&gt;" in page
    assert page.count("of a list") == 1
    assert "Read as" not in rendered("review/_query", query_pane("first"))


def test_the_code_pane_calls_wherever_its_box_leads(erin: User, program: TestProgram) -> None:
    pair = program.pair
    places = CallPlaces("/own/ask/", "/own/draft/", lambda pk: f"/own/{pk}/", lambda pk: f"/own/{pk}/assert/")
    box = box_of(erin, pair, places, ())
    page = rendered("rating/_snippet", CodePane(candidate_code(pair.snippet.text), box))

    assert 'action="/own/ask/"' in page
    assert 'data-draft-url="/own/draft/"' in page
    assert "/review/" not in page
    assert "call-form" not in rendered("rating/_snippet", CodePane(candidate_code(pair.snippet.text)))


def test_the_execution_tells_what_failed_and_what_was_not_reached(
    erin: User, program: TestProgram, execution: Execution
) -> None:
    report = execution.whole_report()
    view = program_view(program, report)
    pane = execution_pane(execution_view(execution, report), view, key_views(erin))
    page = rendered("executions/_outcome", pane) + rendered("review/_trace", pane)

    assert "0 passed, 1 failed, 2 not reached" in page
    assert page.count("not reached</span>") == 2
    assert 'data-step="1" data-line="c-2"' in page
    assert "/review/" not in page
