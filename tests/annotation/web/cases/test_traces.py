from __future__ import annotations

from annotation.web.cases.traces import MOST_STEPS, CallRow, LoopRow, StepRow, times_by_line, trace_rows
from sandbox.reports.report import (
    Assertion,
    CandidateCall,
    Frame,
    Outcome,
    Raised,
    Report,
    TraceLoop,
    TracePass,
    TraceStep,
)


def step(line: int, call: int = 1) -> TraceStep:
    return TraceStep(line, "f", 0, (("i", "0"),), call=call)


def long_loop() -> TraceLoop:
    passes = (TracePass(1, (step(3), step(4)), 99_998), TracePass(17, (step(3), step(5)), 1))
    return TraceLoop(3, "f", 0, 100_000, passes, (("i", "99999"),))


def looping() -> Report:
    call = CandidateCall(1, "f", 9, "n=3", "3")
    return Report(Outcome.PASSED, trace=(step(2), long_loop(), step(7)), calls=(call,))


def test_a_loop_is_one_row_with_its_count_that_holds_the_passes_that_differ() -> None:
    head, first, loop, last = trace_rows(looping(), "t", "c").rows

    assert isinstance(head, CallRow) and isinstance(first, StepRow) and isinstance(last, StepRow)
    assert (head.id, head.href, head.returned) == ("t-call-1", "#t-9", "3")
    assert isinstance(loop, LoopRow) and (loop.passes, loop.href, loop.earlier) == (100_000, "#c-3", 1)
    assert [(one.number, one.alike, len(one.rows)) for one in loop.shown] == [(1, 99_997, 2), (17, 0, 2)]
    assert loop.changed == (("i", "99999"),)
    assert last.number == 6


def test_a_long_trace_says_how_much_is_left_out_or_shows_all() -> None:
    report = Report(Outcome.PASSED, trace=(step(2),) * (MOST_STEPS + 7))
    bounded, whole = trace_rows(report, "t", "c"), trace_rows(report, "t", "c", most_steps=None)

    assert (len(bounded.rows), bounded.steps, bounded.more) == (MOST_STEPS, MOST_STEPS + 7, 7)
    assert (len(whole.rows), whole.more) == (MOST_STEPS + 7, 0)


def test_what_is_cut_inside_of_a_loop_counts_as_left_out() -> None:
    trace = trace_rows(looping(), "t", "c", most_steps=2)

    assert (trace.steps, trace.more) == (6, 4)


def test_only_calls_with_a_step_on_the_page_are_shown() -> None:
    calls = (CandidateCall(1, "f", 1, ""), CandidateCall(2, "f", 2, ""))
    trace = trace_rows(Report(Outcome.PASSED, trace=(step(2, call=2),), calls=calls), "t", "c")

    assert trace.calls == {2}


def test_lines_in_loops_count_for_each_pass() -> None:
    times: dict[int, int] = {}
    for line, count in times_by_line((step(2), long_loop())):
        times[line] = times.get(line, 0) + count

    assert times == {2: 1, 3: 99_999, 4: 99_998, 5: 1}


def steps(*lines: int, call: int = 0) -> tuple[TraceStep, ...]:
    return tuple(TraceStep(line, "f", 1, (("x", str(line)),), call=call) for line in lines)


def test_it_went_wrong_where_the_candidate_raised() -> None:
    frames = (Frame("program", 1, "<module>"), Frame("candidate", 3, "f"), Frame("library", 9, "g"))
    report = Report(Outcome.ERRORED, trace=steps(2, 3, 2, 3), raised=Raised("ValueError", "", frames))
    trace = trace_rows(report, "t", "c")

    assert (trace.failing, trace.failing_shown) == (4, True)
    assert [row.failing for row in trace.rows if isinstance(row, StepRow)] == [False, False, False, True]


def test_else_where_the_call_ended_whose_value_was_wrong() -> None:
    wrong = Assertion(4, "assert f(2) == 1", False, calls=(2,))
    trace = (*steps(2, 3, call=1), *steps(2, 3, call=2), *steps(2, call=3))

    assert trace_rows(Report(Outcome.FAILED, (wrong,), trace=trace), "t", "c").failing == 4


def test_nobody_knows_where_a_right_one_went_wrong() -> None:
    right = Assertion(4, "assert f(2) == 2", True, calls=(1,))

    assert trace_rows(Report(Outcome.PASSED, (right,), trace=steps(2, call=1)), "t", "c").failing is None


def test_a_failing_step_behind_the_shown_ones_is_known_and_not_shown() -> None:
    wrong = Assertion(4, "assert f(2) == 1", False, calls=(1,))
    trace = trace_rows(Report(Outcome.FAILED, (wrong,), trace=steps(2, 3, 4, call=1)), "t", "c", most_steps=2)

    assert (trace.failing, trace.failing_shown, trace.names) == (3, False, ("x",))
