from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from annotation.models import Case, ProgramText, TestProgram
from annotation.review.evidence_hash import evidence_hash
from annotation.stages import Event
from annotation.web.cases.evidence import (
    RELATED,
    Evidence,
    candidate_code,
    evidence_of,
    steps_of,
)
from annotation.web.shared.words import MATCH, NO_MATCH
from sandbox.reports.report import Outcome
from tests import factories

pytestmark = pytest.mark.django_db


def read(case: Case) -> Case:
    return Case.objects.select_related(*RELATED).get(pk=case.pk)


def shown(case: Case) -> Evidence:
    return evidence_of(read(case))


def hash_of(case: Case) -> str:
    return evidence_hash(read(case), steps_of(read(case)))


def a_case() -> Case:
    return factories.cases(factories.opened())[0]


def test_an_open_case_shows_its_code_and_nothing_else() -> None:
    evidence = shown(a_case())

    assert evidence.query == "reverse a list in place"
    assert evidence.candidate.lines[0].anchor == "c-1"
    assert (evidence.verdicts, evidence.program, evidence.execution) == ((), None, None)
    assert str(evidence.sign) == "– unjudged"


def test_a_tested_case_shows_every_step_with_what_it_cost() -> None:
    evidence = shown(factories.examined(a_case(), 1))

    assert [verdict.who for verdict in evidence.verdicts] == ["screener", "test writer", "sandbox", "arbiter"]
    assert [verdict.number for verdict in evidence.verdicts] == [1, 2, 3, 4]
    assert evidence.verdicts[-1].sign is MATCH
    assert evidence.verdicts[2].sign.word == "test passed"
    call = evidence.verdicts[0].call
    assert call is not None
    assert (call["row"].input_tokens, call["row"].output_tokens, call["cost"], call["reused"]) == (
        500,
        60,
        "not priced",
        False,
    )
    assert (evidence.totals["calls"], evidence.totals["input_tokens"]) == (3, 1500)


def test_lines_of_program_and_candidate_are_marked_by_the_execution() -> None:
    failed = factories.a_report(Outcome.FAILED, lines_missed=(3,))

    evidence = shown(factories.examined(a_case(), 0, failed))

    assert evidence.sign is NO_MATCH
    assert evidence.program is not None
    assert evidence.program.code.lines[1].state == "is-failed"
    assert evidence.candidate.lines[1].times == 1
    assert evidence.candidate.lines[2].missed


def test_a_call_that_another_build_paid_for_is_reused_and_costs_nothing() -> None:
    first = factories.settled(a_case(), 1)
    call = first.steps.get().call
    second = factories.cases(factories.opened("second"))[0]
    second.move(Event.MATCH, note="as before", call=call, label=1)

    evidence = shown(second)

    assert evidence.verdicts[0].call is not None
    assert evidence.verdicts[0].call["reused"]
    assert evidence.totals["calls"] == 0
    paid = shown(first).verdicts[0].call
    assert paid is not None
    assert not paid["reused"]


def test_invented_helpers_are_shown_and_those_not_declared_told_apart() -> None:
    case = a_case()
    source = "def fake():\n    pass\n\ndef other():\n    pass\n\nassert reverse([1]) == [1]\n"
    program = factories.program_for(case, source, helpers=["fake"])
    case.move(Event.UNCLEAR)
    case.move(Event.WRITTEN, program=program, program_id=program.pk)

    view = shown(case).program

    assert view is not None
    assert (view.helpers, view.undeclared) == (("fake",), ("other",))


def test_replaced_programs_and_executions_are_earlier_ones_with_their_own_anchors() -> None:
    case = a_case()
    refused = factories.program_for(
        case, "def reverse(x):\n    return x\n\nassert reverse(1)\n", redefines=True
    )
    case.move(Event.UNCLEAR)
    case.move(Event.REJECTED_PROGRAM, program=refused, rewrites=1, program_id=refused.pk)
    program = factories.program_for(case)
    case.move(Event.WRITTEN, program=program, program_id=program.pk)
    missing = factories.execution(program, factories.a_report(Outcome.ERRORED, missing_module="yaml"))
    case.move(Event.MISSING_MODULE, program=program, execution=missing, execution_id=missing.pk)

    evidence = shown(case)

    (earlier,) = evidence.earlier_programs
    assert earlier.redefines
    assert earlier.code.prefix == f"t{refused.pk}"
    assert evidence.execution is not None
    assert evidence.execution.pk == missing.pk
    assert evidence.earlier_executions == ()


def test_the_hash_is_stable_and_changes_with_the_evidence() -> None:
    case = a_case()
    before = hash_of(case)
    assert hash_of(case) == before

    settled = factories.examined(case, 1)
    after = hash_of(settled)

    assert len(after) == 64
    assert after != before
    Case.objects.filter(pk=case.pk).update(label=0)
    assert hash_of(settled) not in {before, after}


def test_hostile_explanations_and_programs_are_kept_as_text() -> None:
    case = factories.settled(a_case(), 0, "</script>\u202e" + "a" * 30_000)

    (verdict,) = shown(case).verdicts

    assert verdict.explanation.startswith("</script>\u202e")
    assert verdict.cut == len("</script>\u202e") + 30_000 - 20_000


def test_evidence_takes_two_queries(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    case = read(factories.examined(a_case(), 1))

    with django_assert_num_queries(2):
        evidence_of(case)


@pytest.mark.parametrize(
    ("block", "missed"),
    [
        # Line 4 of the function `run_block` is line 3 of the block.
        ("found = []\nfor name in names:\n    found.append(name)", [3]),
        # The function has other lines than this block, so nothing can be said of them.
        ("found = []; names = found\nfor name in names:\n    found.append(name)", []),
    ],
)
def test_lines_of_a_block_are_those_of_the_function_that_ran(block: str, missed: list[int]) -> None:
    program = TestProgram(source=ProgramText.packed("assert run_block([1]) == [1]"))
    report = factories.a_report(lines_missed=(4,), trace=())
    made = candidate_code(block, report, program=program)
    assert [line.number for line in made.lines if line.missed] == missed
    plain = candidate_code(block, factories.a_report(lines_missed=(3,), trace=()))
    assert [line.number for line in plain.lines if line.missed] == [3], (
        "beside a program that does not call it"
    )
