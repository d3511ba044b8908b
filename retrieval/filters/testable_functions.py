"""Which functions a test program can examine: CoSQA+'s rule and its variants."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntFlag
from functools import cache

from retrieval.filters.python_parser import Function, Unreadable, function_of, parse_snippet


class Rule(IntFlag):
    """The rules that a snippet can pass; a snippet's flags are the rules that it passes.

    TESTABLE is CoSQA+'s rule: at least one input parameter and a `return` with a value. `self` and `cls`
    are no input; a bare `return`, `return None` and `yield` are no value. Each variant changes one of these.
    TESTABLE_BY_CALL is what a build searches unless it is told otherwise.
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
    TESTABLE_WITHOUT_OUTPUT = 32
    """An input is enough: what a function does may show elsewhere than in its value."""
    TESTABLE_BY_CALL = 64
    """`self`, `cls` and `yield` count, where a test can call the function on what it makes up."""


NO_RULE = Rule(0)
USUAL_RULE = Rule.TESTABLE_BY_CALL
"""What a build searches unless it is told otherwise."""
CLASS_NAMES = ("super", "__class__")
LOOP = ("body", "orelse")
TRIED = ("body", "handlers", "orelse", "finalbody")
BLOCKS: Mapping[type[ast.AST], tuple[str, ...]] = {
    **dict.fromkeys((ast.If, ast.For, ast.AsyncFor, ast.While), LOOP),
    **dict.fromkeys((ast.With, ast.AsyncWith, ast.ExceptHandler, ast.match_case), ("body",)),
    **dict.fromkeys((ast.Try, ast.TryStar), TRIED),
    ast.Match: ("cases",),
}
"""Where statements have further statements of the same function, and what holds some."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What the rules ask of a function."""

    inputs: bool
    receiver: bool
    returns_value: bool
    returns_nothing: bool
    yields: bool
    needs_class: bool
    """It reads `super()` or `__class__`, which work inside a class alone."""


def rules_of(code: str) -> Rule:
    """Return the rules that a snippet's first function passes; none for code without a function.

    Raises `Unreadable` for code that does not parse (Python 2, cut-off text).
    """
    function = function_of(parse_snippet(code))
    return NO_RULE if function is None else _rules(signature_of(function, may_need_search(code)))


def find_passed_rules(code: str) -> Rule | None:
    """The rules that a snippet passes; None for one that does not parse."""
    try:
        return rules_of(code)
    except Unreadable:
        return None


def may_need_search(code: str) -> bool:
    """Whether the expressions of a snippet may hold a `yield`, or what works in a class alone."""
    return any(word in code for word in ("yield", *CLASS_NAMES))


def find_untestable_reason(code: str) -> str | None:
    """Why a snippet is not TESTABLE, by name; None for one that is. Each name is what a variant forgives."""
    try:
        function = function_of(parse_snippet(code))
    except Unreadable:
        return "does not parse"
    if function is None:
        return "no function"
    found = signature_of(function, may_need_search(code))
    if not found.inputs:
        return "self alone as input" if found.receiver else "no input"
    if found.returns_value:
        return None
    if found.yields:
        return "yield without return of a value"
    return "bare return alone" if found.returns_nothing else "no return"


@cache
def _rules(function: Signature) -> Rule:
    with_self = function.inputs or function.receiver
    passed = {
        Rule.TESTABLE: function.inputs and function.returns_value,
        Rule.TESTABLE_WITH_SELF: with_self and function.returns_value,
        Rule.TESTABLE_WITH_BARE_RETURN: function.inputs
        and (function.returns_value or function.returns_nothing),
        Rule.TESTABLE_WITH_YIELD: function.inputs and (function.returns_value or function.yields),
        Rule.TESTABLE_WITHOUT_OUTPUT: function.inputs,
        Rule.TESTABLE_IN_ANY_SENSE: with_self
        and (function.returns_value or function.returns_nothing or function.yields),
        Rule.TESTABLE_BY_CALL: (function.inputs or (function.receiver and not function.needs_class))
        and (function.returns_value or function.yields),
    }
    return Rule(sum(rule for rule, holds in passed.items() if holds))


def signature_of(function: Function, search: bool = True) -> Signature:
    """Look at a function's parameters and at what it, not a function inside it, hands back.

    Without `search` its expressions are not looked at, which takes a third of the time.
    """
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    receiver = bool(positional) and positional[0].arg in ("self", "cls")
    others = [*positional[receiver:], *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    own = list(_own_nodes(function) if search else _own_statements(function))
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
        needs_class=any(_needs_class(node) for node in own),
    )


def _needs_class(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and not node.args:
        return isinstance(node.func, ast.Name) and node.func.id == "super"
    return isinstance(node, ast.Name) and node.id == "__class__"


def _own_nodes(function: Function) -> Iterator[ast.AST]:
    """Walk the nodes in a function's body, not in functions, lambdas and classes inside it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))


def _own_statements(function: Function) -> Iterator[ast.AST]:
    """As `_own_nodes`, of the statements alone, which no expression holds."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        for name in BLOCKS.get(type(node), ()):
            waiting.extend(getattr(node, name))
