import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.plan import plan_execution
from sandbox.program import Limits, Program
from sandbox.reports.diagnosis import diagnose_run
from sandbox.reports.observation import Garbled, parse_harness_reply
from sandbox.reports.report import CaseOutcome, Outcome, Report

PROGRAM = Program("def f(x):\n    return x\n", "assert f(1) == 1\n")
END = ["end", None, [1], False, [], [1, 2], [], False, 1]
HELD = ["assertion", 1, "assert f(1) == 1", True, "1", "1", True, [1], "", ""]
OWN, FEIGNED, FAILED = [*HELD[:-1], "class"], [*HELD[:-1], "feigned"], [*HELD[:3], False, *HELD[4:]]


def _reply(*records: Any, **changes: Any) -> bytes:
    lines = [json.dumps(record) for record in (["ready"], *records)]
    seen = {"records": lines, "foreign": 0, "stdout": "", "stderr": "", "output_bytes": [0, 0], "status": 0}
    seen |= {"stopped": "", "seconds": 0.1, "cpu_seconds": 0.1, "peak": 9 << 20}
    seen |= {"oom_kills": 0, "left": 0, **changes}
    return json.dumps(seen).encode()


def _report(reply: bytes, program: Program = PROGRAM) -> Report:
    return diagnose_run(program, plan_execution(program), Limits(), parse_harness_reply(reply))


def test_a_recorded_end_and_a_held_assertion_pass() -> None:
    report = _report(_reply(HELD, END))
    assert report.outcome is Outcome.PASSED and report.touched and report.lines_reached == (1, 2)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (_reply(HELD), Outcome.ERRORED),
        (_reply(HELD, status=9), Outcome.ERRORED),
        (_reply(HELD, status=9, peak=500 << 20), Outcome.ERRORED),
        (_reply(HELD, status=9, peak=500 << 20, oom_kills=None), Outcome.OUT_OF_MEMORY),
        (_reply(HELD, status=9, oom_kills=None), Outcome.ERRORED),
        (_reply(HELD, status=9, oom_kills=1), Outcome.OUT_OF_MEMORY),
        (_reply(HELD, END, oom_kills=1), Outcome.OUT_OF_MEMORY),
        (_reply(HELD, status=24), Outcome.ERRORED),
        (_reply(HELD, status=24, cpu_seconds=20.5), Outcome.TIMED_OUT),
        (_reply(HELD, status=9, cpu_seconds=20.5), Outcome.TIMED_OUT),
        (_reply(HELD, stopped="deadline"), Outcome.TIMED_OUT),
        (_reply(HELD, stopped="deadline", oom_kills=1), Outcome.OUT_OF_MEMORY),
        (_reply(HELD, stopped="memory"), Outcome.OUT_OF_MEMORY),
        (_reply(HELD, stopped="output"), Outcome.OUTPUT_OVERFLOW),
        (_reply(HELD, END, output_bytes=[2 << 20, 0]), Outcome.OUTPUT_OVERFLOW),
        (_reply(HELD, END, END), Outcome.ERRORED),
        (_reply(HELD, END, foreign=5), Outcome.ERRORED),
        (_reply(END), Outcome.UNTESTED),
        (_reply(["end"]), Outcome.ERRORED),
        (_reply(["assertion", "x"], END), Outcome.ERRORED),
        (_reply({"a": 1}, HELD, END), Outcome.ERRORED),
    ],
)
def test_nothing_else_passes(reply: bytes, outcome: Outcome) -> None:
    assert _report(reply).outcome is outcome


@pytest.mark.parametrize(
    ("records", "outcome"),
    [
        ([OWN], Outcome.UNPROVEN),
        ([OWN, OWN], Outcome.UNPROVEN),
        ([OWN, HELD], Outcome.PASSED),
        ([OWN, [*HELD[:6], False, *HELD[7:]]], Outcome.UNPROVEN),
        ([FEIGNED, HELD], Outcome.UNPROVEN),
        ([FEIGNED, FAILED], Outcome.FAILED),
        ([FEIGNED, ["sign", "program", "did"]], Outcome.ERRORED),
        ([FEIGNED, ["interrupted", 3]], Outcome.ERRORED),
        ([[*HELD[:-1], "mine"]], Outcome.ERRORED),
    ],
)
def test_what_holds_by_the_candidates_own_word_is_unproven(records: list[Any], outcome: Outcome) -> None:
    report = _report(_reply(*records, [*END[:2], [1] * len(records), *END[3:]]))
    assert report.outcome is outcome
    assert (outcome is Outcome.UNPROVEN) is report.detail.endswith("decided what they found: line 1")


@given(st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner), max_leaves=12))
def test_forged_records_never_raise(record: Any) -> None:
    forged = [*record, 1] if isinstance(record, list) else [record]
    assert _report(_reply(["end", *forged])).outcome is not Outcome.PASSED


CASES = replace(PROGRAM, source="def a():\n    assert f(1) == 1\n", cases=("a", "b"))


def _case(number: int, *records: Any, how: str = "ended") -> list[Any]:
    inner = [["in", number, *record] for record in (["base", 1, 0, 0], *records, ["printed", 0, 0])]
    return [["case", number], *inner, *([["over", number, how]] if how else [])]


@pytest.mark.parametrize(
    ("records", "changes", "outcome", "cases"),
    [
        ([*_case(0, HELD, END), *_case(1, HELD, END), END], {}, Outcome.PASSED, ["held", "held"]),
        ([*_case(0, HELD, END), END], {}, Outcome.TIMED_OUT, ["held", "not_run"]),
        ([*_case(0, HELD, END), *_case(1, HELD), END], {}, Outcome.ERRORED, ["held", "killed"]),
        (
            [*_case(0, HELD, END), *_case(1, HELD, END, how="killed"), END],
            {},
            Outcome.ERRORED,
            ["held", "killed"],
        ),
        ([*_case(0, HELD, END), *_case(1, HELD, how="")], {}, Outcome.ERRORED, ["held", "killed"]),
        (
            [*_case(0, HELD, END), *_case(1, HELD, how="")],
            {"stopped": "deadline"},
            Outcome.TIMED_OUT,
            ["held", "timed_out"],
        ),
        (
            [*_case(0, HELD, END), *_case(1, HELD, how="")],
            {"stopped": "memory"},
            Outcome.OUT_OF_MEMORY,
            ["held", "killed"],
        ),
        ([*_case(0, HELD, END, END), *_case(1, HELD, END), END], {}, Outcome.ERRORED, ["held", "held"]),
        ([*_case(0, HELD, END), *_case(1, END), END], {}, Outcome.ERRORED, ["held", "empty"]),
        ([*_case(0, END), *_case(1, END), END], {}, Outcome.UNTESTED, ["empty", "empty"]),
        ([HELD, HELD, END], {}, Outcome.TIMED_OUT, ["not_run", "not_run"]),
        ([*_case(0, HELD, END), *_case(1, HELD, END)], {}, Outcome.ERRORED, ["held", "held"]),
    ],
)
def test_a_case_is_held_only_when_its_end_was_recorded(
    records: list[Any], changes: dict[str, Any], outcome: Outcome, cases: list[str]
) -> None:
    report = _report(_reply(*records, **changes), CASES)
    assert (report.outcome, [str(case.outcome) for case in report.case_results]) == (outcome, cases)


@given(st.lists(st.none() | st.integers(0, 3) | st.text() | st.lists(st.integers()), max_size=8))
def test_forged_records_of_a_case_never_raise(record: list[Any]) -> None:
    for kind in ("in", "case", "over", "end", "step", "loop", "call", "printed", "turn", "base", "assertion"):
        forged = [["in", 0, kind, *record], [kind, *record]]
        report = _report(_reply(["case", 0], *forged, ["over", 0, "ended"], END), CASES)
        assert report.outcome is not Outcome.PASSED
        assert CaseOutcome.HELD not in [case.outcome for case in report.case_results[1:]]


@given(st.binary(max_size=40))
def test_garbage_is_no_reply(reply: bytes) -> None:
    with pytest.raises(Garbled):
        parse_harness_reply(reply)


def test_a_program_that_never_started_is_the_machines_fault() -> None:
    reply = json.loads(_reply())
    with pytest.raises(Garbled, match="no room"):
        parse_harness_reply(json.dumps({**reply, "records": [], "stderr": "no room"}).encode())


def test_text_that_no_database_takes_is_made_harmless() -> None:
    assert _report(_reply(HELD, END, stdout="a\0b\ud800")).stdout == "a␀b\\ud800"


def test_a_signal_without_a_name_is_told_by_its_number() -> None:
    report = _report(_reply(HELD, status=40))
    assert report.detail == "it was ended by signal 40" and report.outcome is Outcome.ERRORED
