import pytest

from sandbox.plan import plan_execution
from sandbox.program import Program

CANDIDATE = "def f(x=LIMIT):\n    return x\n"


@pytest.mark.parametrize(
    ("source", "prelude"),
    [
        ("import re\nLIMIT = 3\ndef main():\n    assert f()\nmain()\n", (0, 1)),
        ("CASES = [f(1)]\nimport re\n", ()),
        ("'''doc'''\nfrom __future__ import annotations\nassert f()\n", (0, 1)),
        ("@f\ndef g(): pass\n", ()),
        ("try:\n    import numpy\nexcept ImportError:\n    numpy = None\nassert f()\n", (0,)),
        ("class T:\n    got = f(1)\n", ()),
        ("print('x')\nimport re\n", ()),
        ("not python (", ()),
        # Nobody but the program needs it.
        ("import re\nCASES = [1, 2]\nimport os\n", (0, 2)),
        # Needed by way of another one.
        ("BASE = 1\ndef limit():\n    return BASE\nLIMIT = limit()\n", (0, 1, 2)),
        # What it calls calls the candidate, or a test that does.
        ("def run():\n    return f(1)\nLIMIT = 1\nresults = [run()]\nimport re\n", (1,)),
        ("LIMIT = 1\nclass T:\n    def test(self):\n        assert f()\nresult = run(T)\nimport re\n", (0,)),
        ("import sys\nsys.modules['a'] = make()\ndef g(): pass\n", (0, 1)),
        ("def fake(): pass\nimport sys\nsys.modules['a'] = fake()\n", (0, 1, 2)),
        # What is kept before it is replaced.
        ("import time\nreal = time.time\ntime.time = fake\ndef g(): pass\n", (0, 1, 2)),
        # The last binding is the one that counts, so their order stays.
        ("def g(): pass\ng = g\nassert f()\n", (0, 1)),
    ],
)
def test_which_statements_come_before_the_candidate(source: str, prelude: tuple[int, ...]) -> None:
    assert plan_execution(Program(CANDIDATE, source)).prelude == prelude


@pytest.mark.parametrize(
    ("source", "calls"),
    [
        ("def main():\n    assert f()\n", ("main",)),
        ("def main():\n    assert f()\nmain()\n", ()),
        ("def main(argument):\n    assert f()\n", ()),
        ("def main(argument=1):\n    assert f()\n", ("main",)),
        ("def test_a(): pass\ndef test_b(): pass\ndef helper(): pass\n", ("test_a", "test_b")),
        ("def test_a(): pass\ndef main():\n    test_a()\n", ("main",)),
        ("def test_a(): pass\ndef main():\n    test_a()\nmain()", ()),
        ("def test_a(): pass\ntest_a()\n", ()),
        ("class TestF:\n    def test_a(self): pass\n    def help(self): pass\n", ("TestF.test_a",)),
        ("class F(TestCase):\n    def test_a(self): pass\ndef test_b(): pass\n", ("test_b", "F.test_a")),
        ("class F(TestCase):\n    def test_a(self): pass\nunittest.main()\n", ()),
        ("class TestF:\n    def test_a(self): pass\nTestF().test_a()\n", ()),
        ("class TestF:\n    def __init__(self, x): pass\n    def test_a(self): pass\n", ()),
        ("class TestF:\n    def test_a(self, fixture): pass\n", ()),
    ],
)
def test_what_is_left_to_call(source: str, calls: tuple[str, ...]) -> None:
    assert plan_execution(Program(CANDIDATE, source)).calls == calls


@pytest.mark.parametrize(
    ("source", "tests"),
    [
        ("import pytest\ndef test_a(fixture): pass\nclass TestF:\n    pass\n", ("test_a", "TestF")),
        ("from pytest import raises\ndef test_a(): pass\ntest_a()\n", ()),
        ("from pytest import raises\ndef test_a(): pass\ndef test_b(): pass\ntest_a()\n", ("test_b",)),
        ("import pytest\ndef test_a(): pass\ndef main():\n    test_a()\n", ()),
        ("import pytest\ndef test_a(): pass\ndef main():\n    pytest.main()\nmain()\n", ("test_a",)),
        ("import pytest\nclass TestA: pass\nclass TestB(TestA): pass\n", ("TestA", "TestB")),
        ("import pytest, unittest\nclass F(unittest.TestCase): pass\npytest.main()\n", ("F",)),
        ("import pytest, unittest\nclass F(unittest.TestCase): pass\nunittest.main()\n", ()),
        ("import pytest\nassert f()\n", ()),
        # Without an import only what pytest alone can give.
        ("def test_a(tmp_path): pass\ndef test_b(): pass\n", ("test_a", "test_b")),
        ("class TestF:\n    def test_a(self, capsys): pass\n", ("TestF",)),
        ("def test_a(x, y): pass\n", ()),
        ("def test_a(): pass\n", ()),
    ],
)
def test_what_is_left_to_pytest(source: str, tests: tuple[str, ...]) -> None:
    plan = plan_execution(Program(CANDIDATE, source))
    assert plan.pytest == tests
    assert not (plan.pytest and plan.calls)


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("def main(): pass\nif __name__ == '__main__':\n    sys.exit(main())\n", (3, 3)),
        ("def main(): pass\nraise SystemExit(\n    main()\n)\n", (2, 4)),
        ("exit(main())\nassert f()\n", None),
        ("def test(): pass\nsys.exit(0)\n", None),
        ("assert f()\n", None),
        ("", None),
    ],
)
def test_an_exit_after_which_nothing_is_left_to_run(source: str, lines: tuple[int, int] | None) -> None:
    assert plan_execution(Program(CANDIDATE, source)).final_exit == lines


def test_an_assertion_of_a_tuple_is_a_slip() -> None:
    source = "assert f()\nassert (f() == 1, 'why')\nassert ()\n"
    assert plan_execution(Program(CANDIDATE, source)).slips == (2,)
