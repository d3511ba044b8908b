"""What a test program calls its test cases: a test function, or a block that begins with a comment."""

import ast
from collections.abc import Iterator

from sandbox.candidate.tree_nodes import children_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LONGEST = 100


def case_names(tree: ast.Module, source: str) -> dict[int, str]:
    """The test case of each line that is in one.

    A case is a function or method whose name begins with `test`; inside of it, or anywhere else, a run of
    lines without an empty one between them is a case of its own when it begins with a comment.
    """
    named: dict[int, str] = {}
    for function, name in _functions(tree, ""):
        if function.name.startswith("test"):
            lines = range(function.lineno, (function.end_lineno or function.lineno) + 1)
            named.update(dict.fromkeys(lines, name))
    for line, title in _titled(source.splitlines()):
        named[line] = f"{named[line]}: {title}" if line in named else title
    return named


def _functions(node: ast.AST, path: str) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, str]]:
    for child in children_of(node):
        if isinstance(child, _FUNCTIONS):
            yield child, f"{path}{child.name}"
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{path}{child.name}.")


def _titled(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Each line of a block that begins with a comment, counted from 1, with that comment."""
    title, before = "", ""
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text:
            title = ""
        elif text.startswith("#") and (not before or before.endswith(":")):
            title = text.lstrip("#!: ")[:_LONGEST]
        elif title:
            yield number, title
        before = text
