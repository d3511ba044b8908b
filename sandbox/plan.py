"""Reads a test program before it is run: where the candidate goes in, what to call, which assertions test it.

All of it is done by the caller, on syntax trees: inside the sandbox every import costs.
"""

import ast
from collections.abc import Iterator
from dataclasses import astuple, dataclass

from sandbox.naming import case_names
from sandbox.program import Program, candidate_names, functions, subject_of
from sandbox.rebinding import rebinds
from sandbox.syntax import parsed, walk
from sandbox.touching import Origins, touching

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Place:
    """Where an assertion stands, its test case, and whether and through which lines it leads back."""

    line: int
    column: int
    case: str
    leads_back: bool
    origins: Origins


@dataclass(frozen=True, slots=True)
class Plan:
    """How a program is executed: its first `prelude` statements, the candidate, the rest, then `calls`.

    `loops` are the candidate's, as first line of the function, first and last line of the loop. `alias`: the
    name that the program expects, and the one that the candidate has instead. `cases`, by name and whether
    the program defines it: each runs by itself, in place of `calls`.
    """

    names: tuple[str, ...]
    prelude: int
    calls: tuple[str, ...]
    places: tuple[Place, ...]
    redefined: bool
    loops: tuple[tuple[int, int, int], ...] = ()
    alias: tuple[str, str] | None = None
    cases: tuple[tuple[str, bool], ...] = ()

    def for_harness(self) -> dict[str, object]:
        """What of it the harness is told."""
        return {
            "names": self.names,
            "prelude": self.prelude,
            "calls": self.calls,
            "places": [astuple(place) for place in self.places],
            "loops": self.loops,
            "alias": self.alias,
            "cases": self.cases,
        }


def plan(program: Program) -> Plan:
    """The plan of a program; one that does not parse gets an empty plan, and its own error when it runs."""
    alias = _alias(program)
    names = (*candidate_names(program.candidate), *([program.name] if alias else []))
    loops = tuple(_loops(program.candidate))
    cases = tuple(_cases(program))
    try:
        tree = parsed(program.source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Plan(names, 0, (), (), False, loops, alias, cases)
    taken = frozenset(names)
    return Plan(
        names=names,
        prelude=_prelude(tree, taken),
        calls=_calls(tree),
        places=tuple(_places(tree, program.source, names)),
        redefined=rebinds(tree, taken),
        loops=loops,
        alias=alias,
        cases=cases,
    )


def _alias(program: Program) -> tuple[str, str] | None:
    subject = subject_of(program.candidate) if program.name else None
    return (program.name, subject) if subject and subject != program.name else None


def _cases(program: Program) -> Iterator[tuple[str, bool]]:
    defined = functions(program.source) if program.cases else ()
    yield from ((name, name in defined) for name in dict.fromkeys(program.cases))


def _places(tree: ast.Module, source: str, names: tuple[str, ...]) -> Iterator[Place]:
    cases = case_names(tree, source)
    origins = touching(tree, names)
    statements = (node for node in walk(tree) if isinstance(node, ast.Assert | ast.Expr))
    for node in statements:
        place = node.lineno, node.col_offset
        if place in origins or node.lineno in cases:
            yield Place(*place, cases.get(node.lineno, ""), place in origins, origins.get(place, ()))


def _loops(candidate: str) -> Iterator[tuple[int, int, int]]:
    try:
        tree = parsed(candidate)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    waiting: list[tuple[ast.AST, int]] = [(tree, 0)]
    while waiting:
        node, function = waiting.pop()
        if isinstance(node, _DEFINITIONS):
            function = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        elif isinstance(node, ast.For | ast.AsyncFor | ast.While) and function:
            # Only the passes repeat: what comes in `else` follows the loop.
            yield function, node.lineno, node.body[-1].end_lineno or node.lineno
        waiting.extend((child, function) for child in ast.iter_child_nodes(node))


def _prelude(tree: ast.Module, names: frozenset[str]) -> int:
    """How many leading statements only import, define and assign, without needing the candidate at once."""
    for index, statement in enumerate(tree.body):
        if not _prepares(statement) or any(name in names for name in _needed_at_once(statement)):
            return index
    return len(tree.body)


def _prepares(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.Try):
        return all(isinstance(one, ast.Import | ast.ImportFrom) for one in statement.body)
    simple = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.Assign, ast.AnnAssign)
    return isinstance(statement, (*_DEFINITIONS, *simple))


def _needed_at_once(statement: ast.AST) -> Iterator[str]:
    """Names that executing the statement reads: those in a function's body are read later."""
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        if isinstance(node, _DEFINITIONS):
            waiting.extend([*node.decorator_list, node.args])
        elif isinstance(node, ast.Lambda):
            waiting.append(node.args)
        else:
            waiting.extend(ast.iter_child_nodes(node))


def _calls(tree: ast.Module) -> tuple[str, ...]:
    """`main`, or without one the `test…` functions: where they need no argument and nothing names them."""
    named = {node.id for node in walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    functions = [node for node in tree.body if isinstance(node, _DEFINITIONS) and not _needs_arguments(node)]
    uncalled = list(dict.fromkeys(node.name for node in functions if node.name not in named))
    if "main" in uncalled:
        return ("main",)
    return tuple(name for name in uncalled if name.startswith("test")) if "main" not in named else ()


def _needs_arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    arguments = function.args
    required = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    return required > 0 or any(default is None for default in arguments.kw_defaults)
