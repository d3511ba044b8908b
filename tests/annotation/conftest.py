"""Tools whose language model and sandbox are fakes with a call log."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from annotation import worker
from annotation.executing import SandboxProvider
from annotation.models import Case
from annotation.pipeline import Tools
from tests.fakes import Answer, FakeLLM, FakeSandbox


@pytest.fixture(scope="session", autouse=True)
def workers_look_often() -> None:
    """Small builds pass most of their time waiting for workers that wait before they look again."""
    worker.IDLE = dict.fromkeys(worker.IDLE, 0.05)
    worker.USUAL_IDLE, worker.LONGEST_IDLE, worker.SELDOM = 0.05, 0.1, 0.05


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
