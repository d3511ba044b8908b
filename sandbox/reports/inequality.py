"""What a failed equality got and what it expected, and where the two first differ."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

from sandbox.candidate.syntax import UNREADABLE, literal_value, parse_python_source
from sandbox.candidate.tree_nodes import walk_tree_nodes

LONG: Final = 60
"""Characters of both values together from which on a reader is shown where they differ."""
_MOST_DIFFERENCES, _BEFORE, _AFTER, _LONGEST_PART = 3, 10, 20, 60
_EQUALS = frozenset({"assertEqual", "assertEquals", "assertListEqual", "assertDictEqual", "assertSetEqual"})
_EQUALS_OF_TEXTS = frozenset({"assertTupleEqual", "assertSequenceEqual", "assertMultiLineEqual"})
_MISSING = object()


@dataclass(frozen=True, slots=True)
class Inequality:
    """The two values of a failed equality; `difference` says where long ones part, empty for short ones."""

    got: str
    expected: str
    difference: str = ""


def explain_inequality(source: str, left: str | None, right: str | None) -> Inequality | None:
    """What a failed assertion got and expected, whose source and compared values these are.

    None where that is not known: it is no equality, or neither side is plainly what is expected.
    """
    if left is None or right is None:
        return None
    try:
        sides = _sides(parse_python_source(source).body)
        ranks = [_rank(side) for side in sides]
    except UNREADABLE:
        return None
    if len(ranks) != 2 or ranks[0] == ranks[1]:
        return None
    got, expected = (left, right) if ranks[0] > ranks[1] else (right, left)
    is_long = len(got) + len(expected) > LONG
    return Inequality(got, expected, "; ".join(_differences(got, expected)) if is_long else "")


def _sides(body: list[ast.stmt]) -> list[ast.expr]:
    match body:
        case [ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]))]:
            return [left, right]
        case [ast.Expr(value=ast.Call(func=ast.Attribute(attr=name), args=[left, right, *_]))]:
            return [left, right] if name in _EQUALS | _EQUALS_OF_TEXTS else []
    return []


def _rank(side: ast.expr) -> int:
    """2 for what calls something, 1 for what names something, 0 for a literal."""
    nodes = walk_tree_nodes(side)
    if any(isinstance(node, ast.Call) for node in nodes):
        return 2
    return 1 if any(isinstance(node, ast.Name) for node in nodes) else 0


def _differences(got: str, expected: str) -> Iterator[str]:
    """The first places where two values part, whose texts these are."""
    try:
        values: list[Any] = [literal_value(got), literal_value(expected)]
    except (*UNREADABLE, TypeError):
        values = [got, expected]
    told = list(_of_values(*values))
    yield from told[:_MOST_DIFFERENCES]
    if len(told) > _MOST_DIFFERENCES:
        yield f"and {len(told) - _MOST_DIFFERENCES} more"


def _of_values(got: Any, expected: Any) -> Iterator[str]:
    if type(got) is not type(expected):
        yield f"{type(got).__name__} instead of {type(expected).__name__}"
    elif isinstance(got, str):
        yield from _of_texts(got, expected)
    elif isinstance(got, list | tuple):
        yield from _of_sequences(got, expected)
    elif isinstance(got, dict):
        yield from (f"no {_part(key)}" for key in expected if key not in got)
        yield from (f"{_part(key)} too much" for key in got if key not in expected)
        for key in expected:
            if key in got and got[key] != expected[key]:
                yield f"at {_part(key)}: {_part(got[key])} instead of {_part(expected[key])}"
    elif isinstance(got, set | frozenset):
        yield from (f"no {_part(item)}" for item in sorted(expected - got, key=repr))
        yield from (f"{_part(item)} too much" for item in sorted(got - expected, key=repr))


def _of_texts(got: str, expected: str) -> Iterator[str]:
    pairs = enumerate(zip_longest(got, expected))
    place = next((number for number, (one, other) in pairs if one != other), None)
    if place is not None:
        start = max(0, place - _BEFORE)
        parts = [_part(text[start : place + _AFTER]) for text in (got, expected)]
        yield f"from character {place + 1}: {parts[0]} instead of {parts[1]}"


def _of_sequences(got: Any, expected: Any) -> Iterator[str]:
    if len(got) != len(expected):
        yield f"{len(got)} items instead of {len(expected)}"
    for number, (one, other) in enumerate(zip_longest(got, expected, fillvalue=_MISSING)):
        if one is _MISSING or other is _MISSING:
            yield f"item {number}: " + (
                f"{_part(one)} too much" if other is _MISSING else f"no {_part(other)}"
            )
        elif one != other:
            yield f"item {number}: {_part(one)} instead of {_part(other)}"


def _part(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_PART else f"{text[: _LONGEST_PART - 1]}…"
