"""Rewrites the assertions of a test program so that each tells the recorder what it compared.

`assert f(x) == y, why` becomes `assert R.end(R.begin(7), R.value(7, f(x)) == R.value(7, y)), why`, where 7 is
the site and R a constant of the compiled code: there is no name that the program could replace. The order of
evaluation, the laziness of the message and the number of evaluations stay as they were. A number or a text
that is compared stays as it is: the site has it.
`self.assertEqual(a, b)` and other calls of a foreign `assert…` become
`R.call(R.begin(7), self.assertEqual, a, b)`, and `with self.assertRaises(E):` becomes
`with R.context(7, self.assertRaises, E):`. pytest's `raises` and `warns` are assertions alike, and
`with expected:` is `with R.block(7, expected):` where a program names one of them. `WANTED = [1]` becomes
`WANTED = R.keep("WANTED", [1])` where the program only reads these data, and `class Test: WANTED = [1]` has
`R.keep("Test.WANTED", [1])`. `a, b = pair` becomes `a, b = R.bound("a b", pair)`, and `for a, b in pairs:`
begins with `R.bound("a b", None)`, where it has to be known when a name was bound.
"""

from __future__ import annotations

import _ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any, TypeVar

    Node = TypeVar("Node", _ast.expr, _ast.stmt)

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_COMPREHENSIONS = (_ast.GeneratorExp, _ast.ListComp, _ast.SetComp, _ast.DictComp)
_JUDGING = frozenset({"fail", "raises", "warns", "deprecated_call"})
_SOURCE_CHARACTERS = 300


class Again:
    """A comparison by itself, to be evaluated once more with what the candidate has changed put back.

    `given` are the places of the operands that it gave, whose values are used again: `0 given` is the first
    one's name in `code`. `sides` has the names in each other operand, `names` all of these; without
    `sides` one operand has nothing to do with the candidate, and `names` are those of all. `code` is None
    where the comparison can't be evaluated again. `judges`: it holds where it raises nothing; `owners` are
    the names of what it is a method of.
    """

    __slots__ = ("code", "count", "given", "judges", "names", "owners", "sides")

    def __init__(
        self, node: _ast.expr, operands: list[_ast.expr], shared: list[int], judges: bool = False
    ) -> None:
        self.count, places, self.judges = len(operands), range(len(operands)), judges
        self.given = [place for place in places if place not in shared]
        self.sides = [_names_in(operands[place]) for place in shared]
        self.names = set().union(*(self.sides or map(_names_in, operands)))
        again = [
            operands[place]
            if place in shared
            else _at(_ast.Name(f"{place} given", _ast.Load()), operands[place])
            for place in places
        ]
        self.code: CodeType | None = None
        self.owners = set[str]()
        if any(isinstance(operands[place], _COMPREHENSIONS) for place in shared):
            return
        if isinstance(node, _ast.Compare):
            whole: _ast.expr = _ast.Compare(again[0], [*node.ops], again[1:])
        else:
            assert isinstance(node, _ast.Call)
            function = node.func
            if isinstance(function, _ast.Attribute) and not judges:
                function = _at(_ast.Attribute(again.pop(0), function.attr, _ast.Load()), function)
            self.owners = _names_in(node.func) - self.names if judges else set()
            self.names |= self.owners
            whole = _ast.Call(
                function, again + node.args[len(operands) :] if judges else again, node.keywords
            )
        self.code = compile(_ast.Expression(_at(whole, node)), "<program>", "eval", dont_inherit=True)


class Site:
    """Where an assertion stands: its first line and column, and its text on one line.

    `leads_back`: its names lead back to the candidate; `origins` are, for each such name, the lines on which
    the candidate may have been called for it. `case` is the test case. `by_identity`: it compares by `is`
    alone; `is_equality`: it says that two values are equal, or that one is in the other; `is_strict`: it says
    of all that it compares that it is equal. `inner` has `is_equality` of each comparison that `and`, `or` or
    `not` combines with others; `again` has comparisons by their places there, -1 is the only one's.
    `constants` are compared values that stand in the text, with their places among the others: nobody needs
    to hand them over. `written`: of each compared value that is made of literals and calls, such as
    `[Point(1, 2)]`, the names that are called, and the literals.
    """

    __slots__ = (
        *(
            "again",
            "by_identity",
            "case",
            "column",
            "constants",
            "inner",
            "is_equality",
            "is_strict",
            "leads_back",
            "line",
            "lines",
        ),
        *("origins", "source", "written"),
    )

    def __init__(self, line: int, column: int, source: str) -> None:
        self.line, self.column, self.source, self.lines = line, column, source, range(line, line + 1)
        self.case, self.leads_back, self.by_identity, self.is_equality = "", False, False, False
        self.is_strict = True
        self.origins: list[list[int]] = []
        self.inner: list[bool | None] = []
        self.constants: list[tuple[int, object]] = []
        self.again: dict[int, Again] = {}
        self.written: list[tuple[set[str], list[object]]] = []


class Instrumenter:
    """Rewrites one module's tree in place; `sites` grows by one for each assertion found."""

    def __init__(
        self,
        source: str,
        sentinel: str,
        constants: list[str],
        shared: list[tuple[int, int, list[int]]],
        told: list[str],
    ) -> None:
        self._constants, self._told = frozenset(constants), frozenset(told)
        self._shared = {(line, column): operands for line, column, operands in shared}
        self.sites: list[Site] = []
        self._lines = source.splitlines()
        self._sentinel = sentinel
        self._own: set[str] = set()
        # The modules that statements import, wherever these stand.
        self.imports: set[str] = set()
        # `with expected:` may be one of pytest's.
        self._blocks = "raises" in source or "warns" in source

    def rewrite(self, tree: _ast.Module) -> None:
        """Assertions anywhere in the module; calls of helpers that it names assert… itself are left alone."""
        self._collect(tree.body)
        self._block(tree.body)
        if self._constants:
            self._keep(tree.body, "")
        if self._told:
            self._tell_bindings(tree.body)

    def _keep(self, statements: list[Any], owner: str) -> None:
        for statement in statements:
            if isinstance(statement, _ast.ClassDef) and not owner:
                self._keep(statement.body, f"{statement.name}.")
                continue
            target, value = _target(statement), getattr(statement, "value", None)
            name = owner + (getattr(target, "id", "") or getattr(target, "attr", ""))
            if name in self._constants and value is not None:
                statement.value = self._recorder("keep", [_constant(name, value), value], value)
            for field in _BLOCKS if owner else ():
                self._keep(getattr(statement, field, None) or [], owner)

    def _tell_bindings(self, statements: list[Any]) -> None:
        for statement in statements:
            target, value = _target(statement), getattr(statement, "value", None)
            names = " ".join(sorted(self._told & _names_in(target))) if target is not None else ""
            if names and isinstance(statement, (_ast.For, _ast.AsyncFor)):
                told = self._recorder("bound", [_constant(names, target), _constant(None, target)], target)
                statement.body.insert(0, _at(_ast.Expr(told), target))
            elif names and value is not None and not isinstance(statement, _ast.AugAssign):
                statement.value = self._recorder("bound", [_constant(names, value), value], value)
            for field in _BLOCKS:
                self._tell_bindings(getattr(statement, field, None) or [])

    def _learn_shared(
        self, site: int, place: int, node: _ast.expr, operands: list[_ast.expr], judges: bool = False
    ) -> None:
        shared = self._shared.get((node.lineno, node.col_offset))
        if shared is not None:
            self.sites[site].again[place] = Again(node, operands, shared, judges)

    def _collect(self, statements: list[Any]) -> None:
        for statement in statements:
            if isinstance(statement, (_ast.FunctionDef, _ast.AsyncFunctionDef)):
                self._own.add(statement.name)
            elif isinstance(statement, _ast.Import):
                self.imports.update(alias.name for alias in statement.names)
            elif isinstance(statement, _ast.ImportFrom) and statement.module and not statement.level:
                self.imports.add(statement.module)
            for field in _BLOCKS:
                self._collect(getattr(statement, field, None) or [])

    def _block(self, statements: list[Any]) -> None:
        for statement in statements:
            if isinstance(statement, _ast.Assert):
                self._assertion(statement)
            elif isinstance(statement, _ast.Expr) and isinstance(statement.value, _ast.Call):
                self._call(statement, statement.value)
            elif isinstance(statement, _ast.With):
                self._contexts(statement)
            for field in _BLOCKS:
                self._block(getattr(statement, field, None) or [])

    def _assertion(self, statement: _ast.Assert) -> None:
        site = self._site(statement, self._segment(statement))
        self._operands(site, statement.test)
        begin = self._recorder("begin", [_constant(site, statement.test)], statement.test)
        statement.test = self._recorder("end", [begin, statement.test], statement.test)

    def _operands(self, site: int, test: _ast.expr) -> None:
        negated = isinstance(test, _ast.UnaryOp)
        while isinstance(test, _ast.UnaryOp) and isinstance(test.op, _ast.Not):
            test = test.operand
        if isinstance(test, (_ast.BoolOp, _ast.Call)):
            self._inner_operands(site, test, not negated)
        elif isinstance(test, _ast.Compare):
            told = self.sites[site]
            self._learn_shared(site, -1, test, [test.left, *test.comparators])
            told.by_identity, told.is_equality = _is_by_identity(test), not negated and _is_equality(test)
            told.is_strict = not negated and _is_strict(test)
            told.written = _written([test.left, *test.comparators])
            # Of `a < b < 3` the last one may never be reached.
            is_one = len(test.comparators) == 1 and not told.by_identity
            test.left, *test.comparators = (
                self._compared(site, place, operand, is_one)
                for place, operand in enumerate([test.left, *test.comparators])
            )

    def _compared(self, site: int, place: int, operand: _ast.expr, is_reached: bool) -> _ast.expr:
        if is_reached and isinstance(operand, _ast.Constant):
            self.sites[site].constants.append((place, operand.value))
            return operand
        return self._recorder("value", [_constant(site, operand), operand], operand)

    def _inner_operands(self, site: int, test: _ast.expr, is_claimed: bool) -> None:
        """Comparisons that `and`, `or` and `not` combine; `is_claimed`: the assertion says that they hold."""
        if isinstance(test, _ast.BoolOp):
            self.sites[site].is_strict &= is_claimed and isinstance(test.op, _ast.And)
            for value in test.values:
                self._inner_operands(site, value, is_claimed)
        elif isinstance(test, _ast.UnaryOp) and isinstance(test.op, _ast.Not):
            self._inner_operands(site, test.operand, False)
        elif isinstance(test, _ast.Call):
            self._operands_of_call(site, test)
        elif isinstance(test, _ast.Compare) and not _is_by_identity(test):
            inner = self.sites[site].inner
            self._learn_shared(site, len(inner), test, [test.left, *test.comparators])
            inner.append(is_claimed and _is_equality(test))
            self.sites[site].is_strict &= is_claimed and _is_strict(test)
            place = _constant(len(inner) - 1, test)
            test.left = self._recorder("operand", [place, test.left], test.left)
            test.comparators = [self._recorder("operand", [place, one], one) for one in test.comparators]

    def _operands_of_call(self, site: int, call: _ast.Call) -> None:
        """Of a call that compares what the candidate may have changed: `np.array_equal(f(a), a)`."""
        if (call.lineno, call.col_offset) not in self._shared or any(map(_is_starred, call.args)):
            return
        owner = [call.func.value] if isinstance(call.func, _ast.Attribute) else []
        inner = self.sites[site].inner
        self._learn_shared(site, len(inner), call, [*owner, *call.args])
        inner.append(None)
        place = _constant(len(inner) - 1, call)
        if isinstance(call.func, _ast.Attribute):
            call.func.value = self._recorder("operand", [place, call.func.value], call.func.value)
        call.args = [self._recorder("operand", [place, one], one) for one in call.args]

    def _call(self, statement: _ast.Expr, call: _ast.Call) -> None:
        if self._is_foreign(call.func):
            number = self._site(statement, self._segment(statement))
            self._learn_shared(number, -1, call, call.args[:2], True)
            self.sites[number].written = _written(call.args[:2])
            begin = self._recorder("begin", [_constant(number, call.func)], call.func)
            statement.value = self._recorder("call", [begin, call.func, *call.args], call, call.keywords)

    def _contexts(self, statement: _ast.With) -> None:
        for item in statement.items:
            call = item.context_expr
            if isinstance(call, _ast.Call) and self._is_foreign(call.func):
                site = _constant(self._site(statement, ["with ", *self._segment(call)]), call.func)
                item.context_expr = self._recorder(
                    "context", [site, call.func, *call.args], call, call.keywords
                )
            elif self._blocks and isinstance(call, _ast.Name):
                site = _constant(self._site(statement, ["with ", *self._segment(call)]), call)
                item.context_expr = self._recorder("block", [site, call], call)

    def _is_foreign(self, function: _ast.expr) -> bool:
        name: str = getattr(function, "attr", "") or getattr(function, "id", "")
        return (name.startswith("assert") or name in _JUDGING) and name not in self._own

    def _site(self, statement: _ast.stmt, segment: list[str]) -> int:
        text = " ".join(line.strip() for line in segment)
        self.sites.append(Site(statement.lineno, statement.col_offset, text[:_SOURCE_CHARACTERS]))
        self.sites[-1].lines = range(statement.lineno, (statement.end_lineno or statement.lineno) + 1)
        return len(self.sites) - 1

    def _segment(self, statement: _ast.stmt | _ast.expr) -> list[str]:
        # Columns count UTF-8 bytes, which need not fall on characters once a form feed has split a line.
        end_line, end = statement.end_lineno or statement.lineno, statement.end_col_offset or 0
        lines = [line.encode() for line in self._lines[statement.lineno - 1 : end_line]]
        if lines:
            lines[-1] = lines[-1][:end]
            lines[0] = lines[0][statement.col_offset :]
        return [line.decode(errors="replace") for line in lines]

    def _recorder(
        self,
        method: str,
        arguments: list[_ast.expr],
        place: _ast.expr,
        keywords: list[_ast.keyword] | None = None,
    ) -> _ast.expr:
        constant = _constant(self._sentinel, place)
        function = _at(_ast.Attribute(constant, method, _ast.Load()), place)
        return _at(_ast.Call(function, arguments, keywords or []), place)


def _is_starred(node: _ast.expr) -> bool:
    return isinstance(node, _ast.Starred)


def _is_by_identity(test: _ast.Compare) -> bool:
    return all(isinstance(one, (_ast.Is, _ast.IsNot)) for one in test.ops)


def _is_equality(test: _ast.Compare) -> bool:
    return any(isinstance(one, (_ast.Eq, _ast.In)) for one in test.ops)


def _written(operands: list[_ast.expr]) -> list[tuple[set[str], list[object]]]:
    return [found for operand in operands if (found := _made_of(operand)) is not None and all(found)]


def _made_of(operand: _ast.expr) -> tuple[set[str], list[object]] | None:
    """The names that an expression calls and its literals; None if there is anything else in it."""
    names, literals, waiting = set[str](), list[object](), [operand]
    while waiting:
        one: Any = waiting.pop()
        if isinstance(one, _ast.Constant):
            literals.append(one.value)
        elif isinstance(one, _ast.Call) and isinstance(one.func, _ast.Name):
            names.add(one.func.id)
            waiting += [*one.args, *(keyword.value for keyword in one.keywords)]
        elif isinstance(one, (_ast.List, _ast.Tuple, _ast.Set)):
            waiting += one.elts
        elif isinstance(one, _ast.Dict) and all(one.keys):
            waiting += [*filter(None, one.keys), *one.values]
        else:
            return None
    return names, literals


def _is_strict(test: _ast.Compare) -> bool:
    return all(isinstance(one, _ast.Eq) for one in test.ops)


def _target(statement: Any) -> Any:
    """What a statement binds first: of `a = b = 1` that is `a`."""
    return (getattr(statement, "targets", None) or [getattr(statement, "target", None)])[0]


def _names_in(node: _ast.AST) -> set[str]:
    waiting, found = [node], set[str]()
    while waiting:
        one: Any = waiting.pop()
        if isinstance(one, _ast.Name):
            found.add(one.id)
        for field in one._fields:
            value = getattr(one, field, None)
            waiting += [
                part for part in (value if isinstance(value, list) else [value]) if isinstance(part, _ast.AST)
            ]
    return found


def _constant(value: int | str | None, place: _ast.expr) -> _ast.expr:
    return _at(_ast.Constant(value), place)


def _at(node: Node, place: _ast.expr) -> Node:
    node.lineno, node.col_offset = place.lineno, place.col_offset
    node.end_lineno, node.end_col_offset = place.end_lineno, place.end_col_offset
    return node
