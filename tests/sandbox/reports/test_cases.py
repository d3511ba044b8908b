"""Cases run each by itself: what one does, leaves or forges is not the others'."""

import time
from dataclasses import replace

import pytest

from sandbox.program import Limits, Program
from sandbox.reports.canonical import canonical_text
from sandbox.reports.evidence import evidence_text
from sandbox.reports.report import CaseOutcome, CaseResult, Outcome, Report
from sandbox.reports.trace import TraceLoop, steps_of
from sandbox.runner import Sandbox
from tests.sandbox.patience import judged

CANDIDATE = """def f(x):
    if x < 0:
        raise ValueError(f'{x} is negative')
    return x * x
"""
LIMITS = Limits(seconds=5)
HELD, FAILED, CRASHED = CaseOutcome.HELD, CaseOutcome.FAILED, CaseOutcome.CRASHED
TIMED_OUT, KILLED = CaseOutcome.TIMED_OUT, CaseOutcome.KILLED
NOT_RUN, EMPTY = CaseOutcome.NOT_RUN, CaseOutcome.EMPTY
GOOD = "\ndef good():\n    assert f(3) == 9\n"


def run(sandbox: Sandbox, source: str, *cases: str, limits: Limits = LIMITS) -> Report:
    return judged(sandbox, Program(CANDIDATE, source, cases=cases), limits)


def outcomes(report: Report) -> list[CaseOutcome]:
    return [case.outcome for case in report.case_results]


ENDS = """import asyncio, sys

def fails():
    assert f(2) == 4
    assert f(2) == 5, 'why'

def goes_on():
    try:
        assert f(1) == 2
    except AssertionError:
        pass

def raises():
    raise AssertionError('by hand')

def crashes():
    f(-1)

def leaves():
    assert f(1) == 1
    sys.exit(0)

def tests_nothing():
    f(1)

async def waits():
    await asyncio.sleep(0)
    assert f(4) == 16

def recurses():
    recurses()

def untouched():
    assert True
"""
EXPECTED = {
    "fails": FAILED,
    "goes_on": FAILED,
    "raises": FAILED,
    "crashes": CRASHED,
    "leaves": CRASHED,
    "tests_nothing": EMPTY,
    "waits": HELD,
    "recurses": CRASHED,
    "untouched": HELD,
    "unknown": CRASHED,
    "f": CRASHED,
}
TOLD = """outcome: failed
cases: 11, held: 2
  case fails: failed line 5: assert f(2) == 5, 'why' left: 4 right: 5
  case goes_on: failed line 9: assert f(1) == 2 left: 1 right: 2
  case raises: failed AssertionError: by hand at program line 14
  case crashes: crashed ValueError: -1 is negative at candidate line 3
  case leaves: crashed SystemExit: 0 at program line 21
  case tests_nothing: empty
  case waits: held, 1 assertion
  case recurses: crashed RecursionError: maximum recursion depth exceeded at program line 30
  case untouched: held, 1 assertion [does not touch the candidate]
  case unknown: crashed NameError: name 'unknown' is not defined
  case f: crashed NameError: name 'f' is not defined"""


def test_each_case_ends_for_itself_and_is_told_in_order(sandbox: Sandbox) -> None:
    reports = [run(sandbox, ENDS, *EXPECTED) for _ in range(2)]
    assert {case.name: case.outcome for case in reports[0].case_results} == EXPECTED
    assert [canonical_text(report) for report in reports] == [TOLD, TOLD]
    assert reports[0].outcome is Outcome.FAILED and reports[0].raised is None
    # An interpreter that meets the recursion limit drops the tracer.
    assert reports[0].lines_missed == reports[0].lines_reached == ()
    first, crashed = reports[0].case_results[0], reports[0].case_results[3]
    assert (first.assertions, first.failed, first.touched) == (2, 1, True)
    assert crashed.raised is not None and crashed.raised.frames[-1].place == "candidate"
    assert Report.from_json(reports[0].to_json()) == reports[0]


def test_both_backends_tell_the_same(bubblewrap: Sandbox, docker: Sandbox) -> None:
    told = {evidence_text(run(one, ENDS, *EXPECTED), ENDS) for one in (bubblewrap, docker)}
    assert len(told) == 1


SHARED = """import atexit, sys
state = []
print('once')
atexit.register(lambda: print('exit', file=sys.stderr))

def main():
    state.append('main')

def first():
    state.append(1)
    print('first')
    assert f(len(state)) == 1

def second():
    state.append(2)
    print('second', file=sys.stderr)
    assert state == [2] and f(1) == 1
"""


def test_each_case_begins_where_the_top_level_ended(sandbox: Sandbox) -> None:
    report = run(sandbox, SHARED, "first", "second")
    assert (report.outcome, outcomes(report)) == (Outcome.PASSED, [HELD, HELD])
    assert list(report.printed()) == [
        ("stdout", "once\n"),
        ("stdout", "first\n"),
        ("stderr", "second\n"),
        ("stderr", "exit\n"),
    ]


COUNTED = """assert f(1) == 1

def twice():
    for x in (3, 3, 3):
        assert f(x) == 9

def again():
    for x in (3, 3):
        assert f(x) == 9
    result = f(5)
    assert result == 25

def negative():
    try:
        f(-1)
    except ValueError:
        caught = True
    assert caught
"""


def test_what_cases_count_and_number_is_put_together(sandbox: Sandbox) -> None:
    report = run(sandbox, COUNTED, "twice", "again", "negative")
    assert report.outcome is Outcome.PASSED
    told = [(one.case, one.line, one.count, one.calls, one.touched) for one in report.assertions]
    assert told == [
        ("", 1, 1, (1,), True),
        ("twice", 5, 3, (2,), True),
        ("again", 9, 2, (5,), True),
        ("again", 11, 1, (7,), True),
        ("negative", 18, 1, (8,), True),
    ]
    assert report.calls_made == 8
    assert [(call.number, call.arguments) for call in report.calls][-2:] == [(7, "x=5"), (8, "x=-1")]
    assert report.calls[-1].raised == "ValueError"
    assert report.lines_missed == () and 3 in report.lines_reached
    steps = list(steps_of(report.trace))
    assert [step.call for step in steps if step.line == 2] == list(range(1, 9))
    assert [(case.name, case.assertions) for case in report.cases] == [
        ("twice", 3),
        ("again", 3),
        ("negative", 1),
    ]


LOOPING = "def f(n):\n    total = 0\n    for i in range(n):\n        total += i\n    return total\n"


def test_loops_of_one_case_do_not_meet_those_of_another(sandbox: Sandbox) -> None:
    source = "f(3)\ndef one():\n    assert f(40) == 780\ndef two():\n    assert f(50) == 1225\n"
    report = sandbox.run(Program(LOOPING, source, cases=("one", "two")), LIMITS)
    loops = [item.passes for item in report.trace if isinstance(item, TraceLoop)]
    assert loops == [3, 40, 50] and not report.trace_truncated
    assert "  loop at line 3, where it went round more than once: 93 passes" in evidence_text(report, source)


def test_steps_are_bounded_over_all_cases(sandbox: Sandbox) -> None:
    cases = [f"def case{number}():\n    assert f({number}) == {number**2}\n" for number in range(9)]
    names = tuple(f"case{number}" for number in range(9))
    report = run(sandbox, "\n".join(cases), *names, limits=replace(LIMITS, trace_steps=7))
    assert report.outcome is Outcome.PASSED
    assert len(list(steps_of(report.trace))) == 7 and report.trace_truncated


def test_a_hanging_case_leaves_time_for_the_others(sandbox: Sandbox) -> None:
    source = "import time\ndef hangs():\n    assert f(1) == 1\n    time.sleep(60)\n" + GOOD
    report = run(sandbox, source, "hangs", "good", limits=replace(LIMITS, seconds=2))
    assert (report.outcome, outcomes(report)) == (Outcome.TIMED_OUT, [TIMED_OUT, HELD])
    assert report.lines_missed == () and report.trace_truncated
    assert canonical_text(report).splitlines() == [
        "outcome: timed_out",
        "detail: a case did not end within its time",
        "cases: 2, held: 1",
        "  case hangs: timed_out",
        "  case good: held, 1 assertion",
    ]


def test_a_case_without_time_is_not_run(sandbox: Sandbox) -> None:
    names = [f"hangs{number}" for number in range(8)]
    source = "".join(f"def {name}():\n    while True:\n        f(1)\n" for name in names)
    report = run(sandbox, source, *names, limits=replace(LIMITS, seconds=1))
    assert report.outcome is Outcome.TIMED_OUT
    had_time = outcomes(report).count(TIMED_OUT)
    assert 1 <= had_time <= 5, "each may take a fifth of the time, and more on a busy machine"
    assert outcomes(report) == [TIMED_OUT] * had_time + [NOT_RUN] * (8 - had_time)


def test_a_failed_case_says_more_than_one_that_hangs(sandbox: Sandbox) -> None:
    source = "def hangs():\n    while True:\n        f(1)\ndef wrong():\n    assert f(1) == 2\n"
    report = run(sandbox, source, "hangs", "wrong", limits=replace(LIMITS, seconds=1))
    assert (report.outcome, outcomes(report)) == (Outcome.FAILED, [TIMED_OUT, FAILED])
    assert evidence_text(report, source) == canonical_text(report)


def test_a_candidate_that_exits_ends_a_case(sandbox: Sandbox) -> None:
    source = "def exits():\n    assert f(1) == 1\ndef other():\n    assert True\n"
    program = Program("def f(x):\n    raise SystemExit(0)\n", source, cases=("exits", "other"))
    report = sandbox.run(program, LIMITS)
    assert (report.outcome, outcomes(report)) == (Outcome.ERRORED, [CRASHED, HELD])


@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        ("raise ValueError\n", Outcome.ERRORED),
        ("assert f(1) == 2\n", Outcome.FAILED),
        ("import sys\nsys.exit(1)\n", Outcome.ERRORED),
        ("def broken(:\n", Outcome.ERRORED),
        ("import os\nos._exit(0)\n", Outcome.ERRORED),
    ],
)
def test_an_end_at_the_top_level_is_told_as_without_cases(
    source: str, outcome: Outcome, bubblewrap: Sandbox
) -> None:
    report = run(bubblewrap, source + GOOD, "good")
    plain = bubblewrap.run(Program(CANDIDATE, source), LIMITS)
    assert (report.outcome, report.detail, report.raised) == (outcome, plain.detail, plain.raised)
    assert outcomes(report) == [NOT_RUN] and report.ran == plain.ran


def test_a_missing_module_is_the_environments_fault_in_a_case_too(sandbox: Sandbox) -> None:
    source = "def lacks():\n    import no_such_module\n    assert f(1) == 1\n"
    report = run(sandbox, source, "lacks")
    assert (report.outcome, report.missing_module) == (Outcome.ERRORED, "no_such_module")
    assert not report.ran and outcomes(report) == [CRASHED]
    assert run(sandbox, source + GOOD, "good", "lacks").missing_module == "no_such_module"
    top = run(sandbox, "import no_such_module\n" + GOOD, "good")
    assert (top.missing_module, outcomes(top)) == ("no_such_module", [NOT_RUN])


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("assert True", Outcome.UNTESTED),
        ("f(1)", Outcome.UNTESTED),
        ("global f\n    f = lambda x: 9\n    assert f(1) == 9", Outcome.ERRORED),
        ("import builtins\n    builtins.len = 3\n    assert f(1) == 1", Outcome.ERRORED),
        ("import sys\n    sys.settrace(None)\n    assert f(1) == 1", Outcome.ERRORED),
    ],
)
def test_nothing_else_passes(body: str, outcome: Outcome, bubblewrap: Sandbox) -> None:
    assert run(bubblewrap, f"def case():\n    {body}\n", "case").outcome is outcome


def test_an_empty_case_beside_others_is_no_pass(bubblewrap: Sandbox) -> None:
    report = run(bubblewrap, f"def case():\n    f(1)\n{GOOD}", "case", "good")
    assert (report.outcome, outcomes(report)) == (Outcome.ERRORED, [EMPTY, HELD])


def test_a_program_of_another_candidate_may_not_fit(bubblewrap: Sandbox) -> None:
    source = "def good():\n    assert g(1) == 1\ndef two():\n    assert g(1, 2) == 1\n"
    program = Program(CANDIDATE, source, name="g", cases=("good", "two"))
    assert bubblewrap.run(program, LIMITS).outcome is Outcome.NOT_APPLICABLE
    assert bubblewrap.run(replace(program, cases=("good",)), LIMITS).outcome is Outcome.PASSED


def test_what_the_top_level_started_serves_the_cases(sandbox: Sandbox) -> None:
    source = (
        "import subprocess, threading, queue\n"
        "echo = subprocess.Popen(['cat'], stdin=-1, stdout=-1, text=True, bufsize=1)\n"
        "def ask(text):\n    echo.stdin.write(text + '\\n')\n    return int(echo.stdout.readline())\n"
        "def one():\n    assert f(ask('1')) == 1\ndef two():\n    assert f(ask('2')) == 4\n"
    )
    assert outcomes(run(sandbox, source, "one", "two")) == [HELD, HELD]


def test_untraced_cases_say_the_same(bubblewrap: Sandbox) -> None:
    program = Program(CANDIDATE, ENDS, cases=tuple(EXPECTED), trace=False)
    report = bubblewrap.run(program, LIMITS)
    assert {case.name: case.outcome for case in report.case_results} == EXPECTED
    assert report.trace == () and report.lines_missed == () and not report.trace_truncated


def test_eight_cases_cost_little_more_than_none(bubblewrap: Sandbox) -> None:
    names = tuple(f"case{number}" for number in range(8))
    source = "".join(f"def {name}():\n    assert f(3) == 9\n" for name in names)
    programs = Program(CANDIDATE, source + "case0()\n"), Program(CANDIDATE, source, cases=names)

    def seconds(program: Program) -> float:
        began = time.monotonic()
        assert bubblewrap.run(program, LIMITS).outcome is Outcome.PASSED
        return time.monotonic() - began

    plain, cases = (min(seconds(program) for _ in range(8)) for program in programs)
    # A case takes about 3 ms; the rest is for a machine that has other things to do.
    assert cases < plain + 0.3


def test_results_are_plain_data() -> None:
    assert CaseResult("a", HELD) == CaseResult("a", HELD, 0, 0, False, None)
