"""Small faults put into a candidate: a test that notices none of them says little when it passes.

Each mutant is the text with one place changed and all else as it was, comments and lines too.
"""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise, zip_longest
from typing import Any, Final

from sandbox.candidate.syntax import UNREADABLE, parse_python_source
from sandbox.candidate.tree_nodes import walk_tree_nodes

MOST: Final = 5
LONGEST: Final = 100_000
"""Characters of a candidate; a longer one is not changed."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SHIFTED: Final[Mapping[type[ast.cmpop], tuple[str, str]]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
}
_SIGNS: Final[Mapping[type[ast.operator], str]] = {
    ast.Sub: "-",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
}
_OTHER_COMPARISONS: Final[Mapping[type[ast.cmpop], tuple[str, str]]] = {
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Lt: ("<", ">"),
    ast.LtE: ("<=", ">="),
    ast.Gt: (">", "<"),
    ast.GtE: (">=", "<="),
    ast.Is: ("is", "is not"),
    ast.In: ("in", "not in"),
}
_OTHER_OPERATORS: Final[Mapping[type[ast.operator] | type[ast.boolop], tuple[str, str]]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "//"),
    ast.BitAnd: ("&", "|"),
    ast.BitOr: ("|", "&"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}
# What is only said to people: without it, or said otherwise, the function does the same.
_TALK = frozenset({"critical", "debug", "error", "exception", "info", "log", "print", "warn", "warning"})


class Operator(StrEnum):
    """What is done to the candidate."""

    NEGATED = "negated condition"
    DROPPED = "dropped statement"
    NONE = "return None"
    OFF_BY_ONE = "off by one"
    SWAPPED = "swapped arguments"
    EDGE_CASE = "missing edge case"
    OPERATOR = "wrong operator"
    COMPARISON = "wrong comparison"


STRENGTH: Final = (
    Operator.NEGATED,
    Operator.DROPPED,
    Operator.NONE,
    Operator.OFF_BY_ONE,
    Operator.SWAPPED,
)
"""What the strength of a test is measured by."""
BUGS: Final = (
    Operator.OFF_BY_ONE,
    Operator.SWAPPED,
    Operator.EDGE_CASE,
    Operator.OPERATOR,
    Operator.COMPARISON,
)
"""What programmers get wrong: the function still looks like an answer."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A candidate with one fault: `before` in `line` became `after`. `text` is all of it."""

    operator: Operator
    line: int
    before: str
    after: str
    text: str


@dataclass(frozen=True, slots=True)
class _Edit:
    """`tier` is lower where a fault is more likely to matter; places are offsets in bytes."""

    tier: int
    start: int
    end: int
    after: str
    line: int


def generate_mutants(
    candidate: str, most: int = MOST, operators: Sequence[Operator] = STRENGTH, seed: int | None = None
) -> tuple[Mutant, ...]:
    """Up to `most` mutants, one of each operator before a second of any; the same for the same text.

    Each parses, and differs from the candidate and from the others in its tree. There is none of a text that
    does not parse, or has nothing to change. Without a seed the likeliest places come first; with one, each
    operator's places are drawn.
    """
    text = candidate.replace("\r\n", "\n").replace("\r", "\n")
    tree = _tree(text) if len(text) <= LONGEST else None
    whole = tree and _unparse_tree(tree)
    if tree is None or whole is None:
        return ()
    source = _Source(text)
    seen, made = {whole}, list[Mutant]()
    for operator, edit in _in_turn(_nodes(tree), source, operators, seed):
        mutant = source.with_fault(operator, edit)
        changed = _tree(mutant.text)
        said = changed and _unparse_tree(changed)
        if said is not None and said not in seen:
            seen.add(said)
            made.append(mutant)
        if len(made) == most:
            break
    return tuple(made)


def _tree(text: str) -> ast.Module | None:
    try:
        return parse_python_source(text)
    except UNREADABLE:
        return None


def _unparse_tree(tree: ast.Module) -> str | None:
    """All of a tree as text; None where it nests deeper than that can follow."""
    try:
        return ast.dump(tree)
    except RecursionError:
        return None


class _Source:
    """A text by the places of its tree, which count bytes."""

    def __init__(self, text: str) -> None:
        self._bytes = text.encode("utf-8", "surrogatepass")
        self._starts = [0]
        for line in self._bytes.split(b"\n"):
            self._starts.append(self._starts[-1] + len(line) + 1)

    def at(self, line: int | None, column: int | None) -> int:
        return self._starts[(line or 1) - 1] + (column or 0)

    def start(self, node: ast.expr | ast.stmt) -> int:
        return self.at(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        return self.at(node.end_lineno, node.end_col_offset)

    def of(self, node: ast.expr | ast.stmt) -> str:
        return self.between(self.start(node), self.end(node))

    def between(self, start: int, end: int) -> str:
        return self._bytes[start:end].decode("utf-8", "surrogatepass")

    def with_fault(self, operator: Operator, edit: _Edit) -> Mutant:
        """The text with `edit` done; of what spanned lines their ends stay, so that none below moves."""
        before = self.between(edit.start, edit.end)
        ends = "\n" * max(0, before.count("\n") - edit.after.count("\n"))
        start, end = self.between(0, edit.start), self.between(edit.end, len(self._bytes))
        return Mutant(operator, edit.line, before, edit.after, f"{start}{edit.after}{ends}{end}")


def _nodes(tree: ast.Module) -> list[ast.AST]:
    """What runs when the candidate is called, in the order of the text.

    That is the bodies of its functions, or all of it where it has none, without docstrings, annotations and
    formatted strings, of whose parts Python 3.11 does not know the places.
    """
    inside = [one for node in walk_tree_nodes(tree) if isinstance(node, _FUNCTIONS) for one in node.body]
    waiting: list[ast.AST] = [*(inside or tree.body)]
    found: dict[int, ast.AST] = {}
    while waiting:
        node = waiting.pop()
        if (
            id(node) in found
            or isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.JoinedStr))
            or _is_text(node)
        ):
            continue
        found[id(node)] = node
        left_out = node.annotation if isinstance(node, ast.AnnAssign) else None
        waiting += [child_node for child_node in ast.iter_child_nodes(node) if child_node is not left_out]
    placed = [node for node in found.values() if isinstance(node, (ast.expr, ast.stmt, ast.comprehension))]
    return sorted(placed, key=lambda node: (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _in_turn(
    nodes: list[ast.AST], source: _Source, operators: Sequence[Operator], seed: int | None
) -> Iterator[tuple[Operator, _Edit]]:
    """The first choice of each operator, then the second of each …"""
    found = {
        operator: sorted(
            (edit for node in nodes for edit in _EDITS[operator](node, source)),
            key=lambda edit: (edit.tier, edit.start),
        )
        for operator in operators
    }
    if seed is not None:
        for operator, edits in found.items():
            random.Random(f"{seed} {operator}").shuffle(edits)  # noqa: S311 (drawn, not secret)
    for row in zip_longest(*found.values()):
        for operator, edit in zip(found, row, strict=True):
            if edit is not None:
                yield operator, edit


def _negated(node: ast.AST, source: _Source) -> Iterator[_Edit]:
    match node:
        case ast.If(test=test) | ast.IfExp(test=test):
            yield _edit(0, test, _not(test, source), source)
        case ast.While(test=test):
            yield _edit(1, test, _not(test, source), source)
        case ast.comprehension(ifs=tests):
            yield from (_edit(0, test, _not(test, source), source) for test in tests)


def _not(test: ast.expr, source: _Source) -> str:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return f"({source.of(test.operand)})"
    return f"not ({source.of(test)})"


def _dropped(node: ast.AST, source: _Source) -> Iterator[_Edit]:
    match node:
        case ast.Expr(value=ast.Call() as call):
            yield _edit(3 if _is_talk(call) else 0, node, "pass", source)
        case ast.AugAssign():
            yield _edit(0, node, "pass", source)
        case ast.Assign() | ast.Raise() | ast.Delete() | ast.AnnAssign(value=ast.expr()):
            yield _edit(1, node, "pass", source)
        case ast.Break() | ast.Continue() | ast.Assert() | ast.Expr():
            yield _edit(2, node, "pass", source)


def _to_none(node: ast.AST, source: _Source) -> Iterator[_Edit]:
    if isinstance(node, ast.Return) and node.value is not None:
        yield _edit(0, node.value, "None", source)


def _off_by_one(node: ast.AST, source: _Source) -> Iterator[_Edit]:
    match node:
        case ast.Compare(left=left, comparators=[*_, right]):
            yield from _shifted(node, source)
            for side in (left, right):
                yield from (
                    _edit(1, number, _one_more(number, source), source) for number in _numbers(side, source)
                )
        case ast.Call(func=ast.Name(id="range"), args=[*_, last]) if not isinstance(last, ast.Starred):
            yield _edit(0, last, f"{source.of(last)} - 1", source)
        case ast.Call(func=ast.Name(id="len")):
            yield _edit(1, node, f"({source.of(node)} - 1)", source)
        case ast.Subscript(slice=place):
            yield from (
                _edit(0, number, _one_more(number, source), source) for number in _numbers(place, source)
            )
        case ast.BinOp(left=left, right=right):
            for side in (left, right):
                yield from (
                    _edit(1, number, _one_more(number, source), source) for number in _numbers(side, source)
                )
        case ast.Constant():
            yield from (
                _edit(2, number, _one_more(number, source), source) for number in _numbers(node, source)
            )


def _numbers(node: ast.expr, source: _Source) -> Iterator[ast.Constant]:
    """The whole numbers that `node` is or consists of, such as both ends of a slice."""
    parts: list[ast.expr | None] = [node]
    if isinstance(node, ast.Slice):
        parts = [node.lower, node.upper]
    for part in parts:
        inner = part.operand if isinstance(part, ast.UnaryOp) else part
        if isinstance(inner, ast.Constant) and source.of(inner).isdecimal():
            yield inner


def _one_more(number: ast.expr, source: _Source) -> str:
    digits = source.of(number)
    # Python turns no text of more digits than this into a number.
    return str(int(digits) + 1) if len(digits) < 4_000 else digits


def _shifted(node: ast.Compare, source: _Source) -> Iterator[_Edit]:
    left: ast.expr = node.left
    for sign, right in zip(node.ops, node.comparators, strict=True):
        if type(sign) in _SHIFTED:
            old, new = _SHIFTED[type(sign)]
            start, end = source.end(left), source.start(right)
            found = re.search(re.escape(old), source.between(start, end))
            if found:
                at = start + found.start()
                yield _Edit(0, at, at + len(old), new, right.lineno)
        left = right


def _swapped(node: ast.AST, source: _Source) -> Iterator[_Edit]:
    match node:
        case ast.Call(args=[first, second, *_]) if not any(isinstance(arg, ast.Starred) for arg in node.args):
            between = source.between(source.end(first), source.start(second))
            after = f"{source.of(second)}{between}{source.of(first)}"
            yield _Edit(
                2 if _is_talk(node) else 0, source.start(first), source.end(second), after, node.lineno
            )
        case ast.BinOp(left=left, right=right) if type(node.op) in _SIGNS:
            text = isinstance(left, (ast.Constant, ast.JoinedStr)) and isinstance(node.op, ast.Mod)
            after = f"(({source.of(right)}) {_SIGNS[type(node.op)]} ({source.of(left)}))"
            yield _edit(2 if text else 1, node, after, source)


def _edge_case(node: ast.AST, source: _Source) -> Iterator[_Edit]:
    """A branch that leaves early is gone: what it was for is treated like all else."""
    if isinstance(node, ast.If) and not node.orelse and isinstance(node.body[-1], _LEAVING):
        yield _edit(0 if len(node.body) == 1 else 1, node, "pass", source)


_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def _other_comparison(node: ast.AST, source: _Source) -> Iterator[_Edit]:
    if isinstance(node, ast.Compare):
        yield from _replaced_signs([node.left, *node.comparators], node.ops, _OTHER_COMPARISONS, source)


def _other_operator(node: ast.AST, source: _Source) -> Iterator[_Edit]:
    match node:
        case ast.BinOp(left=left, op=op, right=right):
            yield from _replaced_signs([left, right], [op], _OTHER_OPERATORS, source)
        case ast.BoolOp(op=op, values=values):
            yield from _replaced_signs(values, [op] * (len(values) - 1), _OTHER_OPERATORS, source)
        case ast.AugAssign(target=target, op=op, value=value):
            yield from _replaced_signs([target, value], [op], _OTHER_OPERATORS, source)


def _replaced_signs(
    sides: Sequence[ast.expr],
    signs: Sequence[ast.cmpop | ast.operator | ast.boolop],
    others: Mapping[type[Any], tuple[str, str]],
    source: _Source,
) -> Iterator[_Edit]:
    """The sign between each two sides as another one."""
    for (left, right), sign in zip(pairwise(sides), signs, strict=True):
        if type(sign) not in others:
            continue
        old, new = others[type(sign)]
        start, end = source.end(left), source.start(right)
        between = source.between(start, end)
        found = re.search(rf"\b{old}\b" if old.isalpha() else re.escape(old), between)
        if found and between[: found.start()].isascii() and "#" not in between[: found.start()]:
            at = start + found.start()
            yield _Edit(0, at, at + len(old), new, right.lineno)


def _is_talk(call: ast.Call) -> bool:
    name = getattr(call.func, "attr", None) or getattr(call.func, "id", "")
    return name in _TALK


def _edit(tier: int, node: ast.expr | ast.stmt, after: str, source: _Source) -> _Edit:
    return _Edit(tier, source.start(node), source.end(node), after, node.lineno)


_EDITS: Final[Mapping[Operator, Callable[[ast.AST, _Source], Iterator[_Edit]]]] = {
    Operator.NEGATED: _negated,
    Operator.DROPPED: _dropped,
    Operator.NONE: _to_none,
    Operator.OFF_BY_ONE: _off_by_one,
    Operator.SWAPPED: _swapped,
    Operator.EDGE_CASE: _edge_case,
    Operator.OPERATOR: _other_operator,
    Operator.COMPARISON: _other_comparison,
}
