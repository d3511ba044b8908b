"""The bugs that are planted as distractors: what programmers get wrong, where a seed says."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.candidate.mutants import BUGS, STRENGTH, Operator, generate_mutants

CODE = '''def clamp(values, low, high):
    """Keep a - b < c as it is."""
    if not values:
        return []
    found = []
    for place in range(len(values)):
        value = values[place] * 2 - low
        if value < low and high == 3:
            continue
        found.append(max(value, low))
    return found
'''


def only(operator: Operator, code: str) -> set[tuple[str, str]]:
    made = generate_mutants(code, 50, [operator])
    return {(mutant.before, mutant.after) for mutant in made}


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        (Operator.COMPARISON, {("<", ">"), ("==", "!=")}),
        (Operator.OPERATOR, {("*", "+"), ("-", "+"), ("and", "or")}),
        (
            Operator.SWAPPED,
            {("value, low", "low, value"), ("values[place] * 2 - low", "((low) - (values[place] * 2))")},
        ),
        (
            Operator.EDGE_CASE,
            {
                ("if not values:\n        return []", "pass"),
                ("if value < low and high == 3:\n            continue", "pass"),
            },
        ),
    ],
)
def test_each_kind_changes_its_own_places(operator: Operator, expected: set[tuple[str, str]]) -> None:
    assert only(operator, CODE) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f(a, b):\n    return a is b\n", {("is", "is not")}),
        ("def f(a, b):\n    return a not in b\n", set()),
        ("def f(island, b):\n    return island in b\n", {("in", "not in")}),
        ("def f(a, b):\n    return (a  # < b\n            < b)\n", set()),
        ("def f(a, b, c):\n    return a < b < c\n", {("<", ">")}),
    ],
)
def test_a_sign_is_found_between_its_sides_alone(code: str, expected: set[tuple[str, str]]) -> None:
    assert only(Operator.COMPARISON, code) == expected


def test_lines_keep_their_numbers_and_the_rest_its_text() -> None:
    for mutant in generate_mutants(CODE, 50, BUGS):
        assert mutant.text.count("\n") == CODE.count("\n")
        assert '"""Keep a - b < c as it is."""' in mutant.text
        assert mutant.before in CODE and mutant.text != CODE


@given(st.integers(0, 2**31 - 1), st.integers(1, 8))
def test_the_same_seed_plants_the_same_bugs_one_of_each_kind_first(seed: int, most: int) -> None:
    made = generate_mutants(CODE, most, BUGS, seed)
    assert made == generate_mutants(CODE, most, BUGS, seed)
    assert len({mutant.text for mutant in made}) == len(made) == min(most, len(made))
    first = [mutant.operator for mutant in made[: len(BUGS)]]
    assert len(set(first)) == len(first) and set(first) <= set(BUGS)
    for mutant in made:
        assert ast.dump(ast.parse(mutant.text)) != ast.dump(ast.parse(CODE))


def test_another_seed_plants_other_bugs() -> None:
    assert len({generate_mutants(CODE, 5, BUGS, seed) for seed in range(8)}) > 1


def test_the_strength_of_a_test_is_measured_as_before() -> None:
    assert [mutant.operator for mutant in generate_mutants(CODE)] == list(STRENGTH)
