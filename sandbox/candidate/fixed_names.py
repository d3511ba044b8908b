"""Which names of a test program stay what they are, as its text has it: only someone else changes them."""

import ast
import builtins
from collections import Counter
from collections.abc import Iterator

from sandbox.candidate.tree_nodes import answer_once, names_in, nodes_of_kind, own_nodes

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def find_fixed_names(
    tree: ast.Module, candidate: ast.Module | None, names: frozenset[str]
) -> tuple[str, ...]:
    """Names that the program binds at its top level, and no function of it or of the candidate does.

    What the program imports or defines is not the candidate's to bind, whatever that declares.
    """
    declared = _declared_in(tree)
    if candidate:
        declared |= _declared_in(candidate) - {*_names_of_definitions(tree)}
    return tuple(sorted({*_count_bindings(tree)} - declared - names))


def _declared_in(tree: ast.Module) -> set[str]:
    return {name for node in nodes_of_kind(tree, ast.Global) for name in node.names}


def _names_of_definitions(tree: ast.Module) -> Iterator[str]:
    """Of definitions and imports at the top level."""
    for statement in tree.body:
        if isinstance(statement, _DEFINITIONS):
            yield statement.name
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)


def find_moving_names(tree: ast.Module) -> tuple[str, ...]:
    """Names that the program itself may bind anew while the candidate runs in another thread."""
    twice = {name for name, count in _count_bindings(tree).items() if count > 1}
    has_loops = any(nodes_of_kind(tree, kind) for kind in _LOOPS)
    loops = [node for node in own_nodes(tree) if isinstance(node, _LOOPS)] if has_loops else []
    return tuple(sorted(twice.union(*map(_count_bindings_in, loops))))


def find_taken_built_ins(tree: ast.Module, names: tuple[str, ...]) -> tuple[str, ...]:
    """Built-in names that the candidate defines beside another name, and that the program uses."""
    used = {node.id for node in names_in(tree)}
    if len(used.intersection(names)) < 2:
        return ()
    return tuple(name for name in names if name in used and hasattr(builtins, name))


def find_plain_definitions(tree: ast.Module) -> tuple[str, ...]:
    """Functions, and methods as `Class.method`, that one undecorated definition makes."""
    counts = _count_bindings(tree)
    found = []
    for node in _undecorated(tree.body):
        if counts[node.name] == 1 and isinstance(node, _FUNCTIONS):
            found.append(node.name)
        elif counts[node.name] == 1:
            members = _count_bindings_in(node)
            methods = (one.name for one in _undecorated(node.body) if isinstance(one, _FUNCTIONS))
            found += [f"{node.name}.{name}" for name in methods if members[name] == 1]
    return tuple(found)


def _undecorated(body: list[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    return (one for one in body if isinstance(one, _DEFINITIONS) and not one.decorator_list)


@answer_once
def _count_bindings(tree: ast.Module) -> Counter[str]:
    return _count_bindings_in(tree)


def _count_bindings_in(scope: ast.AST) -> Counter[str]:
    """How often each name is bound in a scope's own block."""
    found = Counter[str]()
    for node in own_nodes(scope):
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                found[node.id] += 1
        elif isinstance(node, _DEFINITIONS):
            found[node.name] += 1
        elif isinstance(node, ast.alias):
            found[node.asname or node.name.partition(".")[0]] += 1
    return found
