"""Which assertions of a test program lead back to the candidate, read off the program's text.

A name leads back when a statement that mentions the candidate, or a name that leads back, also binds or
mentions it: `r = f(3)`, `f(items)`, `with capture() as out: f(3)`, `try: f(bad)` … `except E: raised =
True`. A function leads back when its body mentions such a name; its parameters do when a call anywhere
passes one. An attribute does everywhere once it was assigned such a value. The rule errs towards yes, and the
recorder counts such an assertion only once the candidate has really run.

With each name go its origins: the lines of the statements through which it leads back. The call that an
assertion checks was made from one of them.
"""

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from sandbox.syntax import walk

Position = tuple[int, int]
Origins = tuple[tuple[int, ...], ...]
Scope = ast.FunctionDef | ast.AsyncFunctionDef | None
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BRANCHES = (ast.For, ast.AsyncFor, ast.While, ast.If)
_MOST_ROUNDS = 20
# Blocks alone end at Python's 100 levels of indentation; only a chain of elif goes further.
_DEEPEST = 200


def touching(tree: ast.Module, names: Iterable[str]) -> dict[Position, Origins]:
    """Line and column of every assertion (also calls of `…assert…`) that leads back to one of `names`.

    The value has the origins of each name in it, sorted lines. Of a program that nests deeper than anybody
    reads, there is none: its text says too little in too long a time.
    """
    if _is_too_deep(tree):
        return {}
    scopes: dict[Scope, dict[str, frozenset[int]]] = {None: dict.fromkeys(names, frozenset())}
    scopes.update({node: {} for node in walk(tree) if isinstance(node, _FUNCTIONS)})
    return dict(sorted(_Reach(tree, scopes).assertions()))


class _Reach:
    """`tainted` has the names that lead back, by scope, with the lines of their origins."""

    def __init__(self, tree: ast.Module, tainted: dict[Scope, dict[str, frozenset[int]]]) -> None:
        self._tree, self._tainted = tree, tainted
        self._functions = {scope.name: scope for scope in tainted if scope is not None}
        self._names = cache(_names)
        self._calls_in = cache(_calls)
        for _ in range(_MOST_ROUNDS):
            before = {scope: dict(names) for scope, names in self._tainted.items()}
            self._visit(tree.body, None)
            if self._tainted == before:
                break

    def assertions(self) -> Iterator[tuple[Position, Origins]]:
        for scope in self._tainted:
            statements = self._tree.body if scope is None else scope.body
            for statement in _flat(statements):
                found = dict(self._found(statement, scope)) if _is_assertion(statement) else {}
                if found:
                    # What is called is called before: its arguments have been evaluated when it begins.
                    own = frozenset(_lines(statement) if isinstance(statement, ast.Expr) else ())
                    origins = {tuple(sorted(lines or own)) for lines in found.values()}
                    yield (statement.lineno, statement.col_offset), tuple(sorted(origins - {()}))

    def _visit(self, statements: list[ast.stmt], scope: Scope) -> None:
        for statement in statements:
            if isinstance(statement, _FUNCTIONS):
                self._visit(statement.body, statement)
                if any(self._leads_back(inner, statement) for inner in statement.body):
                    self._add(scope, {statement.name}, frozenset())
            elif isinstance(statement, ast.ClassDef):
                self._visit(statement.body, scope)
            else:
                self._simple(statement, scope)
                for block in _blocks(statement):
                    self._visit(block, scope)

    def _simple(self, statement: ast.stmt, scope: Scope) -> None:
        self._calls(statement, scope)
        if _is_assertion(statement) or isinstance(statement, (ast.Import, ast.ImportFrom)):
            return
        found = dict(self._found(statement, scope))
        if not found:
            return
        lines = self._origins(statement, scope)
        own = set(_heads(statement, _bound)) | set(_mentioned_outside_blocks(statement))
        self._add(scope, own, lines)
        # What is set on the way through a try tells how the call in it ended.
        inner = lines if isinstance(statement, ast.Try) else frozenset[int]()
        self._add(scope, set(_bound(statement)) - own, inner)
        self._add(None, set(_heads(statement, _attributes)), lines)

    def _origins(self, statement: ast.stmt, scope: Scope) -> frozenset[int]:
        """The lines through which what a statement binds leads back."""
        if not isinstance(statement, _BRANCHES):
            return frozenset(_lines(statement)).union(*dict(self._found(statement, scope)).values())
        # What a loop or a condition begins with owes nothing to the statements inside of it.
        heads = _outside_blocks(statement)
        found = [lines for head in heads for _, lines in self._found(head, scope)]
        return frozenset([statement.lineno]).union(*found) if found else frozenset()

    def _calls(self, statement: ast.stmt, scope: Scope) -> None:
        for call in self._calls_in(statement):
            function = self._functions.get(call.func.id) if isinstance(call.func, ast.Name) else None
            given = [pair for one in (*call.args, *call.keywords) for pair in self._found(one, scope)]
            if function is not None and given:
                arguments = {one.arg for one in walk(function.args) if isinstance(one, ast.arg)}
                self._add(function, arguments, frozenset(_lines(statement)).union(*dict(given).values()))

    def _leads_back(self, node: ast.AST, scope: Scope) -> bool:
        return any(True for _ in self._found(node, scope))

    def _found(self, node: ast.AST, scope: Scope) -> Iterator[tuple[str, frozenset[int]]]:
        """The names in `node` that lead back, with their origins."""
        local, outer = self._tainted[scope], self._tainted[None]
        for name in self._names(node):
            if name in local or name in outer:
                yield name, local.get(name, frozenset()) | outer.get(name, frozenset())

    def _add(self, scope: Scope, names: set[str], lines: frozenset[int]) -> None:
        tainted = self._tainted[scope]
        for name in names:
            tainted[name] = tainted.get(name, frozenset()) | lines


def _is_too_deep(tree: ast.Module) -> bool:
    waiting = [(tree.body, 0)]
    while waiting:
        statements, depth = waiting.pop()
        if depth > _DEEPEST:
            return True
        waiting.extend((block, depth + 1) for one in statements for block in _blocks(one) if block)
    return False


def _is_assertion(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        function = statement.value.func
        name = getattr(function, "attr", None) or getattr(function, "id", "")
        return str(name).startswith("assert")
    return isinstance(statement, ast.Assert)


def _flat(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements with those inside their blocks and classes; functions are scopes of their own."""
    for statement in statements:
        yield statement
        if not isinstance(statement, _FUNCTIONS):
            for block in _blocks(statement):
                yield from _flat(block)


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        yield getattr(statement, field, [])
    for holder in (*getattr(statement, "handlers", []), *getattr(statement, "cases", [])):
        yield holder.body


def _names(node: ast.AST) -> tuple[str, ...]:
    """Names, and attributes that are read, as `.name`."""
    found = []
    for inner in walk(node):
        if isinstance(inner, ast.Name):
            found.append(inner.id)
        elif isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Load):
            found.append(f".{inner.attr}")
    return tuple(dict.fromkeys(found))


def _calls(node: ast.AST) -> tuple[ast.Call, ...]:
    return tuple(inner for inner in walk(node) if isinstance(inner, ast.Call))


def _bound(node: ast.AST) -> Iterator[str]:
    for inner in walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
            yield inner.id


def _attributes(node: ast.AST) -> Iterator[str]:
    for inner in walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
            yield f".{inner.attr}"


def _lines(statement: ast.stmt) -> range:
    return range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)


def _outside_blocks(statement: ast.stmt) -> list[ast.AST]:
    kinds = (ast.stmt, ast.ExceptHandler, ast.match_case)
    return [node for node in ast.iter_child_nodes(statement) if not isinstance(node, kinds)]


def _heads(statement: ast.stmt, find: Callable[[ast.AST], Iterator[str]]) -> Iterator[str]:
    for head in _outside_blocks(statement):
        yield from find(head)


def _mentioned_outside_blocks(statement: ast.stmt) -> Iterator[str]:
    """What a call may have changed in place: the names beside the candidate or in a block's head."""
    for head in _outside_blocks(statement):
        functions = {id(call.func) for call in _calls(head)}
        for node in walk(head):
            if isinstance(node, ast.Name) and id(node) not in functions:
                yield node.id
