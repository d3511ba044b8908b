"""Which comparisons of a test program have nothing that the candidate cannot have changed, read off its text.

`assert copy(items) == items` compares what the candidate gives with what it was given. Where it changes that,
a wrong result may be equal to it. A side that no call gives, and that no call was given, tells it apart.
"""

import ast
import builtins
from collections import defaultdict
from collections.abc import Iterable, Iterator

from sandbox.candidate.constants import find_binding, find_named_globals, find_reached, find_results
from sandbox.candidate.syntax import walk_tree_nodes

__all__ = ["find_readings", "find_shared_comparisons"]

Comparison = tuple[int, int, tuple[int, ...]]
_EQUALITIES = frozenset(
    {
        *("assertEqual", "assertListEqual", "assertDictEqual", "assertSetEqual", "assertTupleEqual"),
        *("assertSequenceEqual", "assert_equal"),
    }
)


def find_shared_comparisons(
    tree: ast.Module, candidate: ast.Module | None, names: frozenset[str]
) -> tuple[Comparison, ...]:
    """Line and column of each, and which of its operands the candidate may have changed, not given.

    With no operands, those that have a name of the module that the candidate mentions and something else to
    compare it with: the program itself then says what the candidate had to make of it.
    """
    results = find_results(tree, names)
    named = find_named_globals(candidate) - results - {*dir(builtins)}
    shared = _find_shared(tree, results) - results - {*dir(builtins)} | named
    found = []
    for node, operands in _comparisons(tree):
        changed = _shared_operands(operands, results, shared)
        if changed or (changed is None and not named.isdisjoint(_names(operands))):
            found.append((node.lineno, node.col_offset, tuple(changed or ())))
    return tuple(found) if any(one[2] for one in found) else ()


def find_readings(
    tree: ast.Module, shared: tuple[Comparison, ...], names: frozenset[str]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The names that shared comparisons have, each with those whose parts it was bound to.

    `for key, wanted in table.items(): assert get(table, key) == wanted` has `wanted` of `table`.
    """
    if not shared:
        return ()
    sides_at = {(line, column): sides for line, column, sides in shared}
    compared = {
        name
        for node, operands in _comparisons(tree)
        for side in sides_at.get((node.lineno, node.col_offset), ())
        for name in _names([operands[side]])
    }
    results = find_results(tree, names)
    ways = defaultdict[str, set[str]](set)
    for node in walk_tree_nodes(tree):
        value, targets = find_binding(node)
        if value is not None and not isinstance(node, ast.comprehension):
            for name in _names(targets):
                ways[name].update({*_names([value])} - results - {*dir(builtins)})
    return tuple(
        (name, tuple(sorted(found)))
        for name in sorted(compared)
        if name in ways and (found := find_reached({**ways}, [name]) - {name})
    )


def _find_shared(tree: ast.Module, results: frozenset[str]) -> set[str]:
    """Names that a call of the candidate is given, and those that hold a part of the same."""
    ways = defaultdict[str | ast.AST, set[str | ast.AST]](set)
    given = set[str]()
    for node in walk_tree_nodes(tree):
        if isinstance(node, ast.Call) and not results.isdisjoint(_names([node.func, *node.args])):
            given.update(_names([*node.args, *node.keywords]))
        if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            names = {*_names([node.iter, node.target])}
        elif isinstance(node, ast.Assign):
            names = {*_names([node.value, *node.targets])}
        else:
            continue
        ways[node] |= names
        for name in names:
            ways[name].add(node)
    return {one for one in find_reached(ways, [*given]) if isinstance(one, str)}


def _comparisons(tree: ast.Module) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    for node in walk_tree_nodes(tree):
        if isinstance(node, ast.Assert):
            waiting = [node.test]
            while waiting:
                one = waiting.pop()
                if isinstance(one, ast.BoolOp):
                    waiting += one.values
                elif isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.Not):
                    waiting.append(one.operand)
                elif isinstance(one, ast.Compare):
                    yield one, [one.left, *one.comparators]
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call = node.value
            if getattr(call.func, "attr", getattr(call.func, "id", "")) in _EQUALITIES and len(call.args) > 1:
                yield call, call.args[:2]


def _shared_operands(operands: list[ast.expr], results: frozenset[str], shared: set[str]) -> list[int] | None:
    """The places of those that the candidate does not give; None where one has nothing to do with it."""
    changed = []
    for place, operand in enumerate(operands):
        names = set(_names([operand]))
        if results.isdisjoint(names):
            changed.append(place)
            if shared.isdisjoint(names):
                return None
    return changed


def _names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    return (inner.id for node in nodes for inner in walk_tree_nodes(node) if isinstance(inner, ast.Name))
