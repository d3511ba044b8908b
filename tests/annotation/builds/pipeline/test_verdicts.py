"""Reader, cases and arbiter on an unclear pair: who decides, and what is kept of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from annotation.builds.pipeline.advance import Tools, advance_case
from annotation.models import Basis, Case, Step, Tally
from annotation.stages import Event, Stage
from sandbox.program import Program
from sandbox.reports.report import Assertion, CaseOutcome, CaseResult, Outcome, OwnWord, Report
from tests import factories
from tests.fakes import FakeLLM, FakeSandbox

pytestmark = pytest.mark.django_db

Make = Callable[..., tuple[Tools, FakeLLM]]
Fresh = Callable[[Case], Case]
DESIGN = {"prompt_set": "", "reader": True, "neighbour": True}
UNCLEAR = {"verdict": 0.5, "explanation": "it depends"}
MATCH = {"demands": ["reverse"], "evidence": "It reverses.", "share": "all"}
NO_MATCH = {"demands": ["reverse"], "evidence": "It only sorts.", "share": "little"}
NEIGHBOUR = {"difference": "sorts instead", "code": "def reverse(items):\n    return sorted(items)\n"}
TEST = {
    "readings": [{"sense": "the list is reversed", "likelihood": 90}],
    "helpers": [],
    "program": "def r1_ordinary_two():\n    assert reverse([1, 2]) == [2, 1]\n",
    "reference": "def reverse(items):\n    return items[::-1]  # the reference\n",
}
YES = {"verdict": 1, "explanation": "the case holds"}
NO = {"verdict": 0, "explanation": "another task"}


def ran(program: Program, *, held: bool) -> Report:
    outcome = CaseOutcome.HELD if held else CaseOutcome.FAILED
    found = Assertion(2, "assert reverse([1, 2]) == [2, 1]", held, "[2, 1]", "[2, 1]", True)
    results = tuple(CaseResult(name, outcome, 1, int(not held), True) for name in program.cases)
    return Report(Outcome.PASSED if held else Outcome.FAILED, (found,), case_results=results, backend="fake")


def box(*, candidate: bool = True, reference: bool = True, neighbour: bool = False) -> FakeSandbox:
    """A sandbox in which the case holds for some of the three."""

    def run(program: Program) -> Report:
        if "the reference" in program.candidate:
            return ran(program, held=reference)
        return ran(program, held=neighbour if "sorted" in program.candidate else candidate)

    return FakeSandbox(run)


def one_case(**config: Any) -> Case:
    return factories.cases(factories.opened(annotator=factories.annotator(**{**DESIGN, **config})))[0]


def settled(fresh: Fresh, tools: Tools, case: Case, most: int = 12) -> Case:
    for _ in range(most):
        case = fresh(case)
        if not Stage(case.stage).is_working:
            return case
        advance_case(case, tools)
    return fresh(case)


def test_where_reader_and_arbiter_agree_the_case_is_settled(tools_with: Make, fresh: Fresh) -> None:
    tools, llm = tools_with(UNCLEAR, MATCH, NEIGHBOUR, TEST, YES, box=box())
    case = settled(fresh, tools, one_case())
    assert (case.stage, case.label, case.basis) == (Stage.SETTLED, 1, Basis.AGREED)
    assert [request.agent for request in llm.calls] == [
        "screener",
        "single_llm",
        "neighbour_writer",
        "test_writer",
        "arbiter",
    ]
    assert list(case.steps.values_list("event", flat=True)) == [
        Event.TO_READER,
        Event.READ,
        Event.CONTRASTED,
        Event.WRITTEN,
        Event.EXECUTED,
        Event.ACCEPTED,
    ]
    tally = Tally.objects.get(build=case.build)
    assert (tally.unclear, tally.read, tally.disputed, tally.sound_tests) == (1, 1, 0, 1)
    assert case.reference_run is not None
    assert case.neighbour_run is not None


@pytest.mark.parametrize(("candidate", "label"), [(True, 1), (False, 0)])
def test_where_they_differ_the_cases_decide_without_another_call(
    candidate: bool, label: int, tools_with: Make, fresh: Fresh
) -> None:
    tools, llm = tools_with(UNCLEAR, NO_MATCH, NEIGHBOUR, TEST, YES, box=box(candidate=candidate))
    case = settled(fresh, tools, one_case())
    assert (case.label, case.basis) == (label, Basis.DISPUTED)
    assert [request.agent for request in llm.calls][-1] == "arbiter"
    assert Tally.objects.get(build=case.build).disputed == 1
    last = Step.objects.filter(case=case).latest("number")
    assert last.before == Stage.TIE_BREAKING
    assert "the cases decide" in last.note


def test_an_unproven_run_is_evidence_for_the_arbiter_and_no_vote(tools_with: Make, fresh: Fresh) -> None:
    def unproven(program: Program) -> Report:
        report = ran(program, held="sorted" not in program.candidate)
        if report.outcome is Outcome.FAILED or "# the reference" in program.candidate:
            return report
        own = replace(report.assertions[0], case=program.cases[0], own_word=OwnWord.CLASS)
        return replace(report, outcome=Outcome.UNPROVEN, assertions=(own,))

    replies = UNCLEAR, NO_MATCH, NEIGHBOUR, TEST, YES, NO
    tools, llm = tools_with(*replies, box=FakeSandbox(unproven))
    case = settled(fresh, tools, one_case())
    arbiter, tie = llm.calls[-2:]
    assert (arbiter.agent, tie.agent) == ("arbiter", "tie_breaker"), "the cases do not break the tie"
    assert "unproven is neither passed nor failed" in arbiter.messages[0].text
    assert "case r1_ordinary_two: held, 1 assertion [by the candidate's own word]" in arbiter.messages[0].text
    assert (case.label, case.basis) == (0, Basis.DISPUTED)
    assert case.execution is not None
    assert case.execution.outcome == Outcome.UNPROVEN


def test_a_test_that_is_not_sound_goes_back_once_and_then_has_no_vote(tools_with: Make, fresh: Fresh) -> None:
    tools, llm = tools_with(UNCLEAR, NO_MATCH, NEIGHBOUR, TEST, TEST, YES, NO, box=box(neighbour=True))
    case = settled(fresh, tools, one_case())
    assert [request.agent for request in llm.calls].count("test_writer") == 2
    assert "sorts instead" in llm.calls[4].messages[0].text, "the writer learns which neighbour passed"
    assert llm.calls[-1].agent == "tie_breaker"
    assert (case.label, case.basis) == (0, Basis.DISPUTED)
    assert Tally.objects.get(build=case.build).sound_tests == 0


def test_a_reference_that_fails_its_own_case_goes_back(tools_with: Make, fresh: Fresh) -> None:
    tools, llm = tools_with(UNCLEAR, MATCH, NEIGHBOUR, TEST, TEST, YES, box=box(reference=False))
    case = settled(fresh, tools, one_case())
    assert "Your reference does not hold in r1_ordinary_two" in llm.calls[4].messages[0].text
    assert case.label == 1


def test_without_a_usable_neighbour_the_test_is_written_all_the_same(tools_with: Make, fresh: Fresh) -> None:
    tools, _ = tools_with(UNCLEAR, MATCH, "no JSON", "none either", TEST, YES, box=box())
    case = settled(fresh, tools, one_case())
    assert case.label == 1
    assert case.neighbour_run is None
    assert case.steps.get(event=Event.CONTRASTED).note.startswith("no neighbour: ")


def test_the_judges_see_the_cases_and_their_worth_but_not_each_other(tools_with: Make, fresh: Fresh) -> None:
    tools, llm = tools_with(UNCLEAR, NO_MATCH, NEIGHBOUR, TEST, TEST, YES, NO, box=box(neighbour=True))
    settled(fresh, tools, one_case())
    arbiter, tie = (call.messages[0].text for call in llm.calls[-2:])
    assert "reference holds 1 of 1" in arbiter
    assert "It only sorts" not in arbiter
    assert "No match. Meets little of" in tie
    assert "A match. the case holds" in tie


def test_a_withheld_report_reaches_no_judge(tools_with: Make, fresh: Fresh) -> None:
    tools, llm = tools_with(UNCLEAR, NO_MATCH, NEIGHBOUR, TEST, YES, NO, box=box())
    case = settled(fresh, tools, one_case(withhold_report=True))
    arbiter, tie = llm.calls[-2:]
    assert (arbiter.agent, tie.agent) == ("arbiter", "tie_breaker")
    assert all("<report-" not in call.messages[0].text for call in (arbiter, tie))
    assert case.label == 0


def test_without_a_reader_the_arbiter_decides_alone(tools_with: Make, fresh: Fresh) -> None:
    tools, llm = tools_with(UNCLEAR, NEIGHBOUR, TEST, NO, box=box())
    case = settled(fresh, tools, one_case(reader=False))
    assert (case.label, case.basis) == (0, Basis.TESTED)
    assert "single_llm" not in [request.agent for request in llm.calls]
