"""Faults put into a candidate: each of them valid, different and named; the same ones every time."""

import ast
import json
from pathlib import Path

import pytest

from sandbox.candidate.mutants import LONGEST, MOST, Mutant, Operator, generate_mutants
from sandbox.program import Limits, Program
from sandbox.protocol import Sandbox
from sandbox.reports.report import Outcome

TOP = '''def top(rows, key, n=10):
    """The n rows with the highest key."""
    found = []
    for row in rows:
        if row[key] > 0:  # zero says nothing
            found.append(row)
    found.sort(key=lambda row: -row[key])
    log(found, n)
    return found[:n] if n < len(rows) else found
'''


def faults(text: str) -> list[tuple[str, int, str, str]]:
    return [(one.operator.value, one.line, one.before, one.after) for one in generate_mutants(text)]


def of(text: str, operator: Operator) -> list[Mutant]:
    return [one for one in generate_mutants(text, 50) if one.operator is operator]


def test_one_of_each_operator_and_all_else_stays() -> None:
    assert faults(TOP) == [
        ("negated condition", 5, "row[key] > 0", "not (row[key] > 0)"),
        ("dropped statement", 6, "found.append(row)", "pass"),
        ("return None", 9, "found[:n] if n < len(rows) else found", "None"),
        ("off by one", 5, ">", ">="),
        ("swapped arguments", 8, "found, n", "n, found"),
    ]
    lines = TOP.splitlines()
    for one in generate_mutants(TOP):
        changed = [
            number for number, line in enumerate(one.text.splitlines(), 1) if line != lines[number - 1]
        ]
        assert changed == [one.line]


def test_where_one_operator_has_nothing_others_have_a_second() -> None:
    found = faults("def f(a):\n    a.sort()\n    a.reverse()\n    return a\n")

    assert [one[0] for one in found] == ["dropped statement", "return None", "dropped statement"]


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("def f(a):\n    return a[1:]\n", "1", "2"),
        ("def f(a):\n    return a[:-1]\n", "1", "2"),
        ("def f(a):\n    return list(range(0, a))\n", "a", "a - 1"),
        ("def f(a):\n    return len(a)\n", "len(a)", "(len(a) - 1)"),
        ("def f(a):\n    return 0 <= a\n", "<=", "<"),
        ("def f(é):\n    return 'é' if é < 3 else ''\n", "<", "<="),
    ],
)
def test_off_by_one(text: str, before: str, after: str) -> None:
    first = of(text, Operator.OFF_BY_ONE)[0]

    assert (first.before, first.after) == (before, after)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("def f(a, b):\n    return pow(a, b)\n", "b, a"),
        ("def f(a, b, c):\n    return a - b - c\n", "((c) - (a - b))"),
        ("def f(a, b):\n    return g(a,\n             b)\n", "b,\n             a"),
    ],
)
def test_swapped(text: str, after: str) -> None:
    assert of(text, Operator.SWAPPED)[0].after == after


def test_a_negation_is_taken_off_again() -> None:
    assert of("def f(a):\n    if not a.b:\n        return 1\n", Operator.NEGATED)[0].after == "(a.b)"


def test_what_is_only_said_is_changed_last() -> None:
    dropped = of("def f(a):\n    print(a)\n    a.x()\n    logging.info(a)\n", Operator.DROPPED)

    assert [one.before for one in dropped] == ["a.x()", "print(a)", "logging.info(a)"]


def test_a_fault_over_several_lines_moves_none_below() -> None:
    text = "def f(a):\n    a.update(\n        b=1,\n    )\n    return a\n"
    dropped = of(text, Operator.DROPPED)[0]

    assert dropped.text.splitlines()[4] == "    return a"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "def f(:",
        "print 1",
        "x = '\0'",
        "def f():\n    pass\n",
        'def f():\n    """1 < 2"""\n',
        "#" * (LONGEST + 1),
    ],
)
def test_where_nothing_can_be_changed_there_is_none(text: str) -> None:
    assert generate_mutants(text) == ()


def test_annotations_defaults_and_formatted_strings_stay() -> None:
    found = generate_mutants("def f(a: X[1] = 2) -> Y[3]:\n    b: Z[4] = f'{a[5]}'\n    return b\n", 50)

    assert {one.before for one in found} == {"b: Z[4] = f'{a[5]}'", "b"}


def test_a_block_without_functions_is_changed_as_it_is() -> None:
    assert faults("x = [a for a in b if a]\n")[0] == ("negated condition", 1, "a", "not (a)")


@pytest.mark.real_data
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::SyntaxWarning")
def test_mutants_of_real_functions_parse_and_differ(real_data: Path) -> None:
    """22 of the 6,267 have none (20 are Python 2); 40 % have all five."""
    functions = list(json.loads((real_data / "cosqa" / "code_idx_map.txt").read_text()))
    found = [generate_mutants(text) for text in functions]

    assert sum(not one for one in found) == 22
    assert sum(len(one) == MOST for one in found) / len(found) == pytest.approx(0.40, abs=0.01)
    for text, made in zip(functions[::20], found[::20], strict=True):
        trees = {ast.dump(ast.parse(one.text)) for one in made}
        assert len(trees) == len(made) and (not made or ast.dump(ast.parse(text)) not in trees)
        assert made == generate_mutants(text)


@pytest.mark.parametrize(
    ("source", "caught"),
    [
        ("assert top([{'a': 1}, {'a': 3}, {'a': 0}], 'a', 1) == [{'a': 3}]\n", 4),
        ("assert top([], 'a') == []\n", 1),
        ("assert isinstance(top, object)\n", 0),
    ],
)
def test_a_test_that_says_more_catches_more(source: str, caught: int, bubblewrap: Sandbox) -> None:
    text = TOP.replace("    log(found, n)\n", "")
    limits = Limits(seconds=5)
    whole = bubblewrap.run(Program(text, source), limits).outcome
    outcomes = [bubblewrap.run(Program(one.text, source), limits).outcome for one in generate_mutants(text)]

    assert whole in (Outcome.PASSED, Outcome.UNTESTED)
    assert sum(outcome is not whole for outcome in outcomes) == caught, outcomes
