from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.reports.canonical import canonical_text
from sandbox.reports.report import (
    Assertion,
    CandidateCall,
    CaseOutcome,
    CaseResult,
    Frame,
    Outcome,
    OwnWord,
    Raised,
    Rates,
    Report,
    TestCase,
    TraceLoop,
    TracePass,
    TraceStep,
)

text = st.text(max_size=30)
maybe = st.none() | text
assertions = st.builds(
    Assertion,
    st.integers(1, 99),
    text,
    st.booleans(),
    maybe,
    maybe,
    st.booleans(),
    own_word=st.sampled_from(OwnWord),
)
steps = st.builds(
    TraceStep, st.integers(1, 99), text, st.integers(0, 9), st.lists(st.tuples(text, text)).map(tuple)
)
frames = st.builds(
    Frame, st.sampled_from(["program", "candidate", "library"]), st.integers(1, 99), text, text
)
items = st.recursive(
    steps,
    lambda inner: st.builds(
        TraceLoop,
        st.integers(1, 99),
        text,
        st.integers(0, 9),
        st.integers(1, 99),
        st.lists(st.builds(TracePass, st.integers(1, 99), st.lists(inner, max_size=2).map(tuple))).map(tuple),
    ),
    max_leaves=4,
)
calls = st.builds(CandidateCall, st.integers(1, 99), text, st.integers(0, 99), text, maybe, maybe)
raised = st.none() | st.builds(Raised, text, text, st.lists(frames, max_size=3).map(tuple))
case_results = st.builds(
    CaseResult,
    text,
    st.sampled_from(CaseOutcome),
    st.integers(0, 9),
    st.integers(0, 9),
    st.booleans(),
    raised,
)
reports = st.builds(
    Report,
    st.sampled_from(Outcome),
    calls=st.lists(calls, max_size=2).map(tuple),
    flaky=st.lists(text, max_size=2).map(tuple),
    turns=st.lists(st.integers(0, 9), max_size=3).map(tuple),
    assertions=st.lists(assertions, max_size=3).map(tuple),
    stdout=text,
    trace=st.lists(items, max_size=3).map(tuple),
    raised=raised,
    case_results=st.lists(case_results, max_size=3).map(tuple),
    missing_module=maybe,
    suspicious=st.lists(text, max_size=2).map(tuple),
    lines_missed=st.lists(st.integers(1, 9)).map(tuple),
    seconds=st.floats(0, 10),
    peak_mb=st.none() | st.floats(0, 999),
)


@given(reports)
def test_a_report_survives_json(report: Report) -> None:
    assert Report.from_json(report.to_json()) == report


@given(reports, st.floats(0, 10), st.floats(0, 999), st.sampled_from(["docker", "bubblewrap"]))
def test_canonical_text_knows_neither_time_nor_size_nor_backend(
    report: Report, seconds: float, peak: float, backend: str
) -> None:
    other = replace(report, seconds=seconds, queued_seconds=seconds, peak_mb=peak, backend=backend)
    assert canonical_text(other) == canonical_text(report)


def test_addresses_temporary_paths_and_durations_are_evened_out() -> None:
    one = Report(Outcome.PASSED, stdout="<f at 0x7f00aa> /tmp/tmpab12/x in 0.003s\n")
    two = Report(Outcome.PASSED, stdout="<f at 0x7f11bb> /tmp/tmpzz99/y in 0.104s\n")
    assert canonical_text(one) == canonical_text(two)


def test_what_was_cut_off_is_not_counted() -> None:
    assertion = Assertion(1, "assert f(1) == 1", True, "1", "1", True)
    one = Report(Outcome.TIMED_OUT, (assertion,) * 2, stdout="x" * 500)
    two = Report(Outcome.TIMED_OUT, (assertion,) * 9, stdout="x" * 900)
    assert canonical_text(one) == canonical_text(two)


LACKS = CaseResult("a", CaseOutcome.CRASHED, raised=Raised("ImportError", "cannot import name"))


@pytest.mark.parametrize(
    ("report", "ran"),
    [
        (Report(Outcome.PASSED, (Assertion(1, "assert 1", True),)), True),
        (Report(Outcome.ERRORED), True),
        (Report(Outcome.ERRORED, missing_module="numpy"), False),
        (Report(Outcome.ERRORED, raised=Raised("SyntaxError", "invalid syntax")), False),
        (Report(Outcome.ERRORED, raised=Raised("ZeroDivisionError", "division by zero")), True),
        (Report(Outcome.ERRORED, (Assertion(1, "assert 1", True),), missing_module="numpy"), True),
        (Report(Outcome.UNAVAILABLE), False),
        (Report(Outcome.DEPENDENCY_REFUSED), False),
        (Report(Outcome.ERRORED, missing_module="numpy", reached=True), True),
        (Report(Outcome.ERRORED, raised=Raised("SyntaxError", "of eval"), reached=True), True),
        (Report(Outcome.UNTESTED), True),
        (Report(Outcome.ERRORED, case_results=(LACKS,)), False),
        (Report(Outcome.ERRORED, case_results=(LACKS,), reached=True), True),
        (Report(Outcome.TIMED_OUT), True),
    ],
)
def test_ran_means_that_no_environment_stopped_it_before_an_assertion(report: Report, ran: bool) -> None:
    assert report.ran is ran


def test_only_unavailable_is_no_evidence() -> None:
    assert [outcome for outcome in Outcome if not outcome.is_evidence] == [Outcome.UNAVAILABLE]


EARLIER = """{"outcome": "passed", "assertions": [{"line": 1, "source": "assert f(1)", "passed": true, "left":
"1", "right": null, "touched": true, "count": 2}], "stdout": "a", "stderr": "", "output_truncated":
false, "trace": [{"line": 2, "function": "f", "depth": 0, "changed": [["x", "1"]], "count": 3}],
"trace_truncated": false, "raised": null, "missing_module": null, "redefined": false, "suspicious":
[], "candidate_hash": "ab", "lines_reached": [1, 2], "lines_missed": [], "seconds": 0.1,
"queued_seconds": 0.0, "peak_mb": 9.0, "backend": "docker", "detail": ""}"""


def test_a_report_that_an_earlier_version_stored_is_read() -> None:
    report = Report.from_json(EARLIER)

    assert (report.ran, report.asserted, report.touched) == (True, True, True)
    assert report.trace == (TraceStep(2, "f", 0, (("x", "1"),), 3),)
    assert report.case_results == () and "case_results" not in report.to_json()
    assert report.assertions[0].calls == () and list(report.printed()) == [("stdout", "a")]


def test_a_report_without_own_words_is_stored_as_before() -> None:
    assertion = Assertion(1, "assert f() == 1", True, "1", "1", True)
    assert "own_word" not in Report(Outcome.PASSED, (assertion,)).to_json()
    told = Report(Outcome.UNPROVEN, (replace(assertion, own_word=OwnWord.CLASS),))
    assert '"own_word": "class"' in told.to_json()


def test_an_unproven_report_says_what_that_means_and_by_whose_word_what_holds() -> None:
    held = Assertion(1, "assert f() == V(1)", True, touched=True, case="a", own_word=OwnWord.CLASS)
    other = Assertion(4, "assert 1 == 1", True, case="b")
    text = canonical_text(Report(Outcome.UNPROVEN, (held, other)))
    assert text.startswith("outcome: unproven\nunproven is neither passed nor failed: ")
    assert "  passed line 1: assert f() == V(1) [by the candidate's own word]\n" in text
    assert "  passed line 4: assert 1 == 1 [does not touch the candidate]" in text
    cases = tuple(
        CaseResult(name, CaseOutcome.HELD, 1, touched=touched)
        for name, touched in (("a", True), ("b", False))
    )
    lines = canonical_text(Report(Outcome.UNPROVEN, (held, other), case_results=cases)).splitlines()
    assert "  case a: held, 1 assertion [by the candidate's own word]" in lines
    assert "  case b: held, 1 assertion [does not touch the candidate]" in lines


@pytest.mark.parametrize("outcome", set(Outcome) - {Outcome.UNPROVEN})
def test_other_reports_do_not_speak_of_it(outcome: Outcome) -> None:
    held = Assertion(1, "assert f() == V(1)", True, touched=True)
    own = replace(held, own_word=OwnWord.CLASS)
    assert canonical_text(Report(outcome, (own,))) == canonical_text(Report(outcome, (held,)))


def test_rates_count_every_program_that_was_executed() -> None:
    touched = Assertion(1, "assert f(1)", True, touched=True)
    rates = Rates.of(
        [
            Report(Outcome.PASSED, (touched,)),
            Report(Outcome.UNTESTED, (Assertion(1, "assert True", True),)),
            Report(Outcome.DEPENDENCY_REFUSED),
            Report(Outcome.ERRORED, missing_module="numpy"),
            Report(Outcome.UNAVAILABLE),
        ]
    )

    assert rates == Rates(programs=4, ran=2, asserted=2, touched=1)
    assert (rates.executable, Rates().executable) == (0.5, None)


def test_a_test_case_is_not_an_assertion() -> None:
    report = Report(
        Outcome.FAILED,
        (
            Assertion(1, "assert a", True, count=3, case="test_a"),
            Assertion(2, "assert b", False, case="test_a"),
            Assertion(9, "assert c", True),
        ),
    )

    assert report.cases == (TestCase("test_a", 4, 1),)


def test_cases_are_told_on_a_line_each() -> None:
    frames = (Frame("program", 4, "b"), Frame("candidate", 3, "f"), Frame("library", 9, "loads"))
    failing = Assertion(2, "assert f(1) == 2", False, "array([1,\n 2])", "2", True, case="a")
    report = Report(
        Outcome.FAILED,
        (failing, replace(failing, line=9)),
        case_results=(
            CaseResult("a", CaseOutcome.FAILED, 3, 2, True, Raised("AssertionError", "")),
            CaseResult("b", CaseOutcome.CRASHED, 1, 0, False, Raised("ValueError", "at 0x7f00aa11", frames)),
            CaseResult("c", CaseOutcome.TIMED_OUT, 5),
            CaseResult("d", CaseOutcome.NOT_RUN),
        ),
    )
    assert canonical_text(report).splitlines() == [
        "outcome: failed",
        "cases: 4, held: 0",
        "  case a: failed line 2: assert f(1) == 2 left: array([1, 2]) right: 2 and 1 more",
        "  case b: crashed ValueError: at 0x… at candidate line 3 [does not touch the candidate]",
        "  case c: timed_out",
        "  case d: not_run",
    ]


def test_many_cases_are_told_in_part() -> None:
    cases = tuple(CaseResult(f"c{number}", CaseOutcome.HELD, 1, touched=True) for number in range(120))
    told = canonical_text(Report(Outcome.PASSED, case_results=cases)).splitlines()
    assert (len(told), told[1], told[-1]) == (103, "cases: 120, held: 120", "  and 20 more")
