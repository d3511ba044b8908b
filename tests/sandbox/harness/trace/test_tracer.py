"""What the tracer tells of candidates of every kind. It runs in this process, beside no sandbox."""

import sys
import threading
from typing import Any, cast

import pytest

from sandbox.harness.channel import Channel
from sandbox.harness.trace.tracer import Tracer
from sandbox.plan import plan_execution
from sandbox.program import Program
from sandbox.reports.recorded_trace import candidate_calls_of, trace_of
from sandbox.reports.trace import CandidateCall, TraceLoop, TraceStep, steps_of

NAMES = ("<candidate>", "<program>")


class Told:
    """What a tracer sent of one run, and the tracer itself."""

    def __init__(self, candidate: str, program: str, steps: int = 2000) -> None:
        self.records: list[tuple[Any, ...]] = []
        loops = plan_execution(Program(candidate, program)).loops
        request = {"trace": True, "loops": loops, "candidate": candidate, "source": program}
        channel = cast(Channel, self)
        names: dict[str, Any] = {}
        self.tracer = Tracer(channel, NAMES, {"trace_steps": steps, "value_chars": 200}, request, names)
        before = sys.gettrace()
        sys.settrace(None)
        threading.settrace(self.tracer.function)
        try:
            exec(compile(candidate, NAMES[0], "exec"), names)
            code = compile(program, NAMES[1], "exec")
            self.tracer.resume()
            exec(code, names)
        finally:
            self.tracer.finish()
            threading.settrace(None)
            sys.settrace(before)
        self.tracer.close()

    def send(self, *record: Any) -> None:
        self.records.append(record)

    @property
    def items(self) -> tuple[TraceStep | TraceLoop, ...]:
        return trace_of(self.records)

    @property
    def lines(self) -> list[int]:
        return [step.line for step in steps_of(self.items)]

    @property
    def calls(self) -> tuple[CandidateCall, ...]:
        return candidate_calls_of(self.records)


def loops_in(told: Told) -> list[TraceLoop]:
    return [item for item in told.items if isinstance(item, TraceLoop)]


SUM = """def f(n):
    total = 0
    for i in range(n):
        if i == 70:
            total -= 1
        total += i
    return total
"""


def test_a_long_loop_is_told_by_its_first_passes_and_those_that_differ() -> None:
    told = Told(SUM, "f(100_000)")
    (loop,) = loops_in(told)

    assert (loop.line, loop.passes, told.lines[-1]) == (3, 100_000, 7)
    assert [(one.number, one.count) for one in loop.shown][-2:] == [(10, 99_990), (71, 1)]
    assert [step.line for step in steps_of(loop.shown[-1].steps)] == [3, 4, 5, 6]
    assert ("i", "70") in [pair for step in steps_of(loop.shown[-1].steps) for pair in step.changed]
    assert loop.changed == (("total", "4999949999"), ("i", "99999"))
    assert not told.tracer.truncated


@pytest.mark.parametrize("passes", [1, 2, 3, 9, 10, 11, 12, 500])
@pytest.mark.parametrize(
    "candidate",
    [
        "def f(n):\n    for _ in range(n):\n        n += 1\n    return n\n",
        "def f(n):\n    while n:\n        n -= 1\n    return n\n",
        "def f(n):\n    while True:\n        n -= 1\n        if n == 0:\n            break\n    return n\n",
        """def f(n):
    while True:
        try:
            n -= 1
            1 / n
        except ZeroDivisionError:
            return n
""",
        "def f(n):\n    for _ in range(n):\n        n += 1\n    else:\n        n = 0\n    return n\n",
        "def f(n):\n    return [\n        n\n        for _ in range(n)\n    ]\n",
        "def f(n):\n    return {_: n for _ in range(n)}\n",
    ],
)
def test_passes_are_counted_as_python_makes_them(candidate: str, passes: int) -> None:
    told = Told(candidate, f"f({passes})")
    loops = loops_in(told)

    assert [loop.passes for loop in loops] == ([passes] if passes > 1 or loops else [])
    assert all(sum(one.count for one in loop.shown) == passes for loop in loops)


def test_loops_in_loops_are_told_once() -> None:
    told = Told(
        """def f(n):
    for a in range(n):
        for b in range(n):
            c = a * b
    return c
""",
        "f(300)",
    )
    (outer,) = loops_in(told)
    inner = outer.shown[0].steps[1]

    assert isinstance(inner, TraceLoop) and (outer.passes, inner.passes) == (300, 300)
    assert not told.tracer.truncated and told.lines[-1] == 5


def test_a_generator_is_one_call_however_often_it_is_resumed() -> None:
    told = Told("def f(n):\n    for i in range(n):\n        yield i\n", "assert sum(f(5_000))\nlist(f(2))")

    assert [(call.line, call.arguments) for call in told.calls] == [(1, "n=5000"), (2, "n=2")]
    assert [(loop.repeated, loop.passes) for loop in loops_in(told)] == [(True, 5_001), (True, 3)]


def test_generators_that_take_turns_keep_their_own_locals() -> None:
    program = "one, two = f('a'), f('b')\nnext(one), next(two), next(one), next(two)\n"
    told = Told("def f(x):\n    yield 1\n    y = x\n    yield y\n    yield 2\n", program)

    changed = [(step.call, step.changed) for step in steps_of(told.items) if step.changed]
    assert changed == [
        (1, (("x", "'a'"),)),
        (2, (("x", "'b'"),)),
        (1, (("y", "'a'"),)),
        (2, (("y", "'b'"),)),
    ]


def test_recursion_is_told_by_its_depth() -> None:
    told = Told("def f(n):\n    return n and n + f(n - 1)\n", "f(40)")

    assert [step.depth for step in steps_of(told.items)] == list(range(41))
    assert told.calls == (CandidateCall(1, "f", 1, "n=40", "820"),)


def test_recursion_in_two_branches_is_folded() -> None:
    told = Told("def f(n):\n    if n < 2:\n        return n\n    return f(n - 1) + f(n - 2)\n", "f(17)")

    assert told.tracer.reached == {1, 2, 3, 4} - {1}
    assert len(told.lines) <= 2000


def test_an_exception_in_a_comprehension_ends_the_call_that_raised() -> None:
    told = Told(
        """def f(xs):
    try:
        return [1 // x for x in xs]
    except ZeroDivisionError:
        return []
def g(xs):
    return [1 // x for x in xs]
""",
        "f([1, 0])\ntry:\n    g([1, 0])\nexcept ZeroDivisionError:\n    pass\n",
    )

    assert [(call.returned, call.raised) for call in told.calls] == [
        ("[]", None),
        (None, "ZeroDivisionError"),
    ]
    assert [loop.passes for loop in loops_in(told)] == [2, 2]
    assert told.lines[:2] == [2, 3] and 5 in told.lines


def test_coroutines_that_take_turns_are_told_apart() -> None:
    told = Told(
        "import asyncio\nasync def f(n):\n    await asyncio.sleep(0)\n    return n * n\n",
        """import asyncio
async def main():
    return await asyncio.gather(f(2), f(3))
asyncio.run(main())
""",
    )

    assert [(call.arguments, call.returned) for call in told.calls] == [("n=2", "4"), ("n=3", "9")]
    assert [(step.line, step.call) for step in steps_of(told.items)] == [(3, 1), (3, 2), (4, 1), (4, 2)]


def test_async_generators_and_loops_over_them() -> None:
    told = Told(
        """async def g(n):
    for i in range(n):
        yield i
async def f(n):
    found = []
    async for i in g(n):
        found.append(i)
    return found
""",
        "import asyncio\nasyncio.run(f(3))\n",
    )

    assert [call.returned for call in told.calls] == ["[0, 1, 2]"]
    assert [(loop.line, loop.passes) for loop in loops_in(told)] == [(6, 3)]


def test_methods_and_properties_are_followed() -> None:
    told = Told(
        """class Stack:
    def __init__(self):
        self.items = []
    @property
    def top(self):
        return self.items[-1]
    def push(self, x):
        self.items.append(x)
        return self.top
""",
        "Stack().push(3)\n",
    )

    assert [call.function for call in told.calls] == ["Stack.__init__", "Stack.push"]
    assert [(step.line, step.depth) for step in steps_of(told.items)] == [(3, 0), (8, 0), (9, 0), (6, 1)]


def test_a_decorated_function_is_followed_into_what_it_wraps() -> None:
    told = Told(
        """import functools
def twice(g):
    @functools.wraps(g)
    def inner(*a, **k):
        return 2 * g(*a, **k)
    return inner
@twice
def f(x, *, y=1):
    for _ in range(50):
        x += y
    return x
""",
        "f(1, y=2)\n",
    )

    assert told.calls[0].arguments == "a=(1,), k={'y': 2}" and told.calls[0].returned == "202"
    assert [(loop.line, loop.passes) for loop in loops_in(told)] == [(9, 50)]


COUNTER = """import threading
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


def test_threads_are_followed_and_share_no_step() -> None:
    told = Told(COUNTER, "f(20)")

    assert {call.function for call in told.calls} == {"f", "f.<locals>.work"}
    assert told.calls[0].returned == "80"
    assert all(
        len({step.call for step in steps_of([loop])}) <= 1 for loop in loops_in(told) if loop.line == 6
    )


def test_what_threads_share_is_not_put_back_by_looking_at_it() -> None:
    assert Told(COUNTER, "f(3000)").calls[0].returned == "12000"


def test_a_local_dies_when_the_candidate_lets_it_go() -> None:
    candidate = """heard = []
class Mortal:
    def __del__(self):
        heard.append("died")
def f():
    one = Mortal()
    one = None; heard.append("gone")
    two = Mortal()
    del two; heard.append("deleted")
    return [heard.append("made") for three in map(lambda _: Mortal(), range(2))] and heard
"""
    heard = ["died", "gone", "died", "deleted", "made", "died", "made", "died"]
    assert Told(candidate, f"assert f() == {heard}").calls[0].returned == str(heard)


def test_the_recursion_limit_is_the_candidates_own() -> None:
    candidate = "def f(n):\n    if n:\n        return 1 + f(n - 1)\n    return 0\n"
    told = Told(candidate, f"import sys\nassert f({sys.getrecursionlimit() - 150}) > 0")

    assert told.calls[0].raised is None and told.calls[0].returned is not None


def test_steps_and_values_are_bounded_and_what_is_cut_is_marked() -> None:
    told = Told(
        "def f(x):\n    y = x * 1000\n    z = y\n    return z\n", "for n in range(9):\n    f('ab')\n", 7
    )

    assert len(told.lines) == 7 and told.tracer.truncated
    assert max(len(value) for step in steps_of(told.items) for _, value in step.changed) == 200
    assert told.calls[0].returned is not None and told.calls[0].returned.endswith("…")


def test_more_calls_than_are_told_are_counted() -> None:
    told = Told("def f(x):\n    return x\n", "for n in range(1000):\n    f(n)\n")

    assert len(told.calls) == 200 and told.tracer.count_made() == 1000
    assert [loop.passes for loop in loops_in(told)] == [1000]
