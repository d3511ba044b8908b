"""What differs between two trees of figures, and which sources a pin rests on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import annotation
from annotation.pins.pin_record import SOURCES, Change, find_leaf_changes

leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
trees = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(trees)
def test_a_tree_is_what_it_is(tree: Any) -> None:
    assert find_leaf_changes(tree, tree) == []


@given(trees, trees)
def test_a_difference_is_seen_from_both_sides(one: Any, other: Any) -> None:
    def places(found: list[Change]) -> int:
        return len(found)

    assert bool(places(find_leaf_changes(one, other))) == bool(places(find_leaf_changes(other, one)))


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ({"a": 1.0}, {"a": 1.0 + 1e-12}, []),
        ({"a": 0.5}, {"a": 0.500001}, [Change("a", 0.5, 0.500001)]),
        ({"a": 1}, {"a": True}, [Change("a", 1, True)]),
        ({"a": [1, 2]}, {"a": [1]}, [Change("a/1", 2, None)]),
        ({"a": {"b": "x"}}, {}, [Change("a", {"b": "x"}, None)]),
        ({}, {"a": 0}, [Change("a", None, 0)]),
        ({"a": "1"}, {"a": 1}, [Change("a", "1", 1)]),
    ],
)
def test_each_leaf_that_differs_is_named(before: Any, now: Any, expected: list[Change]) -> None:
    assert find_leaf_changes(before, now) == expected


@pytest.mark.parametrize("pattern", SOURCES)
def test_the_version_of_the_code_is_of_sources_that_are_there(pattern: str) -> None:
    assert list(Path(annotation.__file__).parent.glob(pattern))
