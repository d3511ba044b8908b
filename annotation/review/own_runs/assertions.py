"""A call that was answered becomes an assertion of the person's own test."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from textwrap import indent
from typing import Final

from django.contrib.auth.models import User

from annotation.draft_rules import Window
from annotation.models import CallRequest, Case, Draft, TestProgram
from annotation.models.reviews.typed_text import KeptText
from annotation.review import drafts
from annotation.review.own_runs.own_tests import beginning_of_a_test
from sandbox.candidate.syntax import UNREADABLE, TooComplex, literal_value, parse_python_source
from sandbox.expression_call import Answer, CallOutcome

CUT = "…"
"""The sign with which the sandbox ends a value that it cut."""
ADDRESS: Final = re.compile(r"\bat 0x[0-9a-fA-F]+")
"""Where an object lies, as the text of one without a text of its own has it."""


class NoAssertion(ValueError):
    """Nothing can be asserted of the call; the message says why."""


@dataclass(frozen=True, slots=True)
class Added:
    """The lines, and the draft's revision; that is empty where the draft is another window's.

    `before` is the line of the test that follows them, empty where they are its end.
    """

    lines: str
    revision: str
    before: str = ""


def add_assertion(
    user: User, case: Case, asked: CallRequest, parent: TestProgram | None, window: Window | None = None
) -> Added:
    """Add the call to the person's test draft; returns what was added.

    Without a draft it begins with a copy of `parent`, or where that is None with what the editor begins with.
    Raises NoAssertion and DraftRefused; then the draft stays as it was.
    """
    draft = drafts.load_drafts(user, case.pair_id).get(Draft.Field.TEST)
    start = parent.source.text if parent else beginning_of_a_test(case.pair)
    save = partial(drafts.save_draft, user, case.pair_id, Draft.Field.TEST)
    return append_to_draft(asked, draft, start, window, save)


def append_to_draft(
    asked: CallRequest, draft: KeptText | None, start: str, window: Window | None, save: Callable[[str], str]
) -> Added:
    """Save the draft, or else `start`, with the call's assertion. Raises NoAssertion.

    It stands at the end, but above the lines that run the tests: where one of these fails, they raise.
    """
    if asked.answer is None:
        raise NoAssertion("The call has no answer yet. Try again when it has one.")
    lines = assertion_of(asked.expression, asked.answer.whole())
    known = draft is None or window is None or window.knows(draft)
    above, below = split_before_run((draft.text if draft else start).rstrip())
    end = f"\n\n{below}\n" if below else "\n"
    revision = save(f"{above.rstrip()}\n\n{lines}{end}")
    return Added(lines, revision if known else "", below.partition("\n")[0])


def split_before_run(source: str) -> tuple[str, str]:
    """(the test, the statements at its end that run it).

    These are calls such as `main()`, loops over tests, and a guard of the main module. The second is empty
    where there are none, and for a text that is no Python.
    """
    try:
        statements = parse_python_source(source).body
    except UNREADABLE:
        return source, ""
    running = list(takewhile(is_running_tests, reversed(statements)))
    if not running:
        return source, ""
    lines, line = source.split("\n"), running[-1].lineno - 1
    return "\n".join(lines[:line]), "\n".join(lines[line:])


def is_running_tests(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Call()) | ast.For() | ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return True
    return False


def assertion_of(expression: str, answer: Answer) -> str:
    """The assertion that the call would pass. Raises NoAssertion."""
    before, called = split_last_statement(expression)
    if answer.outcome is CallOutcome.RETURNED and answer.value is not None:
        return f"{before}assert {format_value_assertion(called, answer.value)}"
    if answer.outcome is CallOutcome.RAISED and answer.raised is not None:
        return before + format_raises_assertion(called, answer.raised.type)
    raise NoAssertion("The call ended without a value and without an exception: nothing can be asserted.")


def split_last_statement(expression: str) -> tuple[str, str]:
    """(the statements before the last one, one a line; the last one, which has the value).

    Raises NoAssertion for what nests deeper than can be written out again.
    """
    try:
        *before, last = map(ast.unparse, parse_python_source(expression.strip()).body)
    except (TooComplex, RecursionError):
        raise NoAssertion("The call is nested too deeply. Call something simpler.") from None
    return "".join(f"{statement}\n" for statement in before), last


def format_value_assertion(called: str, value: str) -> str:
    """The call against its value: by `is` for the three that there is one of, by its text where need be."""
    if value in {"None", "True", "False"}:
        return f"{parenthesize_call(called)} is {value}"
    if is_literal(value):
        return f"{parenthesize_call(called)} == {value}"
    if CUT in value:
        raise NoAssertion("The value is too long to keep. Call something shorter, such as its length.")
    if ADDRESS.search(value):
        raise NoAssertion(
            "The value contains a memory address, which differs in every run. Call something else."
        )
    return f"repr({called}) == {value!r}"


def parenthesize_call(called: str) -> str:
    """The call, in brackets where an operator beside it would tear it apart."""
    simple = ast.Call | ast.Name | ast.Constant | ast.Subscript | ast.Attribute
    node = parse_python_source(called).body[-1]
    return called if isinstance(node, ast.Expr) and isinstance(node.value, simple) else f"({called})"


def is_literal(value: str) -> bool:
    """Whether the text of the value is Python for the value. That of `nan` or of an object is not."""
    try:
        return repr(literal_value(value)) == value
    except (*UNREADABLE, TypeError):
        return False


def format_raises_assertion(called: str, kind: str) -> str:
    """That the call raises an exception of this name, whichever module that comes from.

    Any exception: a candidate that ends itself raises SystemExit, which is no Exception.
    """
    name = kind.rpartition(".")[2]
    return "\n".join(
        (
            "try:",
            indent(called, "    "),
            "except BaseException as error:",
            f"    assert type(error).__name__ == {name!r}",
            "else:",
            f"    assert False, {f'no {name}'!r}",
        )
    )
