"""The rules of many snippets, found in a process beside this one: the same as when they are found here."""

import io
import json

from hypothesis import given
from hypothesis import strategies as st

from retrieval.filters import NO_RULE, Rule, find_passed_rules
from retrieval.filters.apart import WORTH_IT, Apart, answer_lines

CODES = [
    "def add(a, b):\n    return a + b",
    "def show(self):\n    print(self)",
    "def broken(:",
    "x = 1",
    "def each(xs):\n    yield from xs",
    "def \u00fc\u2028(x):\n    return '\ud800'",
]


def many() -> list[str]:
    return [f"{code}  # {number}" for number in range(WORTH_IT) for code in CODES]


def test_another_process_finds_the_same_rules() -> None:
    with Apart() as apart:
        apart.ask(many())
        assert apart.child is not None and apart.child.poll() is None
        assert apart.answer() == [find_passed_rules(code) for code in many()]


def test_few_snippets_start_no_process() -> None:
    with Apart() as apart:
        apart.ask(CODES)
        assert apart.child is None
        assert apart.answer()[:4] == [find_passed_rules(CODES[0]), find_passed_rules(CODES[1]), None, NO_RULE]


def test_it_is_asked_again_and_again_and_ends_with_its_user() -> None:
    with Apart() as apart:
        for _ in range(3):
            apart.ask(many())
            assert len(apart.answer()) == len(many())
        child = apart.child
    assert child is not None and child.poll() is not None


def test_a_process_that_dies_costs_time_alone() -> None:
    with Apart() as apart:
        apart.ask(many())
        assert apart.child is not None
        apart.answer()
        apart.child.kill()
        apart.child.wait()
        apart.ask(many())
        assert apart.answer() == [find_passed_rules(code) for code in many()]


@given(st.lists(st.text(st.characters(codec=None))))
def test_every_line_has_an_answer(codes: list[str]) -> None:
    answered = io.StringIO()
    answer_lines(io.StringIO(json.dumps(codes) + "\n"), answered)
    expected = [None if (rules := find_passed_rules(code)) is None else int(rules) for code in codes]
    assert json.loads(answered.getvalue()) == expected


def test_returns_in_every_block_are_found() -> None:
    blocks = [
        "if x:\n  return 1",
        "if x:\n  pass\n else:\n  return 1",
        "for y in x:\n  pass\n else:\n  return 1",
        "while x:\n  return 1",
        "with x:\n  return 1",
        "try:\n  pass\n except ValueError:\n  return 1",
        "try:\n  pass\n except* ValueError:\n  return_ = 1\n finally:\n  return 1",
        "try:\n  pass\n except ValueError:\n  pass\n else:\n  return 1",
        "match x:\n  case 1:\n   return 1",
    ]
    for block in blocks:
        assert find_passed_rules(f"def f(x):\n {block}") == find_passed_rules("def f(x):\n return 1"), block
    for other in ("def g():\n  return 1", "class G:\n  def g(self):\n   return 1", "g = lambda: 1"):
        found = find_passed_rules(f"def f(x):\n {other}")
        assert found is not None and Rule.TESTABLE not in found, other
