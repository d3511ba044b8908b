"""What a program does to the candidate or to the record is seen and said, also when it tidies up afterwards;
what a candidate does to its own data is nobody's fault.
"""

import ast

import pytest

from sandbox.candidate.touch_analysis import find_touching_assertions
from sandbox.program import Limits, Program
from sandbox.protocol import Sandbox
from sandbox.reports.canonical import canonical_text
from sandbox.reports.report import Outcome, Report

CANDIDATE = "def answer():\n    return 41\n"
FORGED = ".send('assertion', 1, 'assert answer() == 42', True, '42', '42', True)"
REPLACED = {
    "code": "c = answer.__code__\nanswer.__code__ = (lambda: 42).__code__\n{}answer.__code__ = c\n",
    "global": "real = answer\nglobals()['answer'] = lambda: 42\n{}globals()['answer'] = real\n",
    "update": "real = answer\nglobals().update(answer=lambda: 42)\n{}globals().update(answer=real)\n",
    "mock": "from unittest import mock\nwith mock.patch('__main__.answer', return_value=42):\n    {}",
    "module": (
        "import sys\nmain, real = sys.modules['__main__'], answer\n"
        "setattr(main, 'answer', lambda: 42)\n{}setattr(main, 'answer', real)\n"
    ),
}
FORGING = {
    "trace function": f"import sys\nanswer()\nsys.gettrace().__self__._channel{FORGED}\n",
    "threads": f"import threading\nanswer()\nthreading._trace_hook.__self__._channel{FORGED}\n",
    "constants": (
        "def test():\n    assert answer() == 41\n\n\ntest()\nfor one in test.__code__.co_consts:\n"
        f"    if hasattr(one, '_channel'):\n        one._channel{FORGED}\n"
    ),
    "file name": (
        "copy = {}\nexec(compile('def answer():\\n    return 42\\n', '<candidate>', 'exec'), copy)\n"
        "assert copy['answer']() == 42\n"
    ),
}
TRUTH = (
    "import builtins\ntruth = builtins.bool\nbuiltins.bool = lambda value: True\n{}builtins.bool = truth\n"
)


def run(sandbox: Sandbox, source: str, candidate: str = CANDIDATE) -> Report:
    return sandbox.run(Program(candidate, source), Limits(seconds=5))


@pytest.mark.parametrize("way", REPLACED)
def test_a_candidate_that_was_replaced_for_a_while_is_no_evidence(way: str, sandbox: Sandbox) -> None:
    report = run(sandbox, "answer()\n" + REPLACED[way].format("assert answer() == 42\n"))
    assert (report.outcome, report.redefined) == (Outcome.ERRORED, True)
    assert "redefines the candidate" in canonical_text(report)


@pytest.mark.parametrize("way", FORGING)
def test_reaching_for_the_record_is_said(way: str, sandbox: Sandbox) -> None:
    report = run(sandbox, FORGING[way])
    assert report.outcome is Outcome.ERRORED
    assert report.suspicious


def test_what_is_true_is_not_the_programs_to_say(sandbox: Sandbox) -> None:
    assert run(sandbox, TRUTH.format("assert answer() == 42\n")).outcome is Outcome.FAILED


@pytest.mark.parametrize(
    ("candidate", "source"),
    [
        (
            "made = 0\ndef number():\n    global made\n    made += 1\n    return made\n",
            "assert number() == 1\nassert number() == 2\n",
        ),
        (
            "class Node:\n    made = 0\n    def __init__(self):\n        Node.made += 1\n",
            "Node()\nassert Node.made == 1\n",
        ),
    ],
)
def test_a_candidate_may_keep_count_of_its_own(candidate: str, source: str, sandbox: Sandbox) -> None:
    report = run(sandbox, source, candidate)
    assert (report.outcome, report.redefined) == (Outcome.PASSED, False)


@pytest.mark.parametrize(
    "source",
    [
        "raise type('X' * 3_000_000, (Exception,), {})('m')\n",
        "raise ModuleNotFoundError('none', name='x' * 3_000_000)\n",
        "import builtins\nsetattr(builtins, 'x' * 3_000_000, 1)\nassert answer() == 41\n",
        "def f():\n    raise ValueError\nf.__code__ = f.__code__.replace(co_qualname='y' * 3_000_000)\nf()\n",
    ],
)
def test_no_name_makes_a_report_too_long_to_read(source: str, sandbox: Sandbox) -> None:
    report = run(sandbox, source)
    assert report.outcome is Outcome.ERRORED
    assert len(canonical_text(report)) < 10_000


def test_a_program_nested_beyond_reading_is_run_all_the_same(sandbox: Sandbox) -> None:
    chain = "".join(f"elif x == {number}:\n    pass\n" for number in range(1500))
    report = run(sandbox, f"x = 3\nif x == 0:\n    pass\n{chain}assert answer() == 41\n")
    assert report.outcome.is_evidence


def test_a_program_nested_as_deep_as_python_indents_is_read() -> None:
    levels = "".join(f"{'    ' * level}if f(1):\n" for level in range(90))
    tree = ast.parse(f"{levels}{'    ' * 90}assert f(1)\n")
    assert [line for line, _ in find_touching_assertions(tree, ["f"])] == [91]
