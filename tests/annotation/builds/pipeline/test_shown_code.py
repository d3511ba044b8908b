"""What agents see of a block of code: a function that their test can call, and a sentence that says so."""

from __future__ import annotations

import json

import pytest

from annotation.agents import paper
from annotation.builds.pipeline.advance import Tools, advance_case
from annotation.builds.pipeline.execution import SandboxProvider
from annotation.builds.pipeline.shown_code import find_shown_code
from annotation.llm import Request
from annotation.models import Case
from annotation.stages import Stage
from tests import factories
from tests.fakes import FakeLLM, FakeSandbox

BLOCK = "total = 0\nfor number in numbers:\n    total += number"
CANNOT = "from os import *\nhere = getcwd()"


@pytest.fixture
def case(db: None) -> Case:
    factories.snippets((BLOCK, *factories.SNIPPETS[1:]))
    return factories.cases(factories.opened(annotator=factories.annotator(prompt_set="")))[0]


def show(case: Case, text: str) -> Case:
    """The case of another snippet, not stored."""
    case.pair.snippet = type(case.pair.snippet).objects.keep(text)
    return case


def test_a_block_is_shown_in_a_function_and_its_own_text_stays(case: Case) -> None:
    shown = find_shown_code(case)
    assert shown.code.startswith("def run_block(numbers):") and shown.code.endswith("return total\n")
    assert "block of code" in shown.note and case.pair.snippet.text == BLOCK


def test_a_function_is_shown_as_it_is(case: Case) -> None:
    text = "def f(x):\n    return x"
    shown = find_shown_code(show(case, text))
    assert (shown.code, shown.note) == (text, "")


def test_a_block_that_can_not_be_wrapped_is_to_be_read(case: Case) -> None:
    shown = find_shown_code(show(case, CANNOT))
    assert shown.code == CANNOT and "Judge it by reading." in shown.note


def test_the_papers_agents_see_what_the_papers_saw(case: Case) -> None:
    case.annotator.config["prompt_set"] = paper.PROMPT_SET
    assert find_shown_code(case).code == BLOCK


def test_screener_and_test_writer_see_it_and_its_test_may_call_it(case: Case) -> None:
    """Of the block a test that calls `run_block` redefines nothing, and the stored snippet is what runs."""
    program = "def r1_ordinary_sum():\n    assert run_block([1, 2]) == 3\n"
    reply = {
        "readings": [{"sense": "sum numbers", "likelihood": 90}],
        "helpers": [],
        "program": program,
        "reference": "def run_block(numbers):\n    return sum(numbers)",
    }

    def answer(request: Request) -> dict[str, object]:
        return {"explanation": "unclear", "verdict": 0.5} if request.agent == "screener" else dict(reply)

    llm, sandbox = FakeLLM(answer), FakeSandbox()
    tools = Tools(lambda build: llm, SandboxProvider(lambda: sandbox))
    for stage in (Stage.WRITING_TEST, Stage.EXECUTING):
        row = Case.objects.select_related("build__tally", "annotator", "pair__snippet__body").get(pk=case.pk)
        advance_case(row, tools)
        assert row.stage == stage, json.dumps([request.agent for request in llm.calls])
    for request in llm.calls:
        text = request.messages[0].text
        assert "def run_block(numbers):" in text and text.endswith("not part of what is judged.")
    row = Case.objects.select_related("program__source").get(pk=case.pk)
    assert row.program is not None and not row.program.redefines
    ran = row.program.beside(BLOCK)
    assert (ran.candidate, ran.code) == (BLOCK, find_shown_code(case).code)
