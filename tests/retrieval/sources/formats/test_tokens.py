from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.sources.formats.tokens import (
    code_tokens,
    docstring_tokens,
    identifier_subtokens,
    split_identifier,
)


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("readHTTPBody2_now", ["read", "http", "body", "2", "now"]),
        ("__init__", ["init"]),
        ("MAX_SIZE", ["max", "size"]),
        ("x", ["x"]),
        ("_", []),
    ],
)
def test_identifiers_are_split_into_their_words(identifier: str, parts: list[str]) -> None:
    assert split_identifier(identifier) == parts


@given(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,20}", fullmatch=True))
def test_nothing_but_underscores_and_case_is_lost(identifier: str) -> None:
    assert "".join(split_identifier(identifier)) == identifier.replace("_", "").lower()


def test_tokens_of_code_that_no_parser_reads_have_no_docstring_either() -> None:
    tokens = code_tokens('def add(a):\n    """Add."""\n    return a ?? "x"\n', "python")
    assert tokens[:6] == ["def", "add", "(", "a", ")", ":"]
    assert '"""Add."""' not in tokens
    assert '"x"' in tokens


def test_python_tokens_are_leaves_without_the_docstring() -> None:
    code = 'def addTwo(a):\n    """Add."""\n    return a + "x y"  # sum\n'
    tokens = code_tokens(code, "python")
    assert tokens == ["def", "addTwo", "(", "a", ")", ":", "return", "a", "+", '"x y"', "# sum"]
    assert identifier_subtokens(tokens) == ["def", "add", "two", "a", "return", "a"]


def test_java_tokens_are_leaves() -> None:
    code = 'int addOne(int a) { return a + "b c"; }'
    assert code_tokens(code, "java") == (
        ["int", "addOne", "(", "int", "a", ")", "{", "return", "a", "+", '"b c"', ";", "}"]
    )


def test_documentation_is_words_and_signs() -> None:
    assert docstring_tokens("Add a, b.") == ["Add", "a", ",", "b", "."]
