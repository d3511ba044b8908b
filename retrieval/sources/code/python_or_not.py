"""Is a text Python? The parser is asked first; what it refuses gets a second opinion and a name.

The names are those of the four kinds that CoSQA+ took out of StaQC (first version, appendix): incomplete
snippets, irrelevant fields, other languages, and code with more around it. The authors' tool, guesslang, is
no longer kept; here parser, grammar and signs decide, and for longer texts `retrieval.sources.code.detector`.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Final, TypeAlias

import tree_sitter
import tree_sitter_python

from retrieval.filters import Unreadable, parse_snippet

Detector: TypeAlias = Callable[[str], str]
"""Names the language of a text (`python`, `java`, `txt` …); empty where it is not sure."""


class Kind(StrEnum):
    """Why a text is no Python that can stand alone."""

    INCOMPLETE = "incomplete snippet"
    """Python that uses names which it never sets, or that is cut off."""
    IRRELEVANT = "irrelevant field"
    """No programming language: data, prose, a bare value."""
    OTHER_LANGUAGE = "other language"
    MORE = "more than code"
    """Python in a session with prompts and output."""


PROMPT = re.compile(r"^\s*(?:>>>|In ?\[\d*\]:|Out ?\[\d*\]:)", re.MULTILINE)
MARKUP = re.compile(r"\A\s*<(?:[!?/]|[a-zA-Z][\w-]*[\s>/])")
OTHERS = re.compile(
    r"^\s*(?:#include\b|import\s+java|using\s+namespace\b|package\s+\w+;|(?:public|private|protected)\s+\w|"
    r"(?:var|let|const)\s+\w+\s*=|function\s*\w*\s*\(|\$\w+\s*=|\$\s+\w+|(?:SELECT|INSERT|UPDATE|CREATE|DELETE)\s)",
    re.MULTILINE,
)
ENDS = re.compile(r"[;{}]\s*$")
"""Of a line in a language with braces."""
FIELD = re.compile(r"^\s*(?:- +)?[\w.-]+:(?:\s|$)")
"""A line of a configuration file."""
SIGNS = re.compile(r"[=()\[\]{}]|^\s*(?:import|from|print|if|for|while|def|class|return|try)\b", re.MULTILINE)
BEGINS = re.compile(
    r"^\s*(?:(?:def|class)\s+\w+|(?:if|elif|while|with|except)\b.*:\s*$|(?:else|try|finally):|"
    r"for\s.+\sin\s|from\s+[\w.]+\s+import|import\s+\w|return\b|@\w)",
    re.MULTILINE,
)
"""Lines that only Python has."""
KNOWN: Final = frozenset(dir(builtins)) | {"__file__", "__name__", "self", "cls"}
ERROR_SHARE: Final = 0.2
"""So much of a text may the grammar fail to understand: what Python 3 refuses may be Python 2, or cut off."""
DETECTED_FROM: Final = 5
"""Lines from which a detector is asked: of shorter functions it takes every fourth for prose."""
PROSE: Final = frozenset({"txt", "txtascii", "txtutf8", "markdown", "rst", "csv", "tsv", "unknown", "empty"})


def classify_non_python(text: str, detector: Detector | None = None) -> Kind | None:
    """Why a text is no Python that can stand alone; None for one that is, be it Python 2."""
    try:
        statements = parse_snippet(text)
    except Unreadable:
        return classify_unparsed_text(text, detector)
    if all(is_bare_value(statement) for statement in statements):
        return Kind.IRRELEVANT
    return Kind.INCOMPLETE if is_incomplete(statements) else None


def classify_unparsed_text(text: str, detector: Detector | None) -> Kind | None:
    """Of a text that Python 3 does not parse. A prompt may also stand in a docstring of Python 2."""
    if PROMPT.search(text) and not is_whole(text):
        return Kind.MORE
    if MARKUP.search(text) or OTHERS.search(text) or most_lines(ENDS, text):
        return Kind.OTHER_LANGUAGE
    if most_lines(FIELD, text) and not BEGINS.search(text):
        return Kind.IRRELEVANT
    said = detector(text) if detector and len(text.strip().splitlines()) >= DETECTED_FROM else ""
    if said and said != "python":
        return Kind.IRRELEVANT if said in PROSE else Kind.OTHER_LANGUAGE
    if is_whole(text):
        return None if SIGNS.search(text) else Kind.IRRELEVANT
    cut_off = (
        said or BEGINS.search(text) or (SIGNS.search(text) and measure_misread_share(text) <= ERROR_SHARE)
    )
    return Kind.INCOMPLETE if cut_off else Kind.IRRELEVANT


def most_lines(sign: re.Pattern[str], text: str) -> bool:
    """Whether most lines that hold anything have a sign."""
    lines = [line for line in text.splitlines() if line.strip()]
    return 2 * sum(sign.search(line) is not None for line in lines) > len(lines)


def measure_misread_share(text: str) -> float:
    """The share of a text's bytes that Python's grammar can't place; it knows Python 2's statements, too."""
    tree = _parser().parse(text.encode())
    return sum(node.end_byte - node.start_byte for node in _errors(tree.root_node)) / max(
        1, len(text.encode())
    )


def is_whole(text: str) -> bool:
    """Whether the grammar reads all of it without having to make something up."""
    return not _parser().parse(text.encode()).root_node.has_error


def is_bare_value(statement: ast.stmt) -> bool:
    """Whether a statement is a name or a value alone, with nothing done to it."""
    allowed = (
        ast.Expr,
        ast.Constant,
        ast.Name,
        ast.Tuple,
        ast.List,
        ast.Dict,
        ast.UnaryOp,
        ast.Load,
        ast.USub,
    )
    return isinstance(statement, ast.Expr) and all(isinstance(node, allowed) for node in ast.walk(statement))


def is_incomplete(statements: list[ast.stmt]) -> bool:
    """Whether code without any definition uses names that it neither sets, imports nor finds built in."""
    nodes = [node for statement in statements for node in ast.walk(statement)]
    if any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for node in nodes):
        return False
    used = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return bool(used - set(_bound(nodes)) - KNOWN)


def _bound(nodes: list[ast.AST]) -> Iterator[str]:
    """The names that some code sets; `from m import *` may set any, so then nothing is missing."""
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                if alias.name == "*":
                    yield from (other.id for other in nodes if isinstance(other, ast.Name))
                yield (alias.asname or alias.name).partition(".")[0]
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name


def _errors(node: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    """The outermost nodes that the grammar could not read."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        if found.is_error:
            yield found
        elif found.has_error:
            waiting.extend(found.children)


def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_python.language()))
