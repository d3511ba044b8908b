"""Rewrites the assertions of a test program so that each tells the recorder what it compared.

`assert f(x) == 3, why` becomes `assert R.end(R.begin(7), R.value(7, f(x)) == R.value(7, 3)), why`, where 7 is
the site and R a constant of the compiled code: there is no name that the program could replace. The order of
evaluation, the laziness of the message and the number of evaluations stay as they were.
`self.assertEqual(a, b)` and other calls of a foreign `assert…` become `R.call(7, self.assertEqual, a, b)`.
"""

from __future__ import annotations

import _ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
_SOURCE_CHARACTERS = 300


class Site:
    """Where an assertion stands: its first line and column, and its text on one line.

    `leads_back`: its names lead back to the candidate; `origins` are, for each such name, the lines on which
    the candidate may have been called for it. `case` is the test case.
    """

    __slots__ = ("case", "column", "leads_back", "line", "origins", "source")

    def __init__(self, line: int, column: int, source: str) -> None:
        self.line, self.column, self.source = line, column, source
        self.case, self.leads_back = "", False
        self.origins: list[list[int]] = []


class Instrumenter:
    """Rewrites one module's tree in place; `sites` grows by one for each assertion found."""

    def __init__(self, source: str, sentinel: str) -> None:
        self.sites: list[Site] = []
        self._lines = source.splitlines()
        self._sentinel = sentinel
        self._own: set[str] = set()

    def rewrite(self, tree: _ast.Module) -> None:
        """Assertions anywhere in the module; calls of helpers that it names assert… itself are left alone."""
        self._collect(tree.body)
        self._block(tree.body)

    def _collect(self, statements: list[Any]) -> None:
        for statement in statements:
            if isinstance(statement, (_ast.FunctionDef, _ast.AsyncFunctionDef)):
                self._own.add(statement.name)
            for field in _BLOCKS:
                self._collect(getattr(statement, field, None) or [])

    def _block(self, statements: list[Any]) -> None:
        for statement in statements:
            if isinstance(statement, _ast.Assert):
                self._assertion(statement)
            elif isinstance(statement, _ast.Expr) and isinstance(statement.value, _ast.Call):
                self._call(statement, statement.value)
            for field in _BLOCKS:
                self._block(getattr(statement, field, None) or [])

    def _assertion(self, statement: _ast.Assert) -> None:
        site = self._site(statement)
        self._operands(site, statement.test)
        begin = self._recorder("begin", [_constant(site, statement.test)], statement.test)
        statement.test = self._recorder("end", [begin, statement.test], statement.test)

    def _operands(self, site: int, test: _ast.expr) -> None:
        while isinstance(test, _ast.UnaryOp) and isinstance(test.op, _ast.Not):
            test = test.operand
        if isinstance(test, _ast.Compare):
            test.left = self._recorder("value", [_constant(site, test.left), test.left], test.left)
            for index, operand in enumerate(test.comparators):
                test.comparators[index] = self._recorder(
                    "value", [_constant(site, operand), operand], operand
                )

    def _call(self, statement: _ast.Expr, call: _ast.Call) -> None:
        function = call.func
        name: str = getattr(function, "attr", "") or getattr(function, "id", "")
        if name.startswith("assert") and name not in self._own:
            site = _constant(self._site(statement), function)
            statement.value = self._recorder("call", [site, function, *call.args], call, call.keywords)

    def _site(self, statement: _ast.stmt) -> int:
        text = " ".join(line.strip() for line in self._segment(statement))
        self.sites.append(Site(statement.lineno, statement.col_offset, text[:_SOURCE_CHARACTERS]))
        return len(self.sites) - 1

    def _segment(self, statement: _ast.stmt) -> list[str]:
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


def linked(code: CodeType, sentinel: str, recorder: object) -> CodeType:
    """The same code with the recorder itself where the sentinel stood."""
    constants = tuple(
        linked(constant, sentinel, recorder)
        if isinstance(constant, type(code))
        else recorder
        if type(constant) is str and constant == sentinel
        else constant
        for constant in code.co_consts
    )
    return code.replace(co_consts=constants)


def _constant(value: int | str, place: _ast.expr) -> _ast.expr:
    return _at(_ast.Constant(value), place)


def _at(node: _ast.expr, place: _ast.expr) -> _ast.expr:
    node.lineno, node.col_offset = place.lineno, place.col_offset
    node.end_lineno, node.end_col_offset = place.end_lineno, place.end_col_offset
    return node
