from __future__ import annotations

from dataclasses import replace

import pytest

from annotation.web.cases.reports import (
    BROKE,
    CALLED,
    HELD,
    RAISED,
    assertion_view,
    candidate_notes,
    program_notes,
    report_view,
)
from sandbox.reports.report import (
    Assertion,
    CandidateCall,
    Frame,
    Outcome,
    OwnWord,
    Raised,
    Report,
    TraceStep,
)


def failing() -> Report:
    return Report(
        Outcome.FAILED,
        assertions=(
            Assertion(3, "assert f(1) == 1", True, "1", "1", True, 4),
            Assertion(5, "assert f(2) == 1", False, "2", "1", True),
        ),
        raised=Raised(
            "AssertionError",
            "",
            (Frame("program", 8, "<module>"), Frame("program", 5, "main", "assert f(2)")),
        ),
        trace=(TraceStep(2, "f", 1, (("x", "1"),), 4), TraceStep(2, "f", 2, (("x", "2"),))),
        lines_reached=(2,),
        lines_missed=(3, 4),
    )


def test_assertions_lead_to_their_lines_with_both_values() -> None:
    held, broke = report_view(failing()).assertions

    assert (held.sign, held.href, held.left, held.right, held.count) == (HELD, "#t-3", "1", "1", 4)
    assert (broke.sign, broke.href, broke.touched) == (BROKE, "#t-5", True)


def test_a_failed_equality_says_what_was_got_expected_and_different() -> None:
    long = "['" + "a" * 40 + "']"
    failed = Assertion(3, "assert [] == f(1)", False, "[]", long)
    found = assertion_view(failed, "t", frozenset())
    assert (found.names, found.left, found.right) == (("got", "expected"), long, "[]")
    found = assertion_view(
        replace(failed, source="assert f(1) == []", right=long.replace("a", "b"), left=long), "t", frozenset()
    )
    assert found.difference == f"item 0: '{'a' * 40}' instead of '{'b' * 40}'"
    assert assertion_view(replace(failed, passed=True), "t", frozenset()).names == ("left", "right")


def test_a_page_may_choose_the_prefixes_of_its_lines() -> None:
    view = report_view(failing(), program="t9", candidate="c4")

    assert view.assertions[0].href == "#t9-3"
    assert [row.href for row in view.trace.rows] == ["#c4-2", "#c4-2"]
    assert view.missed == ((3, "#c4-3"), (4, "#c4-4"))


def test_lines_are_marked_by_their_worst_evaluation() -> None:
    twice = Report(
        Outcome.FAILED,
        assertions=(Assertion(3, "assert x", False), Assertion(3, "assert x", True)),
    )

    assert program_notes(twice).marks == {3: (BROKE,)}


def test_a_failed_assertion_is_not_marked_a_second_time_as_raising() -> None:
    assert program_notes(failing()).marks == {3: (HELD,), 5: (BROKE,), 8: (CALLED,)}


def test_the_line_that_raised_is_told_from_those_on_the_way() -> None:
    frames = (Frame("program", 2, "main"), Frame("candidate", 4, "f"), Frame("candidate", 4, "f"))
    report = Report(Outcome.ERRORED, raised=Raised("ValueError", "no", frames))

    assert program_notes(report).marks == {2: (CALLED,)}
    assert candidate_notes(report).marks == {4: (RAISED,)}


def test_a_recursion_is_folded_and_libraries_lead_nowhere() -> None:
    frames = (*(Frame("candidate", 3, "f"),) * 900, Frame("library", 12, "loads"))
    view = report_view(Report(Outcome.ERRORED, raised=Raised("RecursionError", "deep", frames)))

    assert [(frame.href, frame.count) for frame in view.frames] == [("#c-3", 900), ("", 1)]
    assert view.exception == "RecursionError: deep"


def test_lines_of_the_candidate_say_how_often_they_ran() -> None:
    notes = candidate_notes(failing())

    assert notes.times == {2: 5}
    assert notes.missed == {3, 4}


def test_output_and_values_of_any_length_are_cut_and_say_so() -> None:
    value = "x" * 10_000_000
    report = Report(
        Outcome.FAILED,
        assertions=(Assertion(1, "assert x", False, value),),
        stdout=value,
        stderr="short",
        output_truncated=False,
    )

    view = report_view(report)

    assert [output["cut"] for output in view.outputs] == [True, False]
    assert len(view.outputs[0]["text"]) < 10_000
    assert (view.assertions[0].left or "").endswith("… (9,999,500 characters more)")


@pytest.mark.parametrize("outcome", [Outcome.PASSED, Outcome.UNTESTED])
def test_passing_without_testing_anything_is_said_to_mean_nothing(outcome: Outcome) -> None:
    assert "proves nothing" in report_view(Report(outcome)).meaning


def test_what_holds_by_the_candidates_own_word_is_said_to_be_no_proof() -> None:
    held = Assertion(4, "assert f() == V(1)", True, touched=True, own_word=OwnWord.CLASS)
    view = report_view(Report(Outcome.UNPROVEN, assertions=(held, replace(held, own_word=OwnWord.NONE))))

    assert (view.sign.word, view.sign.tone) == ("not proven", "warn")
    assert "only by the word of the function's own classes" in view.meaning
    assert [assertion.own_word for assertion in view.assertions] == [True, False]


def test_an_assertion_leads_to_the_calls_that_it_checked_where_the_trace_shows_them() -> None:
    report = Report(
        Outcome.PASSED,
        assertions=(Assertion(4, "assert a < b", True, "1", "2", True, calls=(1, 9)),),
        trace=(TraceStep(2, "f", 0, call=1),),
        calls=(CandidateCall(1, "f", 3, "x=1", "1"), CandidateCall(9, "f", 3, "x=2", "2")),
    )
    (assertion,) = report_view(report).assertions

    assert assertion.calls == ((1, "#t-call-1"), (9, ""))


def test_test_cases_are_counted_apart_from_assertions() -> None:
    report = Report(
        Outcome.FAILED,
        assertions=(
            Assertion(2, "assert a", True, case="test_empty", count=3),
            Assertion(3, "assert b", False, case="test_empty"),
            Assertion(7, "assert c", True, case="test_full"),
            Assertion(9, "assert d", True),
        ),
    )
    cases = [
        (case["name"], case["sign"], case["row"].assertions, case["row"].failed)
        for case in report_view(report).cases
    ]

    assert cases == [("test_empty", BROKE, 4, 1), ("test_full", HELD, 1, 0)]


def test_both_outputs_are_shown_in_the_order_in_which_they_were_printed() -> None:
    report = Report(Outcome.PASSED, stdout="ac", stderr="b", turns=(1, 1, 1))

    assert report_view(report).printed == (("stdout", "a"), ("stderr", "b"), ("stdout", "c"))
    assert report_view(replace(report, turns=())).printed == ()


@pytest.mark.parametrize(
    ("report", "warning"),
    [
        (Report(Outcome.PASSED, redefined=True), "redefines the function"),
        (Report(Outcome.PASSED, (Assertion(1, "assert 1", True),)), "No assertion uses the function"),
        (Report(Outcome.ERRORED, missing_module="numpy"), "numpy is missing"),
        (Report(Outcome.PASSED, suspicious=("reads frames",)), "Suspicious: reads frames"),
        (Report(Outcome.PASSED, flaky=("passed", "failed", "passed")), "passed, failed, passed"),
    ],
)
def test_what_weakens_the_outcome_is_a_warning(report: Report, warning: str) -> None:
    assert any(warning in told for told in report_view(report).warnings)
