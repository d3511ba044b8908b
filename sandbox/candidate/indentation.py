"""Code that is indented as a whole, as a method is in its class, moved to the left margin."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator, Sequence
from typing import Final

from sandbox.candidate.syntax import read_python_tokens

_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
"""A line as Python counts them, with its end."""
_SPANS_LINES: Final = re.compile(r"\"{3}|'{3}|\\[\r\n]")
"""What can make a line begin inside a string."""
_LAYOUT: Final = frozenset({tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT})
_ENDS: Final = frozenset({tokenize.NEWLINE, tokenize.ENDMARKER})


def strip_code(text: str) -> str:
    """`text` without blank lines around it, and without the indent that all of it has.

    Where another line begins at the margin, the first one's blanks are none of a block.
    """
    if not text[:1].isspace() and not text.startswith("#"):
        return text.rstrip()  # as below, for the many that begin at the margin
    blank = text[: len(text) - len(text.lstrip())]
    start = max(blank.rfind(end) for end in "\n\r\f") + 1  # a form feed ends an indent
    moved = take_off_indent(text[start:].rstrip())
    if not moved[:1].isspace() or _SPANS_LINES.search(moved):
        return moved
    at_margin = any(not line[0].isspace() for line in _LINE.findall(moved))
    return moved.lstrip() if at_margin else moved


def take_off_indent(text: str) -> str:
    """`text` without the indent that all of it has; every other character stays.

    Lines inside strings keep their blanks, which are part of a value; docstrings move with their function.
    A comment or a continued line may have less indent than the rest. Where a statement has less, or nobody
    can tell what is a string, nothing is taken off.
    """
    if not (text[:1].isspace() or text.startswith("#")):
        return text
    lines = _LINE.findall(text)
    if len(lines) == 1:
        return text.lstrip()
    indent, fixed = _python_indent(lines) or (_common_indent(text, lines), set())
    moved = (line if number in fixed else line.removeprefix(indent) for number, line in enumerate(lines, 1))
    return "".join(moved)


def _python_indent(lines: Sequence[str]) -> tuple[str, set[int]] | None:
    """The indent of all statements, empty where one has less, and the lines that begin inside a string.

    None for what is not Python: its tokens can't be read to the end.
    """
    indents, fixed = list[str](), set[int]()
    statement, token = list[tokenize.TokenInfo](), None
    for token in read_python_tokens(line.rstrip("\r\n") + "\n" for line in lines):
        if token.type not in _LAYOUT:
            statement.append(token)
        if token.type in _ENDS:
            if len(statement) > 1:
                row, column = statement[0].start
                indents.append(lines[row - 1][:column])
            fixed.update(_lines_in_values(statement))
            statement.clear()
    if token is None or token.type != tokenize.ENDMARKER or not indents:
        return None
    return indents[0] if all(one.startswith(indents[0]) for one in indents) else "", fixed


def _lines_in_values(statement: Sequence[tokenize.TokenInfo]) -> Iterator[int]:
    """The lines that begin inside a string, but for one that stands alone, as docstrings do."""
    if all(token.type == tokenize.STRING for token in statement[:-1]):
        return
    for token in statement:
        yield from range(token.start[0] + 1, token.end[0] + 1)


def _common_indent(text: str, lines: Sequence[str]) -> str:
    """The blanks that all lines begin with but empty ones; none where a line may begin inside a string."""
    if _SPANS_LINES.search(text):
        return ""
    written = [line for line in lines if line.strip()]
    least, most = min(written), max(written)
    common = next((place for place, sign in enumerate(least) if sign != most[place : place + 1]), len(least))
    return least[: min(common, len(least) - len(least.lstrip()))]
