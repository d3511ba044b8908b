"""The nodes of a syntax tree, by their place and by their class; of a kept tree they are listed once."""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

Node = TypeVar("Node", bound=ast.AST)
Answer = TypeVar("Answer")
Given = ParamSpec("Given")

_CHILDREN: Final = "known_children"
_SPAN: Final = "known_span"
# Their values are texts, numbers, or signs such as `+`, of which there is one each.
_WITHOUT_NODES: Final = frozenset(
    {
        *("arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "kwd_attrs", "level"),
        *("module", "op", "ops", "rest", "simple", "type_comment", "type_ignores"),
    }
)
_LEAVES: Final = (ast.Constant, ast.Global, ast.Nonlocal)
_FIELDS: Final[dict[type[ast.AST], tuple[str, ...]]] = {
    kind: tuple(field for field in kind._fields if field not in _WITHOUT_NODES and kind not in _LEAVES)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
_IN_BLOCKS: Final = (ast.stmt, ast.ExceptHandler, ast.match_case)
_WITH_BLOCKS: Final = frozenset(kind for kind, fields in _FIELDS.items() if {*fields} & {"body", "cases"})
_SCOPES: Final = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda})


class _Known:
    """A tree's nodes, numbered in the order of the text, and those of each class with their numbers."""

    __slots__ = ("answers", "nodes", "of_kind")

    def __init__(self) -> None:
        self.nodes: list[ast.AST] = []
        self.of_kind: dict[type[ast.AST], tuple[list[Any], list[int]]] = {}
        self.answers: dict[Hashable, Any] = {}


def walk_tree_nodes(node: ast.AST) -> list[ast.AST]:
    """The node and all below it that have a place, in the order of `ast.walk`."""
    found = [node]
    for one in found:
        found += children_of(one)
    return found


def list_tree_nodes(node: ast.AST) -> list[ast.AST]:
    """The same in no order that counts, which is faster for a kept tree."""
    span: tuple[_Known, int, int] | None = vars(node).get(_SPAN)
    return walk_tree_nodes(node) if span is None else span[0].nodes[span[1] : span[2]]


def children_of(node: ast.AST) -> list[ast.AST]:
    """The nodes in the fields of a node, in their order; but for signs such as `+`, which have no place."""
    values = vars(node)
    known: list[ast.AST] | None = values.get(_CHILDREN)
    if known is not None:
        return known
    found: list[ast.AST] = []
    for field in _FIELDS[type(node)]:
        value: Any = values.get(field)
        if type(value) is list:
            # Of `{**more}` the key is None.
            found += filter(None, value)
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def nodes_of_kind(node: ast.AST, kind: type[Node]) -> list[Node]:
    """The node and all below it that are of one class: of a kept tree in the order of the text."""
    span: tuple[_Known, int, int] | None = vars(node).get(_SPAN)
    if span is None:
        nodes = walk_tree_nodes(node) if _FIELDS[type(node)] else [node]
        return [one for one in nodes if isinstance(one, kind)]
    known, start, end = span
    if kind not in known.of_kind:
        return []
    found, numbers = known.of_kind[kind]
    first = bisect_left(numbers, start)
    return found[first : bisect_left(numbers, end, first)]


def count_nodes(node: ast.AST) -> int:
    """How many there are: the node itself, and all below it."""
    span: tuple[_Known, int, int] | None = vars(node).get(_SPAN)
    return len(walk_tree_nodes(node)) if span is None else span[2] - span[1]


def names_in(node: ast.AST) -> list[ast.Name]:
    """The names in a node, in no order that counts."""
    return nodes_of_kind(node, ast.Name)


def answer_once(find: Callable[Given, Answer]) -> Callable[Given, Answer]:
    """The same function of a tree, which asks a kept one once for each of what it is given besides."""

    @wraps(find)
    def answer(*given: Given.args, **named: Given.kwargs) -> Answer:
        span: tuple[_Known, int, int] | None = vars(given[0]).get(_SPAN)
        if span is None or named:
            return find(*given, **named)
        answers, key = span[0].answers, (find, given[1:])
        if key not in answers:
            answers[key] = find(*given, **named)
        found: Answer = answers[key]
        return found

    return answer


@answer_once
def statements_of(tree: ast.Module) -> list[ast.stmt]:
    """All statements, in the order of `ast.walk`."""
    holders: list[ast.AST] = [tree]
    for holder in holders:
        if type(holder) in _WITH_BLOCKS:
            holders += [child for child in children_of(holder) if isinstance(child, _IN_BLOCKS)]
    return [node for node in holders if isinstance(node, ast.stmt)]


def own_nodes(scope: ast.AST) -> list[ast.AST]:
    """The nodes below `scope` in its own block: functions and classes without what is inside of them."""
    span: tuple[_Known, int, int] | None = vars(scope).get(_SPAN)
    found: list[ast.AST] = []
    if span is not None:
        known, start, end = span
        place = start + 1
        while place < end:
            node = known.nodes[place]
            found.append(node)
            place = vars(node)[_SPAN][2] if type(node) in _SCOPES else place + 1
        return found
    waiting = [*children_of(scope)]
    while waiting:
        node = waiting.pop()
        found.append(node)
        if type(node) not in _SCOPES:
            waiting += children_of(node)
    return found


def keep_tree_nodes(tree: ast.Module) -> ast.Module:
    """The same tree, whose nodes are listed once: a plan asks for them thirty times, and changes nothing.

    Each node that has others in it gets the numbers of these: they follow it in the text.
    """
    known = _Known()
    nodes, of_kind = known.nodes, known.of_kind
    waiting: list[Any] = [tree]
    while waiting:
        node = waiting.pop()
        kind = type(node)
        if kind is tuple:
            vars(node[0])[_SPAN] = known, node[1], len(nodes)
            continue
        if kind not in of_kind:
            of_kind[kind] = [], []
        found, numbers = of_kind[kind]
        found.append(node)
        numbers.append(len(nodes))
        if _FIELDS[kind]:
            children = children_of(node)
            vars(node)[_CHILDREN] = children
            waiting.append((node, len(nodes)))
            waiting += children[::-1]
        nodes.append(node)
    return tree


def forget_tree_nodes(tree: ast.Module) -> None:
    """A kept tree is asked nothing more: it goes with its last reader, not when garbage is collected."""
    span: tuple[_Known, int, int] | None = vars(tree).get(_SPAN)
    if span is not None:
        for collection in (span[0].nodes, span[0].of_kind, span[0].answers):
            collection.clear()
