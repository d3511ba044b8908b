"""Which names of a test program stay what they are, as its text has it: only someone else changes them."""

import ast
import builtins
from collections import Counter
from collections.abc import Iterator

from sandbox.candidate.syntax import children_of, walk_tree_nodes

__all__ = ["find_fixed_names", "find_moving_names", "find_plain_definitions", "find_taken_built_ins"]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)


def find_fixed_names(
    tree: ast.Module, candidate: ast.Module | None, names: frozenset[str]
) -> tuple[str, ...]:
    """Names that the program binds at its top level, and no function of it or of the candidate does."""
    declared = {
        name
        for one in (tree, candidate)
        for node in (walk_tree_nodes(one) if one else ())
        if isinstance(node, ast.Global)
        for name in node.names
    }
    return tuple(sorted({*_names_bound_in(tree)} - declared - names))


def find_moving_names(tree: ast.Module) -> tuple[str, ...]:
    """Names that the program itself may bind anew while the candidate runs in another thread."""
    counts = Counter(_names_bound_in(tree))
    loops = (node for node in _nodes_of(tree) if isinstance(node, (ast.For, ast.AsyncFor, ast.While)))
    bound = {name for loop in loops for name in _names_bound_in(loop)}
    return tuple(sorted({name for name, count in counts.items() if count > 1} | bound))


def find_taken_built_ins(tree: ast.Module, names: tuple[str, ...]) -> tuple[str, ...]:
    """Built-in names that the candidate defines beside another name, and that the program uses."""
    used = {node.id for node in walk_tree_nodes(tree) if isinstance(node, ast.Name)}
    if len(used.intersection(names)) < 2:
        return ()
    return tuple(name for name in names if name in used and hasattr(builtins, name))


def find_plain_definitions(tree: ast.Module) -> tuple[str, ...]:
    """Functions, and methods as `Class.method`, that one undecorated definition makes."""
    counts = Counter(_names_bound_in(tree))
    found = []
    for node in _undecorated(tree.body):
        if counts[node.name] == 1 and isinstance(node, _FUNCTIONS):
            found.append(node.name)
        elif counts[node.name] == 1:
            members = Counter(_names_bound_in(node))
            methods = (one.name for one in _undecorated(node.body) if isinstance(one, _FUNCTIONS))
            found += [f"{node.name}.{name}" for name in methods if members[name] == 1]
    return tuple(found)


def _undecorated(body: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    return (one for one in body if isinstance(one, _DEFINITIONS) and not one.decorator_list)


def _names_bound_in(scope: ast.AST) -> Iterator[str]:
    """Every binding of a name in a scope's own block."""
    for node in _nodes_of(scope):
        if isinstance(node, _DEFINITIONS):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            yield node.id
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]


def _nodes_of(scope: ast.AST) -> Iterator[ast.AST]:
    """What stands in a scope's own block, definitions without what is in them."""
    waiting = list(children_of(scope))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (*_DEFINITIONS, ast.Lambda)):
            waiting.extend(children_of(node))
