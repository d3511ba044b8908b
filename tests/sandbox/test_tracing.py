"""Watching a candidate changes nothing: outcome, assertions and output are those of a run without a trace."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.program import Limits, Program
from sandbox.protocol import Sandbox
from sandbox.reports.canonical import canonical_text
from sandbox.reports.report import Report

LIMITS = Limits(seconds=10)
ADDRESS = re.compile("0x[0-9a-f]+")
HEAD = """import threading

class Mortal:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        print("died", self.name)
    def __repr__(self):
        print("somebody looks at", self.name)
        return "Mortal"

"""
TAIL = """
def consumed(value):
    return list(value) if hasattr(value, "__next__") else value

for given in (0, 1, 3):
    try:
        print(given, consumed(f(given, [given, 1])))
    except Exception as error:
        print(type(error).__name__, error)
assert consumed(f(2, [2])) != 5
assert isinstance(f(1, []), int), "one"
"""

simple = st.sampled_from(
    [
        "a += 1",
        "a = 7 // (a - 2)",
        "b = [a, b][:1]",
        "xs.append(a)",
        "xs = [4 // x for x in xs]",
        "b = {x: x for x in xs}",
        "a = sum(x for x in xs)",
        "a = max(xs, key=lambda x: -x)",
        "print(a, b)",
        "x = Mortal(a); print('made')",
        "x = None",
        "y = x",
        "del x",
        "return a",
        "raise ValueError(a)",
        "a = f(a - 1, xs) if 0 < a < 4 else 0",
        "bump()",
        "thread = threading.Thread(target=bump); thread.start(); thread.join()",
        "a = len([*walk(xs)])",
        "b = next(walk(xs), None)",
        "break_here = [bump() for _ in range(3)]",
    ]
)


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines] or ["    pass"]


def _nested(blocks: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[str]]:
    inner = st.lists(blocks, min_size=1, max_size=3).map(
        lambda parts: [line for one in parts for line in one]
    )
    heads = ["for a in range(4):", "for x in xs[:20]:", "if a > 1:", "with threading.Lock():"]
    plain = st.tuples(st.sampled_from(heads), inner).map(lambda part: [part[0], *_indented(part[1])])
    loops = inner.map(lambda body: ["count = 3", "while count:", "    count -= 1", *_indented(body)])
    tries = st.tuples(inner, inner, inner).map(
        lambda part: [
            "try:",
            *_indented(part[0]),
            "except (ZeroDivisionError, ValueError):",
            *_indented(part[1]),
            "finally:",
            *_indented(part[2]),
        ]
    )
    return plain | loops | tries


bodies = st.lists(
    st.recursive(simple.map(lambda line: [line]), _nested, max_leaves=8), min_size=1, max_size=5
).map(lambda parts: [line for one in parts for line in one])


def _candidate(body: list[str], ending: str) -> str:
    lines = [
        "def walk(xs):",
        "    for x in xs:",
        "        yield x",
        "",
        "def f(a, xs):",
        "    b, x = 0, Mortal('first')",
        "    def bump():",
        "        nonlocal a",
        "        a += 1",
        *_indented(body),
        f"    {ending}",
    ]
    return "\n".join(lines) + "\n"


def _seen(report: Report) -> dict[str, Any]:
    """Of a report, what tracing may not change."""
    return {
        "outcome": report.outcome,
        "assertions": [replace(one, calls=()) for one in report.assertions],
        "output": (*(ADDRESS.sub("0x", text) for text in (report.stdout, report.stderr)), bool(report.turns)),
        "raised": report.raised and replace(report.raised, message=ADDRESS.sub("0x", report.raised.message)),
        "redefined": report.redefined,
        "suspicious": report.suspicious,
    }


@settings(
    max_examples=20,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(bodies, st.sampled_from(["return a", "yield a", "return xs"]))
def test_a_trace_changes_nothing(bubblewrap: Sandbox, body: list[str], ending: str) -> None:
    candidate = _candidate(body, ending)
    traced = bubblewrap.run(Program(HEAD + candidate, TAIL), LIMITS)
    plain = bubblewrap.run(Program(HEAD + candidate, TAIL, trace=False), LIMITS)

    assert _seen(traced) == _seen(plain), candidate


THREADS = """import threading
def f(n):
    total, lock = 0, threading.Lock()
    def work():
        nonlocal total
        for _ in range(n):
            with lock:
                total += 1
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return total
"""
DEEP = "def f(n):\n    return [n] and 1 + f(n - 1) if n else 0\n"
LIMIT = """import sys
low, high = 0, sys.getrecursionlimit()
while low < high:
    middle = (low + high + 1) // 2
    try:
        f(middle)
        low = middle
    except RecursionError:
        high = middle - 1
print(low)
assert low > 900
"""


@pytest.mark.parametrize(
    ("candidate", "source"),
    [
        (THREADS, "assert f(2000) == 8000\n"),
        (DEEP, LIMIT),
        (
            "def f(xs):\n    out = []\n    for x in xs:\n        out.append(x)\n    return out\n",
            "assert f(range(9)) == [*range(9)]\n",
        ),
    ],
    ids=["threads share a counter", "the recursion limit", "a loop"],
)
def test_what_watching_might_disturb(candidate: str, source: str, bubblewrap: Sandbox) -> None:
    traced = bubblewrap.run(Program(candidate, source), LIMITS)
    plain = bubblewrap.run(Program(candidate, source, trace=False), LIMITS)

    assert _seen(traced) == _seen(plain)
    assert traced.outcome == "passed", canonical_text(traced)
