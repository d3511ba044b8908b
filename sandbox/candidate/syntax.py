"""The one door through which Python that a stranger wrote is parsed: bounded in time, memory and depth.

Whoever reads a tree of it may count on `Bounds`: whatever a text tries, parsing ends within a second or two.
"""

import ast
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from sandbox.candidate.tree_nodes import children_of

UNREADABLE: Final = (SyntaxError, ValueError, RecursionError, MemoryError)
"""What parsing a text, or going through its tree, may raise."""
_TRIES = 20
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
# CPython 3.11 joins a dotted name part by part, and finds each field of an f-string from its beginning.
_LONG_NAME: Final = re.compile(r"\b(?:\w++[\s\\]*+\.[\s\\]*+){500}")
_FORMATTED: Final = re.compile(r"(?i)(?:f|fr|rf)['\"]")
_MOST_FIELDS: Final = 20_000
_SHORT: Final = 1_000
# Python writes no longer number in decimal digits: 4,300 of those.
_LONG_NUMBER: Final = re.compile(r"\b0[xob]\w{3500}", re.IGNORECASE)


class TooComplex(ValueError):
    """A text that nobody writes by hand, and that costs too much to read.

    The message says what is too much, with the text as its subject: "is nested too deeply".
    """


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is parsed at most. A dense function of a hundred lines has 700 nodes, 20 of them in each other."""

    characters: int
    tokens: int
    nodes: int
    depth: int = 1_000


SNIPPET: Final = Bounds(characters=600_000, tokens=80_000, nodes=30_000)
"""A function or a test program: twenty times the longest of CodeSearchNet."""
FILE: Final = Bounds(characters=5_000_000, tokens=1_500_000, nodes=600_000)
"""A source file, out of which functions are taken."""


def parse_python_source(source: str, bounds: Bounds = SNIPPET) -> ast.Module:
    """The tree of a text within `bounds`. Raises SyntaxError, or ValueError (TooComplex) for what is no text.

    Until 3.12 threads that parse at the same moment share one count of nesting, and the loser gets a
    SystemError ("AST constructor recursion depth mismatch"): it tries again. A byte order mark is left out,
    as Python does with that of a file.
    """
    source = source.removeprefix("\ufeff")
    _refuse_text(source, bounds)
    try:
        tree = _parse(source)
    except (RecursionError, MemoryError) as error:
        raise TooComplex("is nested too deeply") from error
    # No text has more nodes, or deeper ones, than characters.
    if len(source) > bounds.depth:
        _refuse_tree(tree, bounds)
    return tree


def literal_value(literal: str | ast.expr) -> object:
    """The value of a literal, as text or as a part of a tree. Raises what is in UNREADABLE, and TypeError."""
    if isinstance(literal, ast.expr):
        return ast.literal_eval(literal)
    match parse_python_source(literal.strip()).body:
        case [ast.Expr(value=value)]:
            return ast.literal_eval(value)
    raise ValueError("it is no literal")


def read_python_tokens(lines: Iterable[str], bounds: Bounds = SNIPPET) -> Iterator[tokenize.TokenInfo]:
    """The tokens of a text's lines, up to the first that is none, or one too many."""
    waiting, left = iter(lines), bounds.tokens
    try:
        for token in tokenize.generate_tokens(lambda: next(waiting, "")):
            yield token
            left -= 1
            if not left:
                return
    except (tokenize.TokenError, *UNREADABLE):
        return


def _parse(source: str) -> ast.Module:
    for _ in range(_TRIES - 1):
        try:
            return ast.parse(source)
        except SystemError:
            continue
    return ast.parse(source)


def _refuse_text(source: str, bounds: Bounds) -> None:
    """Refuse what a glance at the text tells."""
    if len(source) > bounds.characters:
        raise TooComplex(f"is longer than {bounds.characters:,} characters")
    if len(source) <= _SHORT:
        return
    if len(source) > bounds.tokens and len(_TOKEN.findall(source)) > bounds.tokens:
        raise TooComplex(f"has more than {bounds.tokens:,} words and signs")
    if _LONG_NUMBER.search(source):
        raise TooComplex("has a number of thousands of digits")
    if source.count(".") >= 500 and _LONG_NAME.search(source):
        raise TooComplex("has a name of hundreds of parts")
    if source.count("{") > _MOST_FIELDS and _FORMATTED.search(source):
        raise TooComplex(f"has more than {_MOST_FIELDS:,} braces, and formatted strings")


def _refuse_tree(tree: ast.Module, bounds: Bounds) -> None:
    """Refuse a tree of too many nodes, or of nodes too deep in each other."""
    level: list[ast.AST] = [tree]
    nodes = depth = 0
    while level:
        nodes, depth = nodes + len(level), depth + 1
        # Of `a < b < c` each sign counts as a part.
        nodes += sum(len(node.ops) for node in level if type(node) is ast.Compare)
        if nodes > bounds.nodes:
            raise TooComplex(f"has more than {bounds.nodes:,} parts")
        if depth > bounds.depth:
            raise TooComplex("is nested too deeply")
        level = [child for node in level for child in children_of(node)]
