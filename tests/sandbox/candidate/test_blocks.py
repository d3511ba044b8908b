"""A block of code becomes a function: what it needs is given, what it ends with is returned."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.candidate.blocks import RUN_BLOCK, Block, code_that_runs, read_block
from sandbox.program import Program, candidate_names, is_candidate_redefined


def run(code: str, *given: Any) -> Any:
    """What the wrapped block gives for these values."""
    names: dict[str, Any] = {}
    exec(code, names)
    with contextlib.redirect_stdout(io.StringIO()):
        return names[RUN_BLOCK](*given)


@pytest.mark.parametrize(
    ("text", "parameters", "gives", "values", "found"),
    [
        ("total = sum(numbers)", ("numbers",), "total", [[1, 2]], 3),
        ("a, b = b, a", ("b", "a"), "a, b", [1, 2], (1, 2)),
        ("sorted(names)", ("names",), "its last expression", [[2, 1]], [1, 2]),
        ("print(len(names))", ("names",), "what it prints last", [[1, 2]], 2),
        ("print(first, second)", ("first", "second"), "what it prints last", [1, 2], (1, 2)),
        ("found = []\nfor x in names:\n    found.append(x * 2)", ("names",), "found", [[1, 2]], [2, 4]),
        ("for x in names:\n    total += x", ("names", "total"), "total", [[1, 2], 5], 8),
        ("count += 1", ("count",), "count", [4], 5),
        ("names.sort()", ("names",), "names", [[2, 1]], [1, 2]),
        ("d[key] = 1", ("d", "key"), "d", [{}, "k"], {"k": 1}),
        ("import os\npath = os.path.join(a, 'b')", ("a",), "path", ["x"], "x/b"),
        ("squares = [x * x for x in range(n)]", ("n",), "squares", [3], [0, 1, 4]),
        ("pick = max(names, key=lambda one: one[1])", ("names",), "pick", [[(1, 2), (2, 1)]], (1, 2)),
        ("with open(path) as f:\n    rows = f.readlines()", ("path",), "rows", ["/dev/null"], []),
        ("for x in names:\n    last = x", ("names",), "", [[1]], None),
        ("x = 1; y = x + n", ("n",), "y", [2], 3),
        ("text = '''a\n  b'''\nlong = text + tail", ("tail",), "long", ["!"], "a\n  b!"),
    ],
)
def test_a_block_takes_what_it_needs_and_returns_what_it_ends_with(
    text: str, parameters: tuple[str, ...], gives: str, values: list[Any], found: Any
) -> None:
    block = read_block(text)
    assert block is not None and (block.parameters, block.gives, block.problem) == (parameters, gives, "")
    assert run(block.code, *values) == found


def test_comments_and_lines_of_a_block_stay() -> None:
    block = read_block("# first\nwanted = names[0]  # take it\n\nother = wanted")
    assert block is not None
    assert block.code.splitlines()[:4] == [
        "def run_block(names):",
        "    # first",
        "    wanted = names[0]  # take it",
        "",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    return x",
        "class A:\n    pass",
        "f = lambda x: x",
        "import os",
        "'only a text'",
        "",
        "print 'two'",
        "x = ",
    ],
)
def test_what_can_be_called_already_or_read_by_nobody_is_no_block(text: str) -> None:
    assert read_block(text) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("from os import *\nx = getcwd()", "imports all names"),
        ("x = await fetch(url)", "awaits"),
        ("if __name__ == '__main__':\n    main()", "run as a script"),
        ("x = [" + ", ".join(f"n{number}" for number in range(21)) + "]", "more than 20 names"),
    ],
)
def test_a_block_that_can_not_be_a_function_says_why(text: str, why: str) -> None:
    block = read_block(text)
    assert block is not None and block.code == "" and why in block.problem
    assert "Judge it by reading." in block.note


def test_the_note_says_what_the_function_takes_and_returns() -> None:
    block = read_block("total = sum(numbers)")
    assert block is not None
    assert "is given as numbers, and it returns total" in block.note
    assert "not part of what is judged" in block.note
    assert "takes nothing" in Block("x").note and "returns nothing" in Block("x").note


def test_a_block_runs_as_a_function_only_for_a_test_that_calls_it() -> None:
    text = "total = sum(numbers)"
    calls, sets = "assert run_block([1, 2]) == 3", "numbers = [1]\nassert total == 1"
    assert Program(text, calls).code.startswith("def run_block(numbers):")
    assert Program(text, sets).code == text and code_that_runs(text, sets) == text
    assert Program(text, calls).candidate_hash == Program(text, sets).candidate_hash, "stored as it was"
    assert candidate_names(Program(text, calls).code) == ("run_block",)
    assert is_candidate_redefined(text, "def run_block(x):\n    return 3\nassert run_block(1) == 3")
    assert not is_candidate_redefined(text, calls)
    function = "def run_block(x):\n    return x"
    assert Program(function, calls).code == function


@given(st.text(alphabet="abxy=+()[]:\n 1.,'\"#print", max_size=80))
@settings(deadline=None)
def test_no_text_breaks_it(text: str) -> None:
    block = read_block(text)
    if block is not None and block.code:
        compile(block.code, "block", "exec")


def test_deep_code_takes_no_time_and_breaks_nothing() -> None:
    read_block("x = " + "[" * 300 + "]" * 300)
    read_block("x = " + " + ".join(["y"] * 900))


@pytest.mark.parametrize(
    ("text", "keeps"),
    [("a = b\nc = a", True), ("a = b", True), ("a = b; c = a", False), ("a = '''x\ny'''\nc = a", False)],
)
def test_lines_are_known_where_they_are_kept(text: str, keeps: bool) -> None:
    block = read_block(text)
    assert block is not None and block.keeps_lines is keeps
