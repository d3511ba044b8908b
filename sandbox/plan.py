"""Reads a test program before it is run: where the candidate goes in, what to call, which assertions test it.

All of it is done by the caller, on syntax trees: inside the sandbox every import costs.
"""

import ast
from collections.abc import Iterator
from dataclasses import astuple, dataclass

from sandbox.candidate.constants import find_constants, find_declared_globals
from sandbox.candidate.fixed_names import (
    find_fixed_names,
    find_moving_names,
    find_plain_definitions,
    find_taken_built_ins,
)
from sandbox.candidate.name_rebinding import has_rebound_names
from sandbox.candidate.names import case_names
from sandbox.candidate.prelude import find_prelude
from sandbox.candidate.runners import find_calls, find_final_exit, find_pytest_tests
from sandbox.candidate.shared_values import find_readings, find_shared_comparisons
from sandbox.candidate.syntax import UNREADABLE, TooComplex, parse_python_source
from sandbox.candidate.touch_analysis import Origins, find_touching_assertions
from sandbox.candidate.tree_nodes import (
    children_of,
    forget_tree_nodes,
    keep_tree_nodes,
    nodes_of_kind,
    statements_of,
)
from sandbox.program import Program, list_test_functions, names_defined_in, subject_of

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_IN_BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


@dataclass(frozen=True, slots=True)
class AssertionPlace:
    """Where an assertion stands, its test case, and whether and through which lines it leads back."""

    line: int
    column: int
    case: str
    leads_back: bool
    origins: Origins


@dataclass(frozen=True, slots=True)
class ExecutionPlan:
    """How a program is executed: the statements of `prelude`, the candidate, the rest, then `calls`.

    `loops` are the candidate's, as first line of the function, first and last line of the loop. `alias`: the
    name that the program expects, and the one that the candidate has instead. `cases`, by name and whether
    the program defines it: each runs by itself, in place of `calls`. `slips` are the lines of assertions that
    can't fail. `final_exit`: first and last line of a `sys.exit(…)` after which nothing is left to run. Names
    that are `fixed` nobody but somebody else would change; those that are `moving` the program itself changes
    while the candidate runs in another thread. `plain` definitions nothing decorates. Of
    `taken_built_ins` the candidate has its own. `pytest`: the functions and classes that are left to it.
    `constants` are names of data that the program only reads, `shared` the comparisons all of whose sides the
    candidate gives or may have changed: line, column, and which sides it does not give. `readings`: names
    that these have, and those whose parts they were bound to. `declared`: names that the candidate declares
    as global, and the program binds at its top level.
    """

    names: tuple[str, ...]
    prelude: tuple[int, ...]
    calls: tuple[str, ...]
    places: tuple[AssertionPlace, ...]
    redefined: bool
    loops: tuple[tuple[int, int, int], ...] = ()
    alias: tuple[str, str] | None = None
    cases: tuple[tuple[str, bool], ...] = ()
    slips: tuple[int, ...] = ()
    final_exit: tuple[int, int] | None = None
    fixed: tuple[str, ...] = ()
    moving: tuple[str, ...] = ()
    plain: tuple[str, ...] = ()
    taken_built_ins: tuple[str, ...] = ()
    pytest: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    shared: tuple[tuple[int, int, tuple[int, ...]], ...] = ()
    readings: tuple[tuple[str, tuple[str, ...]], ...] = ()
    declared: tuple[str, ...] = ()

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
            "final_exit": self.final_exit,
            "fixed": self.fixed,
            "moving": self.moving,
            "plain": self.plain,
            "pytest": self.pytest,
            "constants": self.constants,
            "shared": self.shared,
            "readings": self.readings,
            "declared": self.declared,
        }


def plan_execution(program: Program) -> ExecutionPlan:
    """The plan of a program; one that does not parse gets an empty plan, and its own error when it runs.

    Raises TooComplex for one that can't be looked at in time: what is not known of it decides verdicts.
    """
    tree, candidate = _tree_of("program", program.source), _tree_of("candidate", program.code)
    try:
        return _plan(program, tree, candidate)
    except TooComplex as why:
        raise TooComplex(f"the program {why}") from why
    finally:
        for kept in (tree, candidate):
            if kept is not None:
                forget_tree_nodes(kept)


def _plan(program: Program, tree: ast.Module | None, candidate: ast.Module | None) -> ExecutionPlan:
    alias = _alias(program)
    names = (*names_defined_in(candidate), *([program.name] if alias else []))
    loops = tuple(_loops(candidate))
    cases = tuple(_cases(program))
    if tree is None:
        return ExecutionPlan(names, (), (), (), False, loops, alias, cases)
    taken, pytest = frozenset(names), find_pytest_tests(tree)
    calls = () if pytest else find_calls(tree)
    shared = find_shared_comparisons(tree, candidate, taken)
    return ExecutionPlan(
        names=names,
        prelude=find_prelude(tree, taken, candidate),
        calls=calls,
        places=tuple(_places(tree, program.source, names)),
        redefined=has_rebound_names(tree, taken),
        loops=loops,
        alias=alias,
        cases=cases,
        slips=tuple(_slips(tree)),
        fixed=find_fixed_names(tree, candidate, taken),
        moving=find_moving_names(tree),
        plain=find_plain_definitions(tree),
        taken_built_ins=find_taken_built_ins(tree, names),
        final_exit=None if calls or cases else find_final_exit(tree),
        pytest=pytest,
        constants=find_constants(tree, candidate, taken),
        shared=shared,
        readings=find_readings(tree, shared, taken),
        declared=tuple(sorted(find_declared_globals(tree, candidate))),
    )


def _alias(program: Program) -> tuple[str, str] | None:
    subject = subject_of(program.code) if program.name else None
    return (program.name, subject) if subject and subject != program.name else None


def _cases(program: Program) -> Iterator[tuple[str, bool]]:
    defined = list_test_functions(program.source) if program.cases else ()
    yield from ((name, name in defined) for name in dict.fromkeys(program.cases))


def _places(tree: ast.Module, source: str, names: tuple[str, ...]) -> Iterator[AssertionPlace]:
    cases = case_names(tree, source)
    origins = find_touching_assertions(tree, names)
    for node in statements_of(tree):
        if not isinstance(node, (ast.Assert, ast.Expr, ast.With)):
            continue
        place = node.lineno, node.col_offset
        if place in origins or node.lineno in cases:
            yield AssertionPlace(*place, cases.get(node.lineno, ""), place in origins, origins.get(place, ()))


def _loops(candidate: ast.Module | None) -> Iterator[tuple[int, int, int]]:
    if candidate is None or not any(nodes_of_kind(candidate, kind) for kind in _LOOPS):
        return
    waiting: list[tuple[ast.AST, int]] = [(candidate, 0)]
    while waiting:
        node, function = waiting.pop()
        if isinstance(node, _DEFINITIONS):
            function = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        elif isinstance(node, _LOOPS) and function:
            # Only the passes repeat: what comes in `else` follows the loop.
            yield function, node.lineno, node.body[-1].end_lineno or node.lineno
        # Nothing but a block has statements in it.
        waiting += [(child, function) for child in children_of(node) if isinstance(child, _IN_BLOCKS)]


def _tree_of(what: str, source: str) -> ast.Module | None:
    try:
        return keep_tree_nodes(parse_python_source(source))
    except TooComplex as why:
        raise TooComplex(f"the {what} {why}") from why
    except UNREADABLE:
        return None


def _slips(tree: ast.Module) -> Iterator[int]:
    """Lines of `assert (value, "message")`: a tuple that holds whatever the value is."""
    # In the order of a walk, in which a report tells of them.
    for node in statements_of(tree):
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Tuple) and node.test.elts:
            yield node.lineno
