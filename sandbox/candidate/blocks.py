"""Blocks of code, put into a function so that a test can call them.

A block is Python that defines no function and no class at its top level: lines cut out of one, or a script.
What it needs and does not have becomes a parameter; what it assigns or prints last is returned. Nothing is
run here. The text that people see stays as it was.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from sandbox.candidate.syntax import UNREADABLE, parse_python_source
from sandbox.candidate.unbound import Kind, find_unbound_names

RUN_BLOCK: Final = "run_block"
"""The function that a block is put into; a test that names it is meant for that form."""
PRINTED: Final = "_printed"
MOST_PARAMETERS: Final = 20
LONGEST_BLOCK: Final = 50_000
BLOCKS_KEPT: Final = 256
INDENT: Final = "    "
CHANGES: Final = frozenset(
    {"add", "append", "clear", "extend", "insert", "remove", "reverse", "sort", "update"}
)
"""Methods that change their object and give nothing back."""
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_ASYNC = (ast.Await, ast.AsyncFor, ast.AsyncWith)
_SAYS_NOTHING = (ast.Import, ast.ImportFrom, ast.Pass)
_BUILTINS: Final = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__"}


@dataclass(frozen=True, slots=True)
class Block:
    """A block as a function; `code` is empty where it can't be one, and `problem` says why.

    `gives` says what it returns, empty where it returns nothing. `keeps_lines`: line n of the block is line
    n + 1 of the function.
    """

    code: str = ""
    parameters: tuple[str, ...] = ()
    gives: str = ""
    problem: str = ""
    keeps_lines: bool = False

    @property
    def note(self) -> str:
        """What an agent is told of it, in a sentence or two."""
        if self.problem:
            return (
                f"The snippet is a block of code, not a function, and no test can call it: {self.problem}. "
                "Judge it by reading."
            )
        needs, gives = "it takes nothing", "it returns nothing: look at what it prints or changes"
        if self.parameters:
            needs = f"what it uses and does not have is given as {', '.join(self.parameters)}"
        if self.gives:
            gives = f"it returns {self.gives}"
        return (
            f"The snippet is a block of code, shown inside a function of ours, {RUN_BLOCK}, so that a test "
            f"can call it: {needs}, and {gives}. The function is not part of what is judged."
        )


@lru_cache(BLOCKS_KEPT)
def read_block(text: str) -> Block | None:
    """The block that a candidate is; None where it is none: it has a function, or can't be read."""
    if len(text) > LONGEST_BLOCK:
        return None
    try:
        return _read_tree(parse_python_source(text), text)
    except UNREADABLE:
        return None


def _read_tree(tree: ast.Module, text: str) -> Block | None:
    if not _is_block(tree):
        return None
    problem = _find_problem(tree)
    needs = _find_needs(tree, text)
    if len(needs) > MOST_PARAMETERS:
        problem = f"it needs more than {MOST_PARAMETERS} names that it does not have"
    if problem:
        return Block(problem=problem)
    gives, end = _find_end(tree, frozenset(needs))
    keeps_lines = _may_keep_lines(tree)
    before = _body_lines(tree, text) if keeps_lines else [INDENT + line for line in _unparse(tree.body[:-1])]
    head = f"def {RUN_BLOCK}({', '.join(needs)}):"
    return Block("\n".join([head, *before, *end]) + "\n", needs, gives, keeps_lines=keeps_lines)


def code_that_runs(candidate: str, source: str) -> str:
    """The candidate as it runs for this test: a block as a function, where the test names that."""
    block = read_block(candidate) if RUN_BLOCK in source else None
    return block.code if block and block.code else candidate


def _is_block(tree: ast.Module) -> bool:
    """Whether it defines nothing that a test can call, and does something."""
    if any(isinstance(statement, _DEFINES) or _is_lambda(statement) for statement in tree.body):
        return False
    return any(not isinstance(one, _SAYS_NOTHING) and not _is_text(one) for one in tree.body)


def _is_lambda(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda)


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _find_problem(tree: ast.Module) -> str:
    """Why it can't be put into a function; empty where it can."""
    for node in ast.walk(tree):
        if isinstance(node, _ASYNC):
            return "it awaits something"
        if isinstance(node, ast.ImportFrom) and any(name.name == "*" for name in node.names):
            return "it imports all names of a module"
        if isinstance(node, ast.Nonlocal):
            return "it changes names of a function around it"
        if isinstance(node, ast.Name) and node.id == "__name__":
            return "it asks whether it is run as a script"
    return ""


def _find_needs(tree: ast.Module, text: str) -> tuple[str, ...]:
    """Names that it reads before it has them, in order, without modules that an import would bring."""
    reader = _Reader()
    for statement in tree.body:
        reader.visit(statement)
    found = find_unbound_names(text).names
    # A library has that name, so its use decides: `path.join(a)` needs an import, `open(path)` a value.
    elsewhere = {name.name for name in found if name.kind is not Kind.PROJECT} & reader.used
    return tuple(
        name
        for name in reader.needed
        if name not in _BUILTINS and (name in reader.bound or name not in elsewhere)
    )


class _Reader(ast.NodeVisitor):
    """Goes through statements in the order in which they run; what is read before it is bound is needed."""

    def __init__(self) -> None:
        self.bound: set[str] = set()
        self.needed: dict[str, None] = {}
        self.used: set[str] = set()
        """Names that are called, or whose attributes are read."""

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Store):
            self.bound.add(node.id)
        elif node.id not in self.bound:
            self.needed.setdefault(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.used.update([node.value.id] if isinstance(node.value, ast.Name) else [])
        self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        self.used.update([node.func.id] if isinstance(node.func, ast.Name) else [])
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._visit_all(node.value, *node.targets)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self._visit_all(*([node.value] if node.value else []), node.target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name) and node.target.id not in self.bound:
            self.needed.setdefault(node.target.id)
        self._visit_all(node.value, node.target)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self._visit_all(node.value, node.target)

    def visit_For(self, node: ast.For) -> None:
        self._visit_all(node.iter, node.target, *node.body, *node.orelse)

    def visit_alias(self, node: ast.alias) -> None:
        self.bound.add((node.asname or node.name).partition(".")[0])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.bound.update([node.name] if node.name else [])
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self._visit_all(node.iter, node.target, *node.ifs)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._visit_all(*node.generators, node.elt)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._visit_all(*node.generators, node.elt)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._visit_all(*node.generators, node.elt)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._visit_all(*node.generators, node.key, node.value)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_function(node.args, [node.body])

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.bound.add(node.name)
        self._visit_function(node.args, node.body)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.bound.add(node.name)
        self.generic_visit(node)

    def _visit_function(self, given: ast.arguments, body: list[ast.expr] | list[ast.stmt]) -> None:
        """What a function inside of the block binds is not the block's."""
        before = set(self.bound)
        names = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        self._visit_all(*given.defaults, *(default for default in given.kw_defaults if default))
        self.bound.update(name.arg for name in names if name)
        self._visit_all(*body)
        self.bound = before

    def _visit_all(self, *nodes: ast.AST) -> None:
        for node in nodes:
            self.visit(node)


def _find_end(tree: ast.Module, needs: frozenset[str]) -> tuple[str, list[str]]:
    """What is returned, and the last statement as it then stands, indented."""
    last = tree.body[-1]
    value = last.value if isinstance(last, ast.Expr) else None
    if isinstance(value, ast.Call) and _is_print(value) and value.args:
        return "what it prints last", [INDENT + line for line in _print_and_return(value)]
    if value is not None and not _changed_by(value) and not _is_print(value):
        return "its last expression", [f"{INDENT}return {ast.unparse(value)}"]
    whole = [INDENT + line for line in ast.unparse(last).splitlines()]
    names = list(dict.fromkeys(_given_by(last)))
    reader = _Reader()
    may_not_run = _is_compound(last) and not isinstance(last, ast.With)
    for statement in tree.body[:-1] if may_not_run else tree.body:
        reader.visit(statement)
    sure = [name for name in names if name in reader.bound or name in needs]
    if not sure:
        return "", whole
    return ", ".join(sure), [*whole, f"{INDENT}return {', '.join(sure)}"]


def _print_and_return(value: ast.Call) -> list[str]:
    """A call of print that gives its values back: one value, or a tuple of several."""
    shown = ", ".join(map(ast.unparse, value.args))
    more = "".join(f", {ast.unparse(keyword)}" for keyword in value.keywords)
    if len(value.args) == 1 and not isinstance(value.args[0], ast.Starred):
        return [f"{PRINTED} = {shown}", f"print({PRINTED}{more})", f"return {PRINTED}"]
    return [f"{PRINTED} = ({shown},)", f"print(*{PRINTED}{more})", f"return {PRINTED}"]


def _is_print(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "print"


def _is_compound(statement: ast.stmt) -> bool:
    return bool(getattr(statement, "body", None))


def _changed_by(value: ast.expr) -> str:
    """The name whose object a call such as `found.append(x)` changes; empty where none is."""
    if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute)):
        return ""
    return _root_of(value.func.value) if value.func.attr in CHANGES else ""


def _root_of(node: ast.AST) -> str:
    """The name at the beginning of `name`, `name.part` and `name[key]`."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _given_by(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement assigns or changes last."""
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign | ast.AugAssign):
        targets = [statement.target]
    elif isinstance(statement, ast.Expr):
        yield from filter(None, [_changed_by(statement.value)])
    elif _is_compound(statement):
        yield from _given_by(statement.body[-1])  # type: ignore[attr-defined]
    for target in targets:
        parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
        yield from filter(None, map(_root_of, parts))


def _may_keep_lines(tree: ast.Module) -> bool:
    """Whether the lines before the last statement may be indented as they are.

    They may not where two statements share a line, or a text goes on in another one: its blanks would change.
    """
    before = tree.body[:-1]
    shared = any(one.end_lineno == other.lineno for one, other in zip(before, tree.body[1:], strict=True))
    return not shared and not any(map(_has_long_text, before))


def _body_lines(tree: ast.Module, text: str) -> list[str]:
    """The lines before the last statement, indented, with their comments."""
    lines = text.splitlines()[: tree.body[-1].lineno - 1]
    return [INDENT + line if line.strip() else "" for line in lines]


def _unparse(statements: list[ast.stmt]) -> list[str]:
    return ast.unparse(ast.Module(statements, [])).splitlines()


def _has_long_text(statement: ast.stmt) -> bool:
    return any(
        isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno != node.lineno
        for node in ast.walk(statement)
    )
