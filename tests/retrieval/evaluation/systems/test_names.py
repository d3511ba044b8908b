"""A system's name and the encoders in it: a + parts two, unless it belongs to a folder's path."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as some

from retrieval.encoders import NAMES
from retrieval.evaluation.systems.names import BEFORE_A_NAME, split_system_name

SOURCES = some.text("ab+:/@.-_5 ", min_size=1, max_size=12) | some.sampled_from(
    ["/models/a+b", "org/codebert@main", "/x+bm25/y", "qwen3:0.6b"]
)
PLAIN = some.sampled_from([*NAMES, "mine", "my-minilm"])


@some.composite
def sourced(draw: some.DrawFn) -> str:
    source = draw(SOURCES)
    assume(not BEFORE_A_NAME.search(source))
    return f"{draw(some.sampled_from(NAMES))}:{source}"


@given(some.lists(PLAIN, max_size=3), some.lists(sourced() | some.sampled_from(NAMES), max_size=3))
def test_names_that_are_joined_are_parted_again(plain: list[str], others: list[str]) -> None:
    names = [*plain, *others]
    assume(names)
    assert split_system_name("+".join(names)) == names


@given(some.text("bm25ow+:/ ") | some.text())
def test_whatever_a_system_is_called_nothing_of_its_name_is_lost(name: str) -> None:
    assert "+".join(split_system_name(name)) == name


@pytest.mark.parametrize(
    ("system", "parts"),
    [
        ("bm25+minilm", ["bm25", "minilm"]),
        ("bm25+mine", ["bm25", "mine"]),
        ("bm25+endpoint:x", ["bm25", "endpoint:x"]),
        ("codebert:/m+unixcoder:/n", ["codebert:/m", "unixcoder:/n"]),
        ("codebert:/m+bm25-fields+bow", ["codebert:/m", "bm25-fields", "bow"]),
        ("codebert:/models/a+b", ["codebert:/models/a+b"]),
        ("codebert:/models/a+bm25/b+bow", ["codebert:/models/a+bm25/b", "bow"]),
        ("minilm:/models/my+minilm-2", ["minilm:/models/my+minilm-2"]),
        ("endpoint:qwen3:0.6b+bm25", ["endpoint:qwen3:0.6b", "bm25"]),
        ("mine+other+codebert:/m", ["mine", "other", "codebert:/m"]),
    ],
)
def test_a_plus_parts_where_an_encoder_follows(system: str, parts: list[str]) -> None:
    assert split_system_name(system) == parts
