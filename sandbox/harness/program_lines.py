"""The lines of a program that assert nothing: what is called for its doing, and stand-ins."""

from __future__ import annotations

import _ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sandbox.harness.instrument import Site

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def lines_of_calls(tree: _ast.Module) -> set[int]:
    """The lines of statements that bind nothing: what they call, but for judges, is called for its doing."""
    waiting, found = list[_ast.AST](tree.body), set[int]()
    while waiting:
        statement: Any = waiting.pop()
        if isinstance(statement, _ast.Expr):
            found.update(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
        for field in _BLOCKS:
            waiting += getattr(statement, field, None) or []
    return found


def untested_lines(tree: _ast.Module, sites: list[Site]) -> set[int]:
    """The lines of functions and classes without assertions, which a program has as stand-ins."""
    tested, found = {site.line for site in sites}, set[int]()
    for statement in tree.body:
        if isinstance(statement, (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef)):
            first = min([statement.lineno, *(one.lineno for one in statement.decorator_list)])
            lines = range(first, (statement.end_lineno or first) + 1)
            found.update(() if tested.intersection(lines) else lines)
    return found
