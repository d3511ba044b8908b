"""Tools whose language model and sandbox are fakes with a call log."""

from __future__ import annotations

from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from annotation.builds.pipeline.advance import Tools
from annotation.builds.pipeline.execution import SandboxProvider
from annotation.jobs import worker
from annotation.models import Case
from tests.fakes import Answer, FakeLLM, FakeSandbox

HERE = Path(__file__).resolve().parent
OWN_SQL = """
    api/builds/test_cases api/builds/test_queries api/rating/test_rating api/review/test_reviews
    web/audit_log/test_views web/benchmarks/test_flaws web/benchmarks/test_run_uploading
    web/browse/test_browse_pages web/browse/test_page web/builds/test_disputes web/builds/test_figures
    web/builds/test_trends web/cases/test_case_lists_page web/cases/test_filters web/cases/test_page
    web/cases/test_row_counts web/cases/test_trial_views web/collections/test_filtering_pages
    web/collections/test_uploading_parts web/corpus/test_distribution web/corpus/test_ranks
    web/derived/test_views web/label_audit/test_views web/missing_functions/test_views
    web/money/test_estimates web/pins/test_pins_again web/rating/test_actions web/review/test_draft_pages
    web/review/test_next_pages web/shared/test_pagination web/shared/test_seen_after_rating
    web/shared/test_seen_by_filters web/studies/test_adjudication_views
    web/studies/test_closed_while_rating web/studies/test_figure_views
    web/worklist/test_views
"""
"""Tests of pages and operations that count, order, filter, page or lock in SQL of their own.

What the others read comes through functions whose tests PostgreSQL is asked, and tests/site/test_access.py
opens each page there once.
"""


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None]:
    """Mark pages and operations without SQL of their own, before others choose by marks."""
    asked = {HERE / f"{name}.py" for name in OWN_SQL.split()}
    for item in items:
        if {HERE / "web", HERE / "api"} & set(item.path.parents) and item.path not in asked:
            item.add_marker("alike")
    yield


@pytest.fixture(scope="session", autouse=True)
def workers_look_often() -> None:
    """Small builds pass most of their time waiting for workers that wait before they look again."""
    worker.IDLE = dict.fromkeys(worker.IDLE, 0.05)
    worker.USUAL_IDLE, worker.LONGEST_IDLE, worker.SELDOM = 0.05, 0.1, 0.05
    worker.TICK_SECONDS = 0.05


@pytest.fixture
def sandbox() -> FakeSandbox:
    return FakeSandbox()


@pytest.fixture
def tools_with(sandbox: FakeSandbox) -> Callable[..., tuple[Tools, FakeLLM]]:
    """Tools that answer with the given replies in turn, and the fake model that gives them."""

    def make(*answers: Answer, box: FakeSandbox | None = None) -> tuple[Tools, FakeLLM]:
        llm = FakeLLM(*answers)
        return Tools(llm_of=lambda build: llm, sandbox=SandboxProvider(lambda: box or sandbox)), llm

    return make


@pytest.fixture
def fresh() -> Callable[[Case], Case]:
    """A case as the database has it now, with what working on it needs."""
    related = "build__tally", "annotator", "pair__query__body", "pair__snippet__body", "program__source"
    return lambda case: Case.objects.select_related(*related, "execution__report").get(pk=case.pk)
