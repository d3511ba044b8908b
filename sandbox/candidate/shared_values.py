"""Which comparisons of a test program have nothing that the candidate cannot have changed, read off its text.

`assert copy(items) == items` compares what the candidate gives with what it was given. Where it changes that,
a wrong result may be equal to it. A side that no call gives, and that no call was given, tells it apart.
"""

import ast
import builtins
import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator

from sandbox.candidate.constants import (
    bindings_in,
    find_binding,
    find_named_globals,
    find_reached,
    find_results,
)
from sandbox.candidate.tree_nodes import children_of, names_in, nodes_of_kind, statements_of

Comparison = tuple[int, int, tuple[int, ...]]
_EQUALITIES = frozenset(
    {
        *("assertEqual", "assertListEqual", "assertDictEqual", "assertSetEqual", "assertTupleEqual"),
        *("assertSequenceEqual", "assert_equal", "assertCountEqual", "assertAlmostEqual"),
        *("assert_array_equal", "assert_allclose", "assert_almost_equal", "assert_array_almost_equal"),
        *("assert_frame_equal", "assert_series_equal", "assert_index_equal"),
    }
)
_BUILT_IN = frozenset(dir(builtins))
_COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp)


def find_shared_comparisons(
    tree: ast.Module, candidate: ast.Module | None, names: frozenset[str]
) -> tuple[Comparison, ...]:
    """Line and column of each, and which of its operands the candidate may have changed, not given.

    With no operands, those that have a name of the module that the candidate mentions and something else to
    compare it with: the program itself then says what the candidate had to make of it.
    """
    results = find_results(tree, names)
    used = {*_names([tree])} - results - _BUILT_IN
    named = find_named_globals(candidate, used)
    shared = (_find_shared(tree, results) & used | named) - {*_imported(tree)}
    found = []
    # Without such a name there is no side that the candidate may have changed.
    for node, operands in _comparisons(tree) if shared else ():
        if isinstance(node, ast.Call) and not _is_judgement(node):
            in_call = _shared_in_call(node, results, shared)
            if in_call:
                found.append((node.lineno, node.col_offset, tuple(in_call)))
            continue
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
    for node in bindings_in(tree):
        value, targets = find_binding(node)
        if value is not None and not isinstance(node, ast.comprehension):
            for name in _names(targets):
                ways[name].update({*_names([value])} - results - _BUILT_IN)
    return tuple(
        (name, tuple(sorted(found)))
        for name in sorted(compared)
        if name in ways and (found := find_reached({**ways}, [name]) - {name})
    )


def _find_shared(tree: ast.Module, results: frozenset[str]) -> set[str]:
    """Names that a call of the candidate is given, and those that hold a part of the same."""
    ways = defaultdict[str | ast.AST, set[str | ast.AST]](set)
    given = set[str]()
    for call in nodes_of_kind(tree, ast.Call):
        if not results.isdisjoint(_names([call.func, *call.args])):
            given.update(_names([*call.args, *call.keywords]))
    for node in bindings_in(tree):
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


def _imported(tree: ast.Module) -> Iterator[str]:
    """The names of modules."""
    for node in nodes_of_kind(tree, ast.Import):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)


def _comparisons(tree: ast.Module) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    # In the order of a walk, which the harness is told of.
    for node in statements_of(tree):
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
                elif isinstance(one, ast.Call):
                    yield one, operands_of_call(one)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call = node.value
            if _is_judgement(call) and len(call.args) > 1:
                yield call, call.args[:2]


def _is_judgement(call: ast.Call) -> bool:
    return getattr(call.func, "attr", getattr(call.func, "id", "")) in _EQUALITIES


def operands_of_call(call: ast.Call) -> list[ast.expr]:
    """What a call compares, as far as anybody knows: what it is given, and what it is a method of."""
    owner = [call.func.value] if isinstance(call.func, ast.Attribute) else []
    return [*owner, *call.args]


def _shared_operands(operands: list[ast.expr], results: frozenset[str], shared: set[str]) -> list[int] | None:
    """The places of those that the candidate does not give; None where one has nothing to do with it.

    Of `0 < f(items) < len(items)` the first has not, but the second pair is compared for itself.
    """
    changed, are_apart = [], []
    for place, operand in enumerate(operands):
        names = set(_names([operand]))
        are_apart.append(results.isdisjoint(names) and shared.isdisjoint(names))
        if results.isdisjoint(names) and not are_apart[place]:
            changed.append(place)
    pairs = itertools.pairwise(are_apart)
    return None if all(one or other for one, other in pairs) and any(are_apart) else changed


def _shared_in_call(call: ast.Call, results: frozenset[str], shared: set[str]) -> list[int]:
    """The same of a call that is asserted, such as `np.array_equal(f(a), a)` or `f(table).equals(table)`.

    Of `all(f(items, x) == 2 * x for x in items)` nothing can be evaluated again: then it is that place.
    """
    operands = operands_of_call(call)
    for place, operand in enumerate(operands):
        if isinstance(operand, _COMPREHENSIONS) and not results.isdisjoint(_names([operand])):
            return [place] if _names_beside_calls(operand, results) & shared else []
    are_given = [not results.isdisjoint(_names([operand])) for operand in operands]
    changed = [
        place
        for place, operand in enumerate(operands)
        if not are_given[place] and not shared.isdisjoint(_names([operand]))
    ]
    is_method = isinstance(call.func, ast.Attribute)
    is_alone = all(are_given[place] or place in changed for place in range(int(is_method), len(operands)))
    return changed if any(are_given) and is_alone else []


def _names_beside_calls(comprehension: ast.expr, results: frozenset[str]) -> set[str]:
    """The names that calls of the candidate are given and that stand elsewhere, too."""
    given, beside, waiting = set[str](), set[str](), list[ast.AST]([comprehension])
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call) and not results.isdisjoint(_names([node.func])):
            given.update(_names([*node.args, *node.keywords]))
            continue
        if isinstance(node, ast.Name):
            beside.add(node.id)
        waiting.extend(children_of(node))
    bound = {node.id for node in names_in(comprehension) if isinstance(node.ctx, ast.Store)}
    return given & beside - bound


def _names(nodes: Iterable[ast.AST]) -> list[str]:
    return [name.id for node in nodes for name in names_in(node)]
