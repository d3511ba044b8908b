"""What a test program expects for which input, read off its assertions: there two tests part."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from sandbox.candidate.syntax import UNREADABLE, literal_value, parse_python_source
from sandbox.candidate.tree_nodes import walk_tree_nodes

MOST: Final = 100
LONGEST: Final = 300
RAISES: Final = "an exception"


@dataclass(frozen=True, slots=True)
class Expectation:
    """An input, such as `f([1])`, and what the program expects of it, in `line`. Both as normalised text."""

    line: int
    input: str
    expected: str


def find_test_expectations(source: str, names: Iterable[str]) -> tuple[Expectation, ...]:
    """The expectations about `names`, in order, at most MOST. Of a text that does not parse there are none.

    An input is a call as it is written: what a variable holds is put in where it was assigned a literal.
    """
    try:
        tree = parse_python_source(source)
        found = list(_Reader(tree, frozenset(names)).all())
    except UNREADABLE:
        return ()
    found.sort(key=lambda one: one.line)
    return tuple(found[:MOST])


class _Reader:
    def __init__(self, tree: ast.Module, names: frozenset[str]) -> None:
        self._tree, self._names = tree, names
        # As text, once: a program may name a long one in each of its assertions.
        self._literals = {name: ast.Name(ast.unparse(value)[:LONGEST]) for name, value in _literals(tree)}

    def all(self) -> Iterator[Expectation]:
        for node in walk_tree_nodes(self._tree):
            if isinstance(node, ast.Assert):
                yield from self._asserted(node.test, node.lineno, True)
            elif isinstance(node, ast.With) and any(_raises(item.context_expr) for item in node.items):
                yield from self._calls(node.body, node.lineno, RAISES)
            elif isinstance(node, ast.Try) and node.handlers and _ends_badly(node.body[-1]):
                yield from self._calls(node.body[:1], node.lineno, RAISES)

    def _asserted(self, test: ast.expr, line: int, holds: bool) -> Iterator[Expectation]:
        match test:
            case ast.BoolOp(op=ast.And(), values=values) if holds:
                for value in values:
                    yield from self._asserted(value, line, True)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                yield from self._asserted(operand, line, not holds)
            case ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right]):
                yield from self._compared(left, right, line, "" if holds else "not ")
            case ast.Compare(left=left, ops=[ast.NotEq() | ast.IsNot()], comparators=[right]):
                yield from self._compared(left, right, line, "not " if holds else "")
            case ast.expr() if self._is_about(test):
                yield self._made(test, line, "true" if holds else "false")

    def _compared(self, left: ast.expr, right: ast.expr, line: int, sign: str) -> Iterator[Expectation]:
        about, other = (left, right) if self._is_about(left) else (right, left)
        if self._is_about(about) and not self._is_about(other):
            yield self._made(about, line, sign + self._text(other))

    def _calls(self, body: list[ast.stmt], line: int, expected: str) -> Iterator[Expectation]:
        for statement in body:
            value = getattr(statement, "value", None)
            if isinstance(value, ast.expr) and self._is_about(value):
                yield self._made(value, line, expected)

    def _is_about(self, node: ast.expr) -> bool:
        calls = (inner.func for inner in walk_tree_nodes(node) if isinstance(inner, ast.Call))
        return any(isinstance(call, ast.Name) and call.id in self._names for call in calls)

    def _made(self, node: ast.expr, line: int, expected: str) -> Expectation:
        return Expectation(line, self._text(node), expected[:LONGEST])

    def _text(self, node: ast.expr) -> str:
        return ast.unparse(_Filled(self._literals).visit(copy.deepcopy(node)))[:LONGEST]


class _Filled(ast.NodeTransformer):
    """Puts literals where names stand for them."""

    def __init__(self, literals: dict[str, ast.Name]) -> None:
        self._literals = literals

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._literals.get(node.id, node)


def _literals(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Names that are assigned once, and a literal."""
    assigned: dict[str, list[ast.expr]] = {}
    for node in walk_tree_nodes(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                for inner in walk_tree_nodes(target):
                    if isinstance(inner, ast.Name):
                        assigned.setdefault(inner.id, []).append(node.value)
        elif isinstance(node, (ast.AugAssign, ast.For)) and isinstance(node.target, ast.Name):
            assigned.setdefault(node.target.id, []).extend([node.target, node.target])
    for name, values in assigned.items():
        if len(values) == 1 and _is_literal(values[0]):
            yield name, values[0]


def _is_literal(node: ast.expr) -> bool:
    try:
        literal_value(node)
    except (*UNREADABLE, TypeError):
        return False
    return True


def _raises(node: ast.expr) -> bool:
    """`pytest.raises(…)`, `self.assertRaises(…)` and the like."""
    name = getattr(getattr(node, "func", None), "attr", "") or getattr(getattr(node, "func", None), "id", "")
    return "raises" in str(name).lower()


def _ends_badly(statement: ast.stmt) -> bool:
    """`try: f(bad); assert False`: the end of the block is not to be reached."""
    match statement:
        case ast.Assert(test=ast.Constant(value=value)):
            return not value
        case ast.Raise():
            return True
    return False
