"""Which assertions of a test program lead back to the candidate, read off the program's text.

A name leads back when a statement that mentions the candidate, or a name that leads back, also binds or
mentions it: `r = f(3)`, `f(items)`, `with capture() as out: f(3)`, `try: f(bad)` … `except E: raised =
True`. A function leads back when its body mentions such a name; its parameters do when a call anywhere
passes one. An attribute does everywhere once it was assigned such a value. Where the candidate is called for
what it does, as a statement of its own, an assertion leads back that looks at anything but constants: a file,
a log, a list that a stand-in fills. The rule errs towards yes, and the recorder counts such an assertion only
once the candidate has really run.

With each name go its origins: the lines of the statements through which it leads back. The call that an
assertion checks was made from one of them. While they are gathered they are bits of a number, one for each
statement: sets of lines would grow with the square of a program's length.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from sandbox.candidate.syntax import TooComplex
from sandbox.candidate.tree_nodes import (
    children_of,
    count_nodes,
    names_in,
    nodes_of_kind,
    statements_of,
    walk_tree_nodes,
)

Position = tuple[int, int]
Origins = tuple[tuple[int, ...], ...]
Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = Function | None
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# What these give depends on nothing but what they are given.
_PURE = frozenset(
    {
        *("abs", "all", "any", "bool", "bytes", "callable", "chr", "complex", "dict", "divmod", "enumerate"),
        *("filter", "float", "frozenset", "hash", "hex", "int", "isinstance", "issubclass", "iter", "len"),
        *("list", "map", "max", "min", "next", "ord", "pow", "range", "repr", "reversed", "round", "set"),
        *("sorted", "str", "sum", "tuple", "type", "zip", "Exception", "ValueError", "TypeError", "object"),
    }
)
# pytest's own, which are assertions without that word.
_RAISING = frozenset({"raises", "warns", "deprecated_call"})
_WITH_BLOCKS = frozenset(
    {
        *(*_FUNCTIONS, ast.ClassDef, ast.For, ast.AsyncFor, ast.While, ast.If, ast.With, ast.AsyncWith),
        *(ast.Try, ast.TryStar, ast.Match),
    }
)
_BRANCHES = (ast.For, ast.AsyncFor, ast.While, ast.If)
_MOST_ROUNDS = 20
# Nodes, each counted for every statement that it is in, in all rounds together. A long program has 20,000.
_MOST_WORK = 500_000
# Told of one name's origins at most, those before the assertion; and of all of them together.
_MOST_LINES, _MOST_LINES_OF_ALL = 300, 40_000
# Blocks alone end at Python's 100 levels of indentation; only a chain of elif goes further.
_DEEPEST = 200


def find_touching_assertions(tree: ast.Module, names: Iterable[str]) -> dict[Position, Origins]:
    """Line and column of every assertion (also calls of `…assert…`) that leads back to one of `names`.

    The value has the origins of each name in it, sorted lines. Of a program that nests deeper than anybody
    reads, there is none: its text says too little in too long a time. Raises TooComplex.
    """
    if _is_too_deep(tree):
        return {}
    scopes: dict[Scope, dict[str, int]] = {None: dict.fromkeys(names, 0)}
    scopes.update({node: {} for node in walk_tree_nodes(tree) if isinstance(node, _FUNCTIONS)})
    return dict(sorted(_Reach(tree, scopes).assertions()))


class _Reach:
    """`tainted` has the names that lead back, by scope, with the statements of their origins."""

    def __init__(self, tree: ast.Module, tainted: dict[Scope, dict[str, int]]) -> None:
        self._tree, self._tainted = tree, tainted
        self._functions = {scope.name: scope for scope in tainted if scope is not None}
        self._names: dict[ast.AST, tuple[str, ...]] = {}
        self._calls_in: dict[ast.stmt, list[tuple[Function, list[ast.AST]]]] = {}
        self._bound_in: dict[ast.stmt, tuple[frozenset[str], frozenset[str], frozenset[str]]] = {}
        self._origins = _OriginLines()
        self._has_grown = True
        work = _measure_work(tree)
        for done in range(_MOST_ROUNDS):
            if work * (done + 1) > _MOST_WORK:
                raise TooComplex("has too much inside of its blocks")
            self._has_grown = False
            self._visit(tree.body, None)
            if not self._has_grown:
                break

    @cached_property
    def _constants(self) -> frozenset[str]:
        return _constants(self._tree)

    def assertions(self) -> Iterator[tuple[Position, Origins]]:
        statements = [
            (statement, scope)
            for scope in self._tainted
            for statement in _flat(self._tree.body if scope is None else scope.body)
        ]
        done = tuple(sorted(self._called_for_what_it_does(statements)))
        for statement, scope in statements:
            if _is_assertion(statement):
                found = self._found(statement, scope)
                if not found and done and self._looks_around(statement):
                    yield (statement.lineno, statement.col_offset), (done,)
                if found:
                    # What is called is called before: its arguments have been evaluated when it begins.
                    own = self._origins.of(_lines(statement)) if isinstance(statement, ast.Expr) else 0
                    origins = {self._origins.lines(lines or own) for _, lines in found}
                    yield (statement.lineno, statement.col_offset), tuple(sorted(origins - {()}))

    def _called_for_what_it_does(self, statements: list[tuple[ast.stmt, Scope]]) -> Iterator[int]:
        """The lines of statements that call the candidate and bind nothing."""
        for statement, scope in statements:
            is_call = isinstance(statement, ast.Expr) and not _is_assertion(statement)
            if is_call and any(self._found(call.func, scope) for call in nodes_of_kind(statement, ast.Call)):
                yield from _lines(statement)

    def _looks_around(self, statement: ast.stmt) -> bool:
        """Whether it reads anything but constants and what is made of them."""
        names = {node.id for node in names_in(statement)}
        return bool(names - _PURE - self._constants - {"self"})

    def _visit(self, statements: list[ast.stmt], scope: Scope) -> None:
        for statement in statements:
            if type(statement) not in _WITH_BLOCKS:
                self._simple(statement, scope)
            elif isinstance(statement, _FUNCTIONS):
                self._decorators(statement, scope)
                self._visit(statement.body, statement)
                if any(self._found(inner, statement) for inner in statement.body):
                    self._add(scope, {statement.name}, 0)
            elif isinstance(statement, ast.ClassDef):
                self._visit(statement.body, scope)
            else:
                self._simple(statement, scope)
                for block in _blocks(statement):
                    self._visit(block, scope)

    def _decorators(self, function: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
        """What a decorator mentions, such as `parametrize("call", [f])`, the arguments may be."""
        given = [pair for decorator in function.decorator_list for pair in self._found(decorator, scope)]
        if given:
            self._add(function, _arguments(function), _joined(given))

    def _simple(self, statement: ast.stmt, scope: Scope) -> None:
        if not self._found(statement, scope):
            return
        if self._functions:
            self._calls(statement, scope)
        is_judgement = _is_assertion(statement) and not isinstance(statement, ast.With)
        if is_judgement or isinstance(statement, (ast.Import, ast.ImportFrom)):
            return
        lines = self._origins_of(statement, scope)
        if statement not in self._bound_in:
            self._bound_in[statement] = _bound_by(statement)
        own, inner, attributes = self._bound_in[statement]
        self._add(scope, own, lines)
        # What is set on the way through a try tells how the call in it ended.
        self._add(scope, inner, lines if isinstance(statement, ast.Try) else 0)
        self._add(None, attributes, lines)

    def _origins_of(self, statement: ast.stmt, scope: Scope) -> int:
        """The statements through which what this one binds leads back."""
        if not isinstance(statement, _BRANCHES):
            return _joined(self._found(statement, scope)) | self._origins.of(_lines(statement))
        # What a loop or a condition begins with owes nothing to the statements inside of it.
        found = [pair for head in _outside_blocks(statement) for pair in self._found(head, scope)]
        here = range(statement.lineno, statement.lineno + 1)
        return _joined(found) | self._origins.of(here) if found else 0

    def _calls(self, statement: ast.stmt, scope: Scope) -> None:
        if statement not in self._calls_in:
            self._calls_in[statement] = self._calls_of_functions(statement)
        for function, values in self._calls_in[statement]:
            given = [pair for value in values for pair in self._found(value, scope)]
            if given:
                lines = _joined(given) | self._origins.of(_lines(statement))
                self._add(function, _arguments(function), lines)

    def _calls_of_functions(self, statement: ast.stmt) -> list[tuple[Function, list[ast.AST]]]:
        """The program's functions that a statement calls, with what it gives them."""
        calls = nodes_of_kind(statement, ast.Call)
        found = ((self._functions.get(getattr(call.func, "id", "")), call) for call in calls)
        return [(function, [*call.args, *call.keywords]) for function, call in found if function is not None]

    def _found(self, node: ast.AST, scope: Scope) -> list[tuple[str, int]]:
        """The names in `node` that lead back, with their origins."""
        local, outer = self._tainted[scope], self._tainted[None]
        names = self._names.get(node)
        if names is None:
            names = self._names[node] = _names(node)
        return [
            (name, local.get(name, 0) | outer.get(name, 0))
            for name in names
            if name in local or name in outer
        ]

    def _add(self, scope: Scope, names: Iterable[str], lines: int) -> None:
        tainted = self._tainted[scope]
        for name in names:
            before = tainted.get(name, -1)
            tainted[name] = lines if before < 0 else before | lines
            self._has_grown |= tainted[name] != before


class _OriginLines:
    """Numbers the statements in the order of their lines' use, and finds the lines of many again."""

    def __init__(self) -> None:
        self._numbers: dict[range, int] = {}
        self._ranges: list[range] = []
        self._told: dict[int, tuple[int, ...]] = {}
        self._left = _MOST_LINES_OF_ALL

    def of(self, lines: range) -> int:
        """The bit that stands for a statement with these lines."""
        if lines not in self._numbers:
            self._numbers[lines] = len(self._ranges)
            self._ranges.append(lines)
        return 1 << self._numbers[lines]

    def lines(self, bits: int) -> tuple[int, ...]:
        """The lines that the bits stand for, sorted; of very many the last, and none once enough was told."""
        if bits not in self._told:
            self._told[bits] = self._last_lines(bits) if self._left > 0 else ()
            self._left -= len(self._told[bits])
        return self._told[bits]

    def _last_lines(self, bits: int) -> tuple[int, ...]:
        found = set[int]()
        while bits and len(found) < _MOST_LINES:
            number = bits.bit_length() - 1
            found.update(self._ranges[number][-_MOST_LINES:])
            bits ^= 1 << number
        return tuple(sorted(found)[-_MOST_LINES:])


def _constants(tree: ast.Module) -> frozenset[str]:
    """Names that are bound to constants alone."""
    others, found = set[str](), set[str]()
    for node in statements_of(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            found.update(target.id for target in node.targets if isinstance(target, ast.Name))
        else:
            others.update(_heads(node, _bound))
    return frozenset(found - others)


def _measure_work(tree: ast.Module) -> int:
    """The nodes below all statements: those in nested ones count for each that they are in."""
    return sum(count_nodes(statement) - 1 for statement in statements_of(tree))


def _joined(found: Iterable[tuple[str, int]]) -> int:
    bits = 0
    for _, lines in found:
        bits |= lines
    return bits


def _is_too_deep(tree: ast.Module) -> bool:
    waiting = [(tree.body, 0)]
    while waiting:
        statements, depth = waiting.pop()
        if depth > _DEEPEST:
            return True
        holders = [statement for statement in statements if type(statement) in _WITH_BLOCKS]
        waiting += [(block, depth + 1) for statement in holders for block in _blocks(statement) if block]
    return False


def _is_assertion(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.With):
        return any(_is_asserting(item.context_expr) for item in statement.items)
    if isinstance(statement, ast.Expr):
        return _is_asserting(statement.value)
    return isinstance(statement, ast.Assert)


def _is_asserting(node: ast.expr) -> bool:
    function = node.func if isinstance(node, ast.Call) else None
    name = getattr(function, "attr", None) or getattr(function, "id", "")
    return str(name).startswith("assert") or name in _RAISING


def _flat(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements with those inside their blocks and classes; functions are scopes of their own."""
    for statement in statements:
        yield statement
        if type(statement) in _WITH_BLOCKS and not isinstance(statement, _FUNCTIONS):
            for block in _blocks(statement):
                yield from _flat(block)


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        yield getattr(statement, field, [])
    for holder in (*getattr(statement, "handlers", []), *getattr(statement, "cases", [])):
        yield holder.body


def _names(node: ast.AST) -> tuple[str, ...]:
    """Names, and attributes that are read, as `.name`."""
    found = dict.fromkeys([name.id for name in names_in(node)])
    for attribute in nodes_of_kind(node, ast.Attribute):
        if isinstance(attribute.ctx, ast.Load):
            found[f".{attribute.attr}"] = None
    return tuple(found)


def _arguments(function: Function) -> set[str]:
    return {node.arg for node in nodes_of_kind(function.args, ast.arg)}


def _bound(node: ast.AST) -> Iterator[str]:
    return (name.id for name in names_in(node) if isinstance(name.ctx, ast.Store))


def _attributes(node: ast.AST) -> Iterator[str]:
    for inner in nodes_of_kind(node, ast.Attribute):
        if isinstance(inner.ctx, ast.Store):
            yield f".{inner.attr}"


def _bound_by(statement: ast.stmt) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The names that a statement binds, or may have changed, outside its blocks, and those that it binds in
    them; the attributes that it sets outside of them."""
    names = frozenset([*_heads(statement, _bound), *_mentioned_outside_blocks(statement)])
    inner = frozenset(_bound(statement)) - names if type(statement) in _WITH_BLOCKS else frozenset[str]()
    return names, inner, frozenset(_heads(statement, _attributes))


def _lines(statement: ast.stmt) -> range:
    return range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)


def _outside_blocks(statement: ast.stmt) -> list[ast.AST]:
    kinds = (ast.stmt, ast.ExceptHandler, ast.match_case)
    return [node for node in children_of(statement) if not isinstance(node, kinds)]


def _heads(statement: ast.stmt, find: Callable[[ast.AST], Iterator[str]]) -> Iterator[str]:
    for head in _outside_blocks(statement):
        yield from find(head)


def _mentioned_outside_blocks(statement: ast.stmt) -> Iterator[str]:
    """What a call may have changed in place: the names beside the candidate or in a block's head."""
    for head in _outside_blocks(statement):
        functions = {id(call.func) for call in nodes_of_kind(head, ast.Call)}
        yield from (node.id for node in names_in(head) if id(node) not in functions)
