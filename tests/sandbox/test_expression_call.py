"""What one expression beside a candidate gives, on both backends."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.expression_call import CALL_LIMITS, Answer, BadExpression, Call, CallOutcome
from sandbox.program import Limits, Program
from sandbox.reports.report import Raised
from sandbox.runner import Sandbox

CANDIDATE = """
import sys

def f(items):
    print("sorting", len(items))
    return sorted(items)

async def later(x):
    return x

class Broken:
    def __repr__(self):
        raise ValueError("no")

class Endless:
    def __repr__(self):
        while True:
            pass
"""
SHORT = Limits(seconds=2, memory_mb=128, value_chars=4000)

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.binary(max_size=5)
)
simple = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.tuples(inner, inner) | st.dictionaries(st.text(max_size=3), inner)
    ),
    max_leaves=12,
)


def asked(sandbox: Sandbox, expression: str, limits: Limits = CALL_LIMITS) -> Answer:
    return sandbox.call(Call(CANDIDATE, expression), limits)


@pytest.mark.parametrize(
    ("expression", "value", "kind"),
    [
        ("f([3, 1, 2])", "[1, 2, 3]", "list"),
        ("import math; math.floor(2.5)", "2", "int"),
        ("  f([]) == []  ", "True", "bool"),
        ("later('x')", "'x'", "str"),
        ("None", "None", "NoneType"),
        ("f", "<function f>", "function"),
        ("Broken()", "<Broken whose repr raised ValueError>", "Broken"),
    ],
)
def test_the_value_and_its_type_come_back(sandbox: Sandbox, expression: str, value: str, kind: str) -> None:
    answer = asked(sandbox, expression)
    assert (answer.outcome, answer.value, answer.type) == (CallOutcome.RETURNED, value, kind), answer.detail


def test_an_answer_says_what_was_printed_how_long_it_took_and_of_which_code(sandbox: Sandbox) -> None:
    answer = asked(sandbox, "f([1])")
    assert (answer.stdout, answer.stderr, answer.backend) == ("sorting 1\n", "", sandbox.name)
    assert 0 < answer.seconds < CALL_LIMITS.seconds
    assert answer.candidate_hash == Program(CANDIDATE, "").candidate_hash


def test_an_exception_leads_to_the_lines_of_the_candidate(sandbox: Sandbox) -> None:
    answer = asked(sandbox, "f([1, '', None])")
    assert answer.outcome is CallOutcome.RAISED and answer.value is None and answer.detail == ""
    assert answer.raised is not None and answer.raised.type == "TypeError"
    places = [(frame.place, frame.line, frame.source) for frame in answer.raised.frames]
    assert places == [("program", 1, "f([1, '', None])"), ("candidate", 6, "return sorted(items)")]


@pytest.mark.parametrize(
    ("candidate", "kind", "place"),
    [
        ("def f(x):\n    print x\n", "SyntaxError", "candidate"),
        ("import no_such_module\n", "ModuleNotFoundError", "candidate"),
        ("def f(x):\n    assert x, 'empty'\n", "AssertionError", "candidate"),
        ("def f(x, y):\n    pass\n", "TypeError", "program"),
        ("def g(x):\n    pass\n", "NameError", "program"),
        ("def f(x):\n    raise SystemExit(3)\n", "SystemExit", "candidate"),
    ],
)
def test_whatever_the_candidate_raises_is_told(
    sandbox: Sandbox, candidate: str, kind: str, place: str
) -> None:
    answer = sandbox.call(Call(candidate, "f(0)"), CALL_LIMITS)
    assert answer.outcome is CallOutcome.RAISED
    assert answer.raised is not None
    assert (answer.raised.type, answer.raised.frames[-1].place) == (kind, place)


@pytest.mark.parametrize(
    ("expression", "outcome"),
    [
        ("all(True for _ in iter(int, 1))", CallOutcome.TIMED_OUT),
        ("Endless()", CallOutcome.TIMED_OUT),
        ("bytearray(400 << 20)", CallOutcome.OUT_OF_MEMORY),
        ("all(print('x' * 4096) is None for _ in iter(int, 1))", CallOutcome.OUTPUT_OVERFLOW),
        ("__import__('os')._exit(0)", CallOutcome.ERRORED),
        ("__import__('os').kill(__import__('os').getpid(), 9)", CallOutcome.ERRORED),
        ("__import__('atexit').register(lambda: __import__('os')._exit(0)) and 1", CallOutcome.ERRORED),
    ],
)
def test_a_hostile_expression_has_no_value_and_says_why(
    sandbox: Sandbox, expression: str, outcome: CallOutcome
) -> None:
    answer = asked(sandbox, expression, SHORT)
    assert (answer.outcome, answer.value) == (outcome, None)
    assert answer.detail


def test_a_huge_value_is_cut_with_a_mark(sandbox: Sandbox) -> None:
    answer = asked(sandbox, "'x' * 10**6")
    assert answer.value is not None and len(answer.value) == CALL_LIMITS.value_chars
    assert answer.value.endswith("…")


def test_a_value_that_the_candidate_forges_beside_the_real_one_is_no_value(bubblewrap: Sandbox) -> None:
    forging = 'import os\nos.write(99, b\'0 ["value", "int", "42"]\\n\')\ndef f():\n    return 1\n'
    answer = bubblewrap.call(Call(forging, "f()"), CALL_LIMITS)
    assert (answer.outcome, answer.value) == (CallOutcome.ERRORED, None)
    assert answer.suspicious and answer.detail == "its value cannot be relied on"


@given(simple)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_simple_values_read_as_python_writes_them(bubblewrap: Sandbox, value: Any) -> None:
    answer = bubblewrap.call(Call("def f(x):\n    return x\n", f"f({value!r})"), CALL_LIMITS)
    assert (answer.value, answer.type) == (repr(value), type(value).__name__)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "nothing to call"),
        ("f(", "Python can't read it: '(' was never closed, column 2"),
        ("x = f(1)", "has no value"),
        ("# a remark", "has no value"),
        ("def g():\n    pass", "has no value"),
        ("f(1)\0", "null bytes"),
        ("(" * 5000, "Python can't read it"),
        ("1" * 20_000, "at most 10,000 characters"),
    ],
)
def test_what_has_no_value_is_refused_before_anything_runs(text: str, problem: str) -> None:
    with pytest.raises(BadExpression, match=problem.replace("(", r"\(").replace(")", r"\)")):
        Call(CANDIDATE, text)


@given(st.text(), st.sampled_from(CallOutcome), st.lists(st.text()))
def test_an_answer_outlives_its_json(text: str, outcome: CallOutcome, signs: list[str]) -> None:
    answer = Answer(outcome, text, "str", raised=Raised(text, text), suspicious=tuple(signs))
    assert Answer.from_json(answer.to_json()) == answer


def test_keys_of_another_version_are_left_out() -> None:
    data = json.loads(Answer(CallOutcome.RETURNED).to_json()) | {"newer": 1}
    assert Answer.from_json(json.dumps(data)) == Answer(CallOutcome.RETURNED)
