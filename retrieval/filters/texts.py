"""What text of a snippet is searched: all of it, or a part; in Python and in Java."""

from __future__ import annotations

import ast
import re
import tokenize
from collections.abc import Iterator
from typing import Literal, TypeAlias, get_args

from retrieval.filters import java, python_grammar
from retrieval.filters.python_parser import Function, Unreadable, ast_lines, function_of, parse_snippet
from sandbox.candidate.syntax import read_python_tokens

TextOption: TypeAlias = Literal["whole", "without docstring", "without comments", "signature + docstring"]
Defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
MAY_BE_DOCUMENTED = re.compile(
    r"""\"{3}|'{3}|/\*\*|^[ \t]*[rRuU]?["']|\)[ \t]*:[ \t]*[rRuU]?["']""", re.MULTILINE
)
"""Signs of a docstring or a comment of documentation, in a text that no parser reads."""
TEXT_OPTIONS: tuple[TextOption, ...] = get_args(TextOption)


class UnknownTextOption(ValueError):
    """There is no such text of a snippet; the message lists those that there are."""


def text_option(name: str) -> TextOption:
    """The option that a person writes with blanks, hyphens or underscores. Raises `UnknownTextOption`."""
    plain = name.replace("_", " ").replace("-", " ")
    for option in TEXT_OPTIONS:
        if option == plain:
            return option
    known = ", ".join(option.replace(" ", "_") for option in TEXT_OPTIONS)
    raise UnknownTextOption(f"there is no text option {name!r}; there are {known}")


def extract_searched_text(code: str, option: TextOption | str) -> str:
    """Return the text of a snippet that is searched, by its first function.

    "without docstring" takes out its docstring (the `/**` comment before a method) and nothing else,
    "without comments" all comments but for docstrings, "signature + docstring" leaves these two alone.
    What is read neither as Python of some version nor as Java, or has nothing of the kind, is returned whole;
    but empty, where it must lose its docstring and may have one. Raises ValueError for another option.
    """
    if option not in TEXT_OPTIONS:
        raise ValueError(f"text of a function is one of {', '.join(TEXT_OPTIONS)}; got {option!r}")
    if option == "whole":
        return code
    try:
        function = function_of(parse_snippet(code))
    except Unreadable:
        return _in_other_languages(code, option)
    if option == "without comments":
        return without_comments(code)
    if function is None:
        return code
    return without_docstring(code, function) if option == "without docstring" else extract_signature(code)


def is_left_out(code: str, option: TextOption | str) -> bool:
    """Whether a snippet is not searched by this part: nobody can tell its docstring from its code."""
    return option == "without docstring" and bool(code) and not extract_searched_text(code, option)


def _in_other_languages(code: str, option: str) -> str:
    found = python_grammar.extract_python_part(code, option)
    if found is None:
        found = java.extract_java_part(code, option)
    if found is not None:
        return found
    return "" if option == "without docstring" and MAY_BE_DOCUMENTED.search(code) else code


def docstring_of(function: Function) -> ast.Expr | None:
    """The statement that is a function's docstring."""
    first = function.body[0]
    if not (isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)):
        return None
    return first if isinstance(first.value.value, str) else None


def without_docstring(code: str, function: Function) -> str:
    statement = docstring_of(function)
    return code if statement is None else cut_statement(code, statement)


def cut_statement(code: str, statement: ast.Expr) -> str:
    """Cut one statement out; its lines go with it unless they hold something else."""
    lines = ast_lines(code)
    start, end = statement.lineno - 1, (statement.end_lineno or statement.lineno) - 1
    before = lines[start].encode()[: statement.col_offset].decode()
    after = lines[end].encode()[statement.end_col_offset :].decode()
    rest = after.lstrip(" \t;")
    kept = [] if not before.strip() and not rest.strip() else [before + rest]
    return "".join([*lines[:start], *kept, *lines[end + 1 :]])


def without_comments(code: str) -> str:
    """Python without its comments; a line that holds nothing else goes, too.

    Where the tokeniser ends before the parser does, what stands behind that place keeps its comments.
    """
    lines = ast_lines(code)
    for row, column in reversed(list(find_comments(lines))):
        line = lines[row]
        before = line[:column].rstrip()
        lines[row] = before + line[len(line.rstrip("\r\n")) :] if before else ""
    return "".join(lines)


def find_comments(lines: list[str]) -> Iterator[tuple[int, int]]:
    """Yield (place of the line, place in it) of each comment, in order."""
    for token in read_python_tokens(lines):
        if token.type == tokenize.COMMENT:
            yield token.start[0] - 1, token.start[1]


def extract_signature(code: str) -> str:
    """A function up to its body, with its docstring."""
    plain = without_comments(code)
    function = function_of(parse_snippet(plain))
    if function is None:
        return code
    row, column = end_of_head(function)
    lines = ast_lines(plain)
    last = lines[row - 1].encode()[:column].decode()
    return "".join([*lines[function.lineno - 1 : row - 1], last]).rstrip()


def end_of_head(function: Function) -> tuple[int, int]:
    """Where the docstring ends, or the body begins: line from 1, column in bytes."""
    said, first = docstring_of(function), function.body[0]
    if said is not None:
        return said.end_lineno or said.lineno, said.end_col_offset or 0
    decorators = [] if not isinstance(first, Defined) else first.decorator_list
    return min([first.lineno, *(decorator.lineno for decorator in decorators)]), first.col_offset
