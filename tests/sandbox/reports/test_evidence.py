"""What the arbiter reads beside the canonical text: the way that the run took, and what was never tested."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.program import Limits, Program
from sandbox.protocol import Sandbox
from sandbox.reports.canonical import canonical_text
from sandbox.reports.evidence import evidence_text, never_evaluated
from sandbox.reports.report import Assertion, CandidateCall, Outcome, Report, TraceLoop, TracePass, TraceStep
from tests.sandbox.patience import judged
from tests.sandbox.reports.test_report import reports
from tests.sandbox.test_backends import CASES

SUM = """def f(n):
    total = 0
    for i in range(n):
        total += i
    return total
"""
PROGRAM = """assert f(4) == 6
if f(1) == 1:
    assert f(2) == 3
assert f(3) == 4
assert f(5) == 10
"""
PASSED = Assertion(1, "assert f(1)", True, touched=True)


def test_the_way_through_the_candidate_and_the_untested_assertions_are_told(bubblewrap: Sandbox) -> None:
    report = bubblewrap.run(Program(SUM, PROGRAM), Limits(seconds=5))

    told = evidence_text(report, PROGRAM)

    assert told.startswith(canonical_text(report))
    assert told.removeprefix(canonical_text(report)).splitlines() == [
        "",
        "candidate lines that ran, and how often:",
        "  1",
        "  2 (3)",
        "  3-4 (8)",
        "  5 (3)",
        "  loop at line 3, where it went round more than once: 7 passes",
        "calls of the candidate by the program: 3",
        "assertions of the program that were never evaluated: 2",
        "  line 3: assert f(2) == 3",
        "  line 5: assert f(5) == 10",
    ]


@pytest.mark.parametrize("name", CASES)
def test_it_reads_the_same_in_two_runs(name: str, bubblewrap: Sandbox) -> None:
    candidate, source, _ = CASES[name]
    limits = Limits(seconds=1 if name == "never ends" else 5, memory_mb=192)
    texts = {evidence_text(judged(bubblewrap, Program(candidate, source), limits), source) for _ in range(2)}
    assert len(texts) == 1


@given(reports, st.floats(0, 10), st.floats(0, 999), st.sampled_from(["docker", "bubblewrap"]))
def test_it_knows_neither_time_nor_size_nor_backend(
    report: Report, seconds: float, peak: float, backend: str
) -> None:
    other = replace(report, seconds=seconds, queued_seconds=seconds, peak_mb=peak, backend=backend)
    assert evidence_text(other, PROGRAM) == evidence_text(report, PROGRAM)


def test_it_tells_no_values_of_locals() -> None:
    now = Report(Outcome.PASSED, (PASSED,), trace=(TraceStep(2, "f", 0, (("t", "1.5"),)),))
    later = replace(now, trace=(TraceStep(2, "f", 0, (("t", "9.5"),)),))
    assert evidence_text(now, "") == evidence_text(later, "")


def test_what_was_cut_off_is_told_without_counts() -> None:
    report = Report(Outcome.TIMED_OUT, (PASSED,), trace=(TraceStep(2, "f", 0, count=9),), calls_made=9)
    assert evidence_text(report, "assert f(1)\nassert f(2)\n") == canonical_text(report)


def test_passes_that_are_not_stored_make_counts_a_lower_bound() -> None:
    step = TraceStep(4, "f", 0)
    loop = TraceLoop(3, "f", 0, 1000, (TracePass(1, (step,), 7), TracePass(8, (TraceStep(5, "f", 0),))))
    report = Report(Outcome.PASSED, (PASSED,), trace=(TraceStep(2, "f", 0), loop))
    told = evidence_text(report, "").splitlines()
    assert told[-5:] == [
        "candidate lines that ran, and how often:",
        "  2 (1)",
        "  4 (7 or more)",
        "  5 (1 or more)",
        "  loop at line 3, where it went round more than once: 1000 passes",
    ]


def test_exceptions_of_the_candidate_are_counted() -> None:
    calls = tuple(CandidateCall(number, "f", 1, "n=1", raised="ValueError") for number in (1, 2))
    report = Report(Outcome.FAILED, trace=(TraceStep(2, "f", 0, count=3),), calls=calls, calls_made=3)
    assert evidence_text(report, "").endswith("calls of the candidate by the program: 3, 2 raised ValueError")


def test_it_is_bounded() -> None:
    trace = tuple(TraceStep(line, "f", 0, count=line) for line in range(1, 1000))
    program = "".join(f"assert f({number})  # {'x' * 1000}\n" for number in range(500))
    told = evidence_text(Report(Outcome.ERRORED, trace=trace, reached=True), program)
    assert "  and 959 more\n" in told and told.endswith("  and 460 more")
    assert len(told) < 20_000


@pytest.mark.parametrize(
    ("source", "report", "lines"),
    [
        ("assert f(1)\nassert f(2)\n", Report(Outcome.FAILED, (PASSED,)), [2]),
        ("class T:\n    def test(self):\n        self.assertEqual(1, 1)\n", Report(Outcome.UNTESTED), [3]),
        ("assert f(1)\n", Report(Outcome.UNAVAILABLE), []),
        ("assert f(1)\n", Report(Outcome.ERRORED, missing_module="numpy"), []),
        ("assert (\n", Report(Outcome.FAILED, (PASSED,)), []),
    ],
)
def test_assertions_are_untested_only_where_the_program_ran(
    source: str, report: Report, lines: list[int]
) -> None:
    assert [line for line, _ in never_evaluated(source, report)] == lines
