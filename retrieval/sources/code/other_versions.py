"""Functions of source files that are written for another Python: 2, or a newer one than runs here.

The grammar reads them. It goes on behind what it can't read, so of a file whose faults all lie inside
functions the others are taken; of any other file nothing is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tree_sitter import Node

from retrieval.filters import ast_lines
from retrieval.filters.python_grammar import parse_by_grammar
from retrieval.sources.code.files import FILE_LIMIT
from sandbox.candidate.indentation import strip_code

FUNCTION, CLASS = "function_definition", "class_definition"
SIMPLE = frozenset({"expression_statement", "assignment", "call", "lambda", "decorator"})
"""Nodes that hold no definition."""


class FoundFunction(NamedTuple):
    """A function in its file, lines from 1. Its text is None where nobody can read it."""

    name: str
    start: int
    end: int
    text: str | None


def find_functions_by_grammar(code: str) -> list[FoundFunction] | None:
    """The functions of a file, in order; None where none is sound, or a fault is outside of functions."""
    root = parse_by_grammar(code, FILE_LIMIT)
    if root is None:
        return None
    found = list(_functions(root))
    if all(node.has_error for _, node in found) or _has_other_fault(root):
        return None
    lines = ast_lines(code)
    return [_function(name, node, lines) for name, node in found]


def _function(name: str, node: Node, lines: Sequence[str]) -> FoundFunction:
    start, end = node.start_point[0], node.end_point[0] + 1
    text = None if node.has_error else strip_code("".join(lines[start:end]))
    return FoundFunction(name, start + 1, end, text)


def _functions(root: Node) -> Iterator[tuple[str, Node]]:
    """Functions at the top and in classes, also under `if`, `for` and the like, not inside functions."""
    waiting = [("", root)]
    while waiting:
        prefix, node = waiting.pop()
        name = node.child_by_field_name("name")
        own = prefix + (name.text or b"").decode("utf-8", "replace") if name else prefix
        if node.type == FUNCTION:
            yield own, node
        elif node.type not in SIMPLE:
            inside = f"{own}." if node.type == CLASS else prefix
            waiting.extend((inside, child) for child in reversed(node.named_children))


def _has_other_fault(root: Node) -> bool:
    """Whether the grammar errs outside of functions."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.is_error or node.is_missing:
            return True
        if node.has_error and node.type != FUNCTION:
            waiting.extend(node.children)
    return False
