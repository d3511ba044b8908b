"""Snippets as Python's own parser reads them, with errors that say where."""

from __future__ import annotations

import ast
import re
import warnings
from typing import TypeAlias

from sandbox.candidate.syntax import SNIPPET, Bounds, TooComplex, parse_python_source

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
BYTE_ORDER_MARK = "\ufeff"


class Unreadable(ValueError):
    """The code is not Python that this interpreter can parse. `lineno` is 1-based, 0 where unknown."""

    def __init__(self, lineno: int, msg: str) -> None:
        super().__init__(f"line {lineno}: {msg}" if lineno else msg)
        self.lineno = lineno
        self.msg = msg


def parse_snippet(code: str, bounds: Bounds = SNIPPET) -> list[ast.stmt]:
    """Return the statements of a snippet; one that is indented as a whole (a method) is read all the same.

    Line numbers are those of `code`, from 1. Raises `Unreadable`, also for what is beyond `bounds`.
    """
    try:
        return _parse(code, bounds).body
    except IndentationError as error:
        return _indented(code, error, bounds)
    except SyntaxError as error:
        raise _unreadable(error) from error


def _indented(code: str, original: IndentationError, bounds: Bounds) -> list[ast.stmt]:
    try:
        module = _parse("if True:\n" + code, bounds)
    except SyntaxError as error:
        raise _unreadable(original) from error
    block = module.body[0]
    if not isinstance(block, ast.If) or len(module.body) > 1:
        raise _unreadable(original)
    return [ast.increment_lineno(statement, -1) for statement in block.body]


def _parse(code: str, bounds: Bounds) -> ast.Module:
    if code.startswith(BYTE_ORDER_MARK):  # the places in the tree would not be those in the code
        raise Unreadable(1, "invalid non-printable character U+FEFF")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in a snippet is the snippet's affair
            return parse_python_source(code, bounds)
    except TooComplex as error:
        raise Unreadable(0, f"it {error}") from error
    except ValueError as error:
        raise Unreadable(0, str(error)) from error


def _unreadable(error: SyntaxError) -> Unreadable:
    return Unreadable(error.lineno or 0, error.msg)


def function_of(statements: list[ast.stmt]) -> Function | None:
    """Return the first function defined at the top of a snippet."""
    return next((s for s in statements if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)), None)


def ast_lines(code: str) -> list[str]:
    r"""Split code as the parser counts lines: at \n, \r\n and \r, not at U+2028. Ends are kept."""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", code)
