"""What a run means, on both backends: one list of programs, with what must come out."""

import contextlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox.program import Limits, Program
from sandbox.reports.canonical import canonical_text
from sandbox.reports.report import Outcome, Report
from sandbox.reports.trace import TraceLoop, steps_of
from sandbox.runner import Sandbox, SandboxUnavailable, open_sandbox
from tests.sandbox.patience import judged

SQUARE = "def f(x):\n    return x * x\n"
BRANCHES = "def f(x):\n    if x > 0:\n        return 'more'\n    return 'less'\n"
STACK = """
class Stack:
    def __init__(self):
        self.items = []
    def push(self, x):
        self.items.append(x)
"""
UNITTEST = """
import unittest
class T(unittest.TestCase):
    def test(self):
        self.assertEqual(f(3), 9)
unittest.main()
"""
SUM = """def f(n):
    total = 0
    for i in range(n):
        total += i
    if n < 0:
        return None
    return total
"""
LOOP = """expected = 9
assert True
for x in (3, 3, -3):
    assert f(x) == expected
assert not f(1) == 2 and f(0) == 0
"""
LIMITS = Limits(seconds=5)

CASES = {
    "passed": (SQUARE, "assert f(3) == 9\nresult = f(2)\nassert result == 4\n", Outcome.PASSED),
    "failed": (SQUARE, "def main():\n    assert f(3) == 8, 'three'\n\nmain()\n", Outcome.FAILED),
    "caught failure": (
        SQUARE,
        "try:\n    assert f(2) == 5\nexcept AssertionError:\n    print('oh')\n",
        Outcome.FAILED,
    ),
    "error in candidate": (
        "def f(x):\n    return 1 / x\n",
        "assert f(1) == 1\nassert f(0) == 0\n",
        Outcome.ERRORED,
    ),
    "error in program": (SQUARE, "import json\njson.loads('{')\nassert f(1) == 1\n", Outcome.ERRORED),
    "syntax error": (SQUARE, "assert f(1) ==\n", Outcome.ERRORED),
    "python 2 candidate": ("def f(x):\n    print x\n", "assert f(1) == 1\n", Outcome.ERRORED),
    "missing module": (SQUARE, "import no_such_module\nassert f(1) == 1\n", Outcome.ERRORED),
    "generator": (
        "def f(n):\n    for i in range(n):\n        yield i\n",
        "assert list(f(3)) == [0, 1, 2]\n",
        Outcome.PASSED,
    ),
    "class": (STACK, "s = Stack()\ns.push(1)\nassert s.items == [1]\n", Outcome.PASSED),
    "decorator": (
        "def f(g):\n    def inner(*a):\n        return g(*a) + 1\n    return inner\n",
        "@f\ndef h(x):\n    return x\n\nassert h(1) == 2\n",
        Outcome.PASSED,
    ),
    "recursion": ("def f(n):\n    return n and n + f(n - 1)\n", "assert f(30) == 465\n", Outcome.PASSED),
    "endless recursion": ("def f(n):\n    return f(n)\n", "assert f(1)\n", Outcome.ERRORED),
    "async": (
        "async def f(n):\n    return n\n",
        "async def main():\n    assert await f(3) == 3\n",
        Outcome.PASSED,
    ),
    "unittest": (SQUARE, UNITTEST, Outcome.PASSED),
    "numpy": (
        "import numpy as np\ndef f(n):\n    return np.arange(n)\n",
        "import numpy as np\nnp.testing.assert_allclose(f(2), [0, 1])\n",
        Outcome.PASSED,
    ),
    "output": (
        SQUARE,
        "import sys\nprint(f, {'b', 'a'})\nprint('no', file=sys.stderr)\nassert f(1) == 1\n",
        Outcome.PASSED,
    ),
    "long output": (SQUARE, "print('x' * 100_000)\nassert f(1) == 1\n", Outcome.PASSED),
    "never ends": (
        "def f(x):\n    while True:\n        pass\n",
        "print('start')\nassert f(1)\n",
        Outcome.TIMED_OUT,
    ),
    "too much memory": (
        SQUARE,
        "held = []\nwhile True:\n    held.append(b'x' * 1_000_000)\n",
        Outcome.OUT_OF_MEMORY,
    ),
    "too much memory in a child": (
        SQUARE,
        "import os, time\nchild = os.fork()\nheld = b'x' * (150 << 20)\ntime.sleep(60)\nassert f(1) == 1\n",
        Outcome.OUT_OF_MEMORY,
    ),
    "killed": (SQUARE, "import os\nassert f(1) == 1\nos.kill(os.getpid(), 9)\n", Outcome.ERRORED),
    "killed with much memory": (
        SQUARE,
        "import os\nheld = bytearray(170 << 20)\nassert f(1) == 1\nos.kill(os.getpid(), 9)\n",
        Outcome.ERRORED,
    ),
    "memory error": (SQUARE, "held = bytearray(1 << 40)\nassert f(1) == 1\n", Outcome.OUT_OF_MEMORY),
    "memory error let through": (
        SQUARE,
        "try:\n    held = bytearray(1 << 40)\nexcept MemoryError:\n    raise\nassert f(1) == 1\n",
        Outcome.OUT_OF_MEMORY,
    ),
    "memory error of its own": (
        "def f(x):\n    raise MemoryError('of its own')\n",
        "assert f(1) == 1\n",
        Outcome.ERRORED,
    ),
    "too deep to be read": (
        SQUARE,
        "assert f(" + "[" * 150 + "]" * 150 + " + 1" * 2_000 + ")\n",
        Outcome.ERRORED,
    ),
    "branch not reached": (BRANCHES, "assert f(1) == 'more'\n", Outcome.PASSED),
    "no assertion": (SQUARE, "print(f(2))\n", Outcome.UNTESTED),
    "nothing tested": (SQUARE, "f(2)\nassert True\n", Outcome.UNTESTED),
    "exit": (SQUARE, "import sys\nassert f(1) == 1\nsys.exit(0)\nassert f(2) == 4\n", Outcome.ERRORED),
    "exit at the end": (SQUARE, "import sys\nassert f(1) == 1\nsys.exit(0)\n", Outcome.PASSED),
    "redefined": (SQUARE, "def f(x):\n    return 4\nassert f(2) == 4\n", Outcome.ERRORED),
    "rebound code": (
        SQUARE,
        "def g(x):\n    return 4\nf.__code__ = g.__code__\nassert f(3) == 4\n",
        Outcome.ERRORED,
    ),
    "closed descriptors": (SQUARE, "import os\nassert f(1) == 1\nos.closerange(3, 256)\n", Outcome.ERRORED),
    "looks at frames": (SQUARE, "import sys\nsys._getframe()\nassert f(1) == 1\n", Outcome.ERRORED),
    "changed built-in": (SQUARE, "import builtins\nbuiltins.len = 3\nassert f(1) == 1\n", Outcome.ERRORED),
}


def _run(sandbox: Sandbox, name: str) -> Report:
    candidate, source, _ = CASES[name]
    limits = Limits(seconds=1) if name == "never ends" else Limits(seconds=5, memory_mb=192)
    return judged(sandbox, Program(candidate, source), limits)


@pytest.mark.parametrize("name", CASES)
def test_outcome(name: str, sandbox: Sandbox) -> None:
    report = _run(sandbox, name)
    assert report.outcome is CASES[name][2], canonical_text(report)
    assert report.backend == sandbox.name


@pytest.mark.parametrize("name", CASES)
def test_canonical_text_is_the_same_on_both_backends_and_in_three_runs(
    name: str, bubblewrap: Sandbox, request: pytest.FixtureRequest
) -> None:
    texts = {canonical_text(_run(bubblewrap, name)) for _ in range(3)}
    assert len(texts) == 1
    docker: Sandbox = request.getfixturevalue("docker")
    assert {canonical_text(_run(docker, name))} == texts


values = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=5,
)


@settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(given_value=values, expected=values)
def test_any_values_are_compared_as_python_does_and_told_alike_twice(
    given_value: object, expected: object, bubblewrap: Sandbox
) -> None:
    program = Program("def same(x):\n    return x\n", f"assert same({given_value!r}) == {expected!r}\n")
    one, two = bubblewrap.run(program, LIMITS), bubblewrap.run(program, LIMITS)
    assert canonical_text(one) == canonical_text(two)
    assert (one.outcome is Outcome.PASSED) == (given_value == expected)
    assert one.assertions[0].right == repr(expected)


def test_assertions_are_told_one_by_one(sandbox: Sandbox) -> None:
    first, loop, last = sandbox.run(Program(SQUARE, LOOP), LIMITS).assertions
    assert (first.line, first.passed, first.touched, first.left) == (2, True, False, None)
    assert (loop.line, loop.left, loop.right, loop.touched, loop.count) == (4, "9", "9", True, 3)
    assert (last.line, last.source, last.passed) == (5, "assert not f(1) == 2 and f(0) == 0", True)


TABLES = """\
import numpy
import pandas
def f():
    table = pandas.DataFrame({"a": [1, 2], "b": [0.5, 1.5]})
    column = table["b"]
    array = numpy.arange(6).reshape(2, 3)
    return table
"""


def test_arrays_and_tables_are_shown_by_their_shape_and_first_values(sandbox: Sandbox) -> None:
    table = "DataFrame(shape=(2, 2), 'a': int64 [1, 2], 'b': float64 [0.5, 1.5])"
    report = judged(sandbox, Program(TABLES, "assert f() is None\n"), Limits())
    changed = {name: value for step in steps_of(report.trace) for name, value in step.changed}
    assert changed == {
        "table": table,
        "column": "Series(shape=(2,), dtype=float64, [0.5, 1.5])",
        "array": "ndarray(shape=(2, 3), dtype=int64, [[0, 1, 2], [3, 4, 5]])",
    }
    assert [one.left for one in report.assertions] == [table]
    assert report.calls[0].returned == table


def test_the_trace_shows_changed_locals_and_lines_never_reached(sandbox: Sandbox) -> None:
    report = sandbox.run(Program(BRANCHES, "assert f(1) == 'more'\n"), LIMITS)
    assert [(step.line, step.function, step.changed) for step in report.trace] == [
        (2, "f", (("x", "1"),)),
        (3, "f", ()),
    ]
    assert report.lines_reached == (1, 2, 3) and report.lines_missed == (4,)


def test_a_long_trace_is_cut_and_says_so(sandbox: Sandbox) -> None:
    recursion = "def f(n):\n    if n:\n        return n + f(n - 1)\n    return 0\n"
    report = sandbox.run(Program(recursion, "for n in range(60):\n    assert f(n) >= n\n"), LIMITS)
    assert len(list(steps_of(report.trace))) == LIMITS.trace_steps and report.trace_truncated
    assert report.lines_missed == ()


UNREPEATABLE = {"never ends", "too much memory", "too much memory in a child", "endless recursion"}


@pytest.mark.parametrize("name", sorted(set(CASES) - UNREPEATABLE))
def test_tracing_changes_neither_outcome_nor_output(name: str, bubblewrap: Sandbox) -> None:
    candidate, source, outcome = CASES[name]
    plain = bubblewrap.run(Program(candidate, source, trace=False), LIMITS)
    traced = bubblewrap.run(Program(candidate, source), LIMITS)
    assert (plain.outcome, plain.stdout.replace("0x", ""), plain.touched)[:1] == (outcome,)
    assert plain.touched == traced.touched and len(plain.stdout) == len(traced.stdout)


def test_both_outputs_are_told_in_the_order_in_which_they_were_printed(sandbox: Sandbox) -> None:
    source = (
        "import sys\nfor n in range(3):\n    print('ä', n)\n    print(n, file=sys.stderr)\nassert f(1) == 1\n"
    )
    told = [("stdout", "ä 0\n"), ("stderr", "0\n"), ("stdout", "ä 1\n")]
    assert list(sandbox.run(Program(SQUARE, source), LIMITS).printed())[:3] == told
    unknown = f"{source}import os\nos.write(1, b'!')\n"
    assert sandbox.run(Program(SQUARE, unknown), LIMITS).turns == ()


def test_exceptions_are_mapped_to_the_two_texts(sandbox: Sandbox) -> None:
    raised = _run(sandbox, "error in candidate").raised
    assert raised is not None and raised.type == "ZeroDivisionError"
    places = [(frame.place, frame.line, frame.source) for frame in raised.frames]
    assert places == [("program", 2, "assert f(0) == 0"), ("candidate", 2, "return 1 / x")]


def test_a_missing_module_is_named(sandbox: Sandbox) -> None:
    report = _run(sandbox, "missing module")
    assert report.missing_module == "no_such_module" and not report.ran


def test_what_is_missing_only_inside_of_an_assertion_did_not_keep_the_program_from_running(
    sandbox: Sandbox,
) -> None:
    report = sandbox.run(Program("def f():\n    import no_such_module\n", "assert f()\n"), LIMITS)
    assert report.missing_module == "no_such_module" and report.ran and not report.asserted


def test_a_missing_module_is_installed_in_a_layer_of_its_own(sandbox: Sandbox) -> None:
    program = Program(
        SQUARE, "import inflection\nassert inflection.pluralize('cat') == 'cats' and f(1) == 1\n"
    )
    assert sandbox.run(program, LIMITS).missing_module == "inflection"
    installed = Program(program.candidate, program.source, dependencies=("inflection==0.5.1",))
    assert sandbox.run(installed, LIMITS).outcome is Outcome.PASSED
    assert sandbox.run(program, LIMITS).missing_module == "inflection"


@pytest.mark.parametrize(
    "name", ["--index-url=http://example.org", "./here", "six; rm", "no-such-distribution-cosqa"]
)
def test_a_refused_dependency_is_an_outcome(name: str, sandbox: Sandbox) -> None:
    report = sandbox.run(Program(SQUARE, "assert f(1) == 1\n", dependencies=(name,)), LIMITS)
    assert report.outcome is Outcome.DEPENDENCY_REFUSED and not report.ran


def test_a_long_loop_does_not_lose_what_comes_after_it(sandbox: Sandbox) -> None:
    report = sandbox.run(Program(SUM, "assert f(100_000) == 4999950000\n"), Limits(seconds=20))
    _, loop, after, last = report.trace
    assert isinstance(loop, TraceLoop) and (loop.line, loop.passes) == (3, 100_000)
    assert [step.line for step in (after, last)] == [5, 7] and not report.trace_truncated


def test_many_threads_run_at_once(sandbox: Sandbox) -> None:
    programs = [
        Program(SQUARE, f"print({number})\nassert f({number}) == {number**2}\n") for number in range(32)
    ]
    with ThreadPoolExecutor(32) as threads:
        reports = list(threads.map(lambda program: sandbox.run(program, LIMITS), programs))
    assert [report.stdout for report in reports] == [f"{number}\n" for number in range(32)]
    assert all(report.outcome is Outcome.PASSED for report in reports)
    assert max(report.queued_seconds for report in reports) > 0


COMPUTES = "import time\nwhile time.process_time() < 0.4:\n    pass\nassert f(1) == 1\n"


def test_a_program_that_others_keep_from_the_processor_did_not_time_out(sandbox: Sandbox) -> None:
    with contextlib.ExitStack() as others:
        for _ in range(2 * (os.cpu_count() or 1)):
            # Each in a session of its own: the kernel shares processors out between sessions.
            command = [sys.executable, "-c", "while True: pass"]
            busy = others.enter_context(subprocess.Popen(command, start_new_session=True))
            others.callback(busy.kill)
        # How much others leave it is not the same each time: until it took longer than it may.
        for _ in range(20):
            report = sandbox.run(Program(SQUARE, COMPUTES), Limits(seconds=0.8))
            assert report.outcome is Outcome.PASSED or "too busy" in report.detail
            if report.outcome is Outcome.PASSED and report.seconds > 0.8:
                break
    assert report.outcome is Outcome.PASSED and report.cpu_seconds < 0.8 < report.seconds


def test_a_program_that_waits_and_one_that_computes_are_told_apart(sandbox: Sandbox) -> None:
    asleep = judged(sandbox, Program(SQUARE, "import time\ntime.sleep(100)\n"), Limits(seconds=0.5))
    awake = judged(sandbox, Program(SQUARE, "while True:\n    pass\n"), Limits(seconds=0.5))
    assert asleep.outcome is awake.outcome is Outcome.TIMED_OUT
    assert asleep.cpu_seconds < 0.25 < awake.cpu_seconds


def test_the_world_is_deterministic(sandbox: Sandbox) -> None:
    source = (
        "import os, time\nprint(hash('a'), time.tzname, os.getcwd(), sorted(os.environ))\nassert f(1) == 1\n"
    )
    outputs = {sandbox.run(Program(SQUARE, source), LIMITS).stdout for _ in range(2)}
    assert len(outputs) == 1 and "('UTC', 'UTC') /tmp" in outputs.pop()


def test_the_usual_parts_of_a_machine_are_there(sandbox: Sandbox) -> None:
    source = (
        "import datetime, gc, subprocess, zoneinfo\n"
        "assert gc.isenabled()\n"
        "zone = zoneinfo.ZoneInfo('Europe/Berlin')\n"
        "assert f(datetime.datetime(2026, 7, 1, tzinfo=zone).utcoffset().seconds) == 7200\n"
        "assert f(subprocess.check_output(['/bin/sh', '-c', 'echo there'], text=True)) == 'there\\n'\n"
    )
    report = sandbox.run(Program(candidate="def f(x):\n    return x\n", source=source), Limits())
    assert report.outcome == Outcome.PASSED, canonical_text(report)


def test_every_protection_is_in_force(sandbox: Sandbox) -> None:
    assert [check for check in sandbox.check() if check.required and not check.ok] == []


def test_reaping_finds_nothing_after_orderly_runs(sandbox: Sandbox) -> None:
    def reaped() -> int:
        _run(sandbox, "passed")
        return sandbox.reap()

    sandbox.reap()
    # It also counts what workers left that other tests kill meanwhile; that is not there after each run.
    assert 0 in (reaped() for _ in range(5))


def test_without_a_backend_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SandboxUnavailable, match="switched off"):
        open_sandbox("none", tmp_path)
