"""A candidate without its docstrings, for studies in which they are folded or hidden.

Where the text is Python of today its syntax tree says what is a docstring. Elsewhere (Python 2, a cut text)
tokens do, and then every string that stands alone counts as one: rather too much is hidden than too little.
"""

from __future__ import annotations

import ast
import io
import re
import textwrap
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from sandbox.candidate.syntax import UNREADABLE, parse_python_source, read_python_tokens
from sandbox.candidate.tree_nodes import walk_tree_nodes

DOCUMENTED: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
LAYOUT: Final = frozenset({tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT})
OPENING: Final = frozenset("([{")
CLOSING: Final = frozenset(")]}")
ENDING: Final = frozenset({tokenize.NEWLINE, tokenize.ENDMARKER})
ALONE: Final = re.compile(
    r"""(?ms)^[ \t]*(?:[^\n#'"]*:)?[ \t]*([rRuU]?(?:\"{3}.*?(?:\"{3}|\Z)|'{3}.*?(?:'{3}|\Z)))"""
)
"""A string in three quotes that begins a line, or a block of one line, to its end or to the text's."""
STANDS_FOR: Final = "..."
"""What a docstring leaves behind that shared its line with other code."""


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a text: its first character, and the one after its last."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Split:
    """A text in two. `numbers` has the line number in the whole text of each line of `code`."""

    code: str
    numbers: tuple[int, ...]
    docstrings: tuple[str, ...]


@lru_cache(maxsize=256)
def split_docstrings(text: str) -> Split:
    """`text` without its docstrings, and those as they are written. Lines that held nothing else are gone."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    found = find_docstring_spans(text)
    kept, numbers = kept_lines(text, found)
    return Split("\n".join(kept), tuple(numbers), tuple(dedent_docstring(text, span) for span in found))


def keep_docstrings(text: str) -> Split:
    """`text` as it is, in the same form."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return Split(text, tuple(range(1, text.count("\n") + 2)), ())


def find_docstring_spans(text: str) -> list[Span]:
    """Where the docstrings are, in order."""
    try:
        return spans_in_tree(text)
    except UNREADABLE:
        return spans_in_tokens(text)


def spans_in_tree(text: str) -> list[Span]:
    """By the syntax tree. Raises what `ast.parse` raises."""
    starts = line_starts(text)
    lines = text.split("\n")

    def place(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    nodes = (
        docstring_of(node)
        for node in walk_tree_nodes(parse_python_source(text))
        if isinstance(node, DOCUMENTED)
    )
    found = [
        Span(place(node.lineno, node.col_offset), place(node.end_lineno or 0, node.end_col_offset or 0))
        for node in nodes
        if node is not None
    ]
    return sorted(found, key=lambda span: span.start)


def docstring_of(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> ast.expr | None:
    first = node.body[0] if node.body else None
    value = first.value if isinstance(first, ast.Expr) else None
    return value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def spans_in_tokens(text: str) -> list[Span]:
    """Strings that stand alone: by tokens as far as there are any, behind that by their quotes."""
    starts, found, read = line_starts(text), list[Span](), 0
    statement: list[tokenize.TokenInfo] = []
    for token in read_python_tokens(io.StringIO(text)):
        if token.type in ENDING:
            found += find_lone_strings(statement, starts)
            statement, read = [], min(len(text), starts[min(token.end[0], len(starts)) - 1] + token.end[1])
        elif token.type not in LAYOUT:
            statement.append(token)
    rest = (Span(read + one.start(1), read + one.end(1)) for one in ALONE.finditer(text[read:]))
    return [*found, *rest]


def find_lone_strings(statement: list[tokenize.TokenInfo], starts: list[int]) -> Iterator[Span]:
    """The strings in a logical line that are statements of their own: all of it, or behind `:` or `;`."""
    for part in split_logical_line(statement):
        if part and all(token.type == tokenize.STRING for token in part):
            first, last = part[0].start, part[-1].end
            yield Span(starts[first[0] - 1] + first[1], starts[last[0] - 1] + last[1])


def split_logical_line(statement: list[tokenize.TokenInfo]) -> list[list[tokenize.TokenInfo]]:
    """A logical line, cut at colons and semicolons outside of brackets."""
    parts, depth = [list[tokenize.TokenInfo]()], 0
    for token in statement:
        depth += (token.string in OPENING) - (token.string in CLOSING)
        if depth <= 0 and token.string in {":", ";"}:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def line_starts(text: str) -> list[int]:
    """The place of each line's first character."""
    return [0, *(found.end() for found in re.finditer("\n", text))]


def kept_lines(text: str, found: list[Span]) -> tuple[list[str], list[int]]:
    """The lines without the spans, with their numbers; lines of which nothing is left are left out."""
    pieces, start, touched = list[str](), 0, set[int]()
    for span in found:
        pieces += [text[start : span.start], format_docstring_gap(text, span)]
        start = span.end
        touched.update(lines_of_span(text, span))
    lines = enumerate("".join([*pieces, text[start:]]).split("\n"), 1)
    kept = [(line, n) for n, line in lines if line.strip() or n not in touched] or [("", 1)]
    return [line.rstrip() if n in touched else line for line, n in kept], [n for _, n in kept]


def format_docstring_gap(text: str, span: Span) -> str:
    """As many lines as the span had; where it shared its line with other code, a mark stands for it."""
    before = text[text.rfind("\n", 0, span.start) + 1 : span.start]
    end = text.find("\n", span.end)
    after = text[span.end : len(text) if end < 0 else end]
    shared = before.strip() or after.strip(" \t;")
    return (STANDS_FOR if shared else "") + "\n" * text.count("\n", span.start, span.end)


def lines_of_span(text: str, span: Span) -> range:
    """The numbers of the lines that a span touches."""
    first = text.count("\n", 0, span.start) + 1
    return range(first, first + text.count("\n", span.start, span.end) + 1)


def dedent_docstring(text: str, span: Span) -> str:
    """A docstring as it is written, its lines moved to the left together."""
    margin = text[text.rfind("\n", 0, span.start) + 1 : span.start]
    lead = margin if not margin.strip() else ""
    return textwrap.dedent(lead + text[span.start : span.end])
