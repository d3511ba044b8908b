"""Which functions a test program can examine, and what text of a snippet is searched.

A rule is a flag on a member, never a reason to refuse it: mining for annotation chooses by flag,
evaluation uses every function.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntFlag
from typing import Literal, TypeAlias, get_args

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
TextOption: TypeAlias = Literal["whole", "without docstring"]
TEXT_OPTIONS: tuple[TextOption, ...] = get_args(TextOption)


class Rule(IntFlag):
    """The rules that a snippet can pass; a snippet's flags are the rules that it passes.

    TESTABLE is CoSQA+'s rule: at least one input parameter and a `return` with a value. `self` and `cls`
    are no input; a bare `return`, `return None` and `yield` are no value. Each variant changes one of these.
    """

    TESTABLE = 1
    TESTABLE_WITH_SELF = 2
    """`self` and `cls` count as input."""
    TESTABLE_WITH_BARE_RETURN = 4
    """A bare `return` and `return None` count as a value."""
    TESTABLE_WITH_YIELD = 8
    """`yield` and `yield from` count as a value."""
    TESTABLE_IN_ANY_SENSE = 16
    """All three count."""


NO_RULE = Rule(0)
STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)
PARSING_TRIES = 20


class Unreadable(ValueError):
    """The code is not Python that this interpreter can parse. `lineno` is 1-based, 0 where unknown."""

    def __init__(self, lineno: int, msg: str) -> None:
        super().__init__(f"line {lineno}: {msg}" if lineno else msg)
        self.lineno = lineno
        self.msg = msg


@dataclass(frozen=True, slots=True)
class Signature:
    """What the rules ask of a function."""

    inputs: bool
    receiver: bool
    returns_value: bool
    returns_nothing: bool
    yields: bool


def parse(code: str) -> list[ast.stmt]:
    """Return the statements of a snippet; one that is indented as a whole (a method) is read all the same.

    Line numbers are those of `code`, from 1. Raises `Unreadable`.
    """
    try:
        return _parse(code).body
    except IndentationError as error:
        return _indented(code, error)
    except SyntaxError as error:
        raise _unreadable(error) from error


def _indented(code: str, original: IndentationError) -> list[ast.stmt]:
    try:
        module = _parse("if True:\n" + code)
    except SyntaxError as error:
        raise _unreadable(original) from error
    block = module.body[0]
    if not isinstance(block, ast.If) or len(module.body) > 1:
        raise _unreadable(original)
    return [ast.increment_lineno(statement, -1) for statement in block.body]


def _parse(code: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an invalid escape in a snippet is the snippet's affair
            return _tried_again(code)
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(0, str(error) or "nested too deeply to be parsed") from error


def _tried_again(code: str) -> ast.Module:
    """`ast.parse`; until CPython 3.12 threads that parse at once share one count of nesting and may fail."""
    for _ in range(PARSING_TRIES - 1):
        try:
            return ast.parse(code)
        except SystemError:
            continue
    return ast.parse(code)


def _unreadable(error: SyntaxError) -> Unreadable:
    return Unreadable(error.lineno or 0, error.msg)


def function_of(statements: list[ast.stmt]) -> Function | None:
    """Return the first function defined at the top of a snippet."""
    return next((s for s in statements if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef)), None)


def rules_of(code: str) -> Rule:
    """Return the rules that a snippet's first function passes; none for code without a function.

    Raises `Unreadable` for code that does not parse (Python 2, cut-off text).
    """
    function = function_of(parse(code))
    return NO_RULE if function is None else _rules(signature_of(function, may_yield="yield" in code))


def untestable(code: str) -> str | None:
    """Why a snippet is not TESTABLE, by name; None for one that is. Each name is what a variant forgives."""
    try:
        function = function_of(parse(code))
    except Unreadable:
        return "does not parse"
    if function is None:
        return "no function"
    found = signature_of(function, may_yield="yield" in code)
    if not found.inputs:
        return "self alone as input" if found.receiver else "no input"
    if found.returns_value:
        return None
    if found.yields:
        return "yield without return of a value"
    return "bare return alone" if found.returns_nothing else "no return"


def _rules(function: Signature) -> Rule:
    with_self = function.inputs or function.receiver
    passed = {
        Rule.TESTABLE: function.inputs and function.returns_value,
        Rule.TESTABLE_WITH_SELF: with_self and function.returns_value,
        Rule.TESTABLE_WITH_BARE_RETURN: function.inputs
        and (function.returns_value or function.returns_nothing),
        Rule.TESTABLE_WITH_YIELD: function.inputs and (function.returns_value or function.yields),
        Rule.TESTABLE_IN_ANY_SENSE: with_self
        and (function.returns_value or function.returns_nothing or function.yields),
    }
    return Rule(sum(rule for rule, holds in passed.items() if holds))


def signature_of(function: Function, may_yield: bool = True) -> Signature:
    """Look at a function's parameters and at what it, not a function inside it, hands back.

    Without `may_yield` its expressions are not searched for one, which takes a third of the time.
    """
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    receiver = bool(positional) and positional[0].arg in ("self", "cls")
    others = [*positional[receiver:], *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    own = list(_own_nodes(function, ast.AST if may_yield else STATEMENTS))
    returns = [node.value for node in own if isinstance(node, ast.Return)]
    nothing = [
        value is None or (isinstance(value, ast.Constant) and value.value is None) for value in returns
    ]
    return Signature(
        inputs=any(others),
        receiver=receiver,
        returns_value=not all(nothing),
        returns_nothing=any(nothing),
        yields=any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own),
    )


def _own_nodes(function: Function, kinds: type | tuple[type, ...]) -> Iterator[ast.AST]:
    """Walk the nodes of some kinds in a function's body, not in functions, lambdas and classes inside it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, kinds))


def text_of(code: str, option: TextOption | str) -> str:
    """Return the text of a snippet that is searched.

    "without docstring" takes out the lines of the first function's docstring and nothing else; code that
    does not parse, or has no docstring, is returned whole. Raises ValueError for another option.
    """
    if option not in TEXT_OPTIONS:
        raise ValueError(f"text of a snippet is one of {', '.join(TEXT_OPTIONS)}; got {option!r}")
    return code if option == "whole" else _without_docstring(code)


def _without_docstring(code: str) -> str:
    try:
        function = function_of(parse(code))
    except Unreadable:
        return code
    first = function.body[0] if function else None
    if not (isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)):
        return code
    return _cut(code, first) if isinstance(first.value.value, str) else code


def _cut(code: str, statement: ast.Expr) -> str:
    """Cut one statement out; its lines go with it unless they hold something else."""
    lines = ast_lines(code)
    start, end = statement.lineno - 1, (statement.end_lineno or statement.lineno) - 1
    before = lines[start].encode()[: statement.col_offset].decode()
    after = lines[end].encode()[statement.end_col_offset :].decode()
    rest = after.lstrip(" \t;")
    kept = [] if not before.strip() and not rest.strip() else [before + rest]
    return "".join([*lines[:start], *kept, *lines[end + 1 :]])


def ast_lines(code: str) -> list[str]:
    r"""Split code as the parser counts lines: at \n, \r\n and \r, not at U+2028. Ends are kept."""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", code)
