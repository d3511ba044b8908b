import pytest

from sandbox.plan import plan
from sandbox.program import Program

CANDIDATE = "def f(x=LIMIT):\n    return x\n"


@pytest.mark.parametrize(
    ("source", "prelude"),
    [
        ("import re\nLIMIT = 3\ndef main():\n    assert f()\nmain()\n", 3),
        ("CASES = [f(1)]\nimport re\n", 0),
        ("'''doc'''\nfrom __future__ import annotations\nassert f()\n", 2),
        ("@f\ndef g(): pass\n", 0),
        ("try:\n    import numpy\nexcept ImportError:\n    numpy = None\nassert f()\n", 1),
        ("class T:\n    got = f(1)\n", 0),
        ("print('x')\nimport re\n", 0),
        ("not python (", 0),
    ],
)
def test_how_many_statements_come_before_the_candidate(source: str, prelude: int) -> None:
    assert plan(Program(CANDIDATE, source)).prelude == prelude


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
    ],
)
def test_what_is_left_to_call(source: str, calls: tuple[str, ...]) -> None:
    assert plan(Program(CANDIDATE, source)).calls == calls
