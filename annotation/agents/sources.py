"""Checks of the Python source that agents write, and the names that a snippet defines."""

import ast
import re
from typing import Final

from sandbox.candidate.syntax import parse_python_source
from sandbox.program import candidate_names

MAX_SOURCE_CHARS: Final = 100_000
_DEFINITION: Final = re.compile(r"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)


def syntax_tree(source: str) -> ast.Module:
    """The tree of a source. Raises ValueError, which says what is wrong with it."""
    if len(source) > MAX_SOURCE_CHARS:
        raise ValueError(f"is longer than {MAX_SOURCE_CHARS:,} characters")
    try:
        return parse_python_source(source)
    except SyntaxError as error:
        raise ValueError(f"is not valid Python 3: line {error.lineno}: {error.msg}") from None


def require_runnable_source(source: str) -> str:
    """The source itself, which parses and defines something. Raises ValueError."""
    syntax_tree(source)
    if not candidate_names(source):
        raise ValueError("defines nothing")
    return source


def top_level_functions(tree: ast.Module) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions that a program defines at its top level, by name."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name: node for node in tree.body if isinstance(node, functions)}


def names_of(code: str) -> tuple[str, ...]:
    """The names that a snippet puts in scope, in order, each once: those that a program may not redefine.

    Code that Python 3 can't parse is searched line by line, so its functions are known all the same.
    """
    return candidate_names(code) or tuple(dict.fromkeys(_DEFINITION.findall(code)))
