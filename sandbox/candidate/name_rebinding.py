"""Finds, without running it, whether a program hides or replaces the names of its candidate."""

import ast
from collections.abc import Iterator

from sandbox.candidate.detours import executed_texts, goes_around
from sandbox.candidate.tree_nodes import list_tree_nodes, names_in, nodes_of_kind, own_nodes

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# Beside names: the kinds of which `_binds` tells.
_BINDING = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.ExceptHandler),
    *(ast.MatchAs, ast.MatchStar),
)


def has_rebound_names(tree: ast.Module, names: frozenset[str]) -> bool:
    """Whether a scope of `tree` binds one of `names`, so that its readers no longer get the candidate.

    At module level every binding counts; inside a function one counts when the function declares the name
    global, or reads it. A parameter counts only with a default: without one it holds what a caller passes.
    Ways around a binding count too, see `sandbox.candidate.detours`.
    """
    if not names:
        return False
    if goes_around(tree, names) or any(has_rebound_names(text, names) for text in executed_texts(tree)):
        return True
    if names.isdisjoint(_bound_anywhere(tree)):
        return False
    if any(name in names for name in _bound(tree)):
        return True
    functions = (node for node in list_tree_nodes(tree) if isinstance(node, _FUNCTIONS))
    return any(_scope_rebinds(node, names) for node in functions)


def _bound_anywhere(tree: ast.Module) -> set[str]:
    """The names that some scope of `tree` binds, arguments among them."""
    found = {node.id for node in names_in(tree) if not isinstance(node.ctx, ast.Load)}
    found.update(node.arg for node in nodes_of_kind(tree, ast.arg))
    for kind in _BINDING:
        found.update(name for node in nodes_of_kind(tree, kind) for name in _binds(node))
    return found


def _scope_rebinds(
    function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, names: frozenset[str]
) -> bool:
    bound = {name for name in (*_bound(function), *_defaulted(function.args)) if name in names}
    if not bound:
        return False
    declared = {name for node in own_nodes(function) if isinstance(node, ast.Global) for name in node.names}
    read = {node.id for node in names_in(function) if isinstance(node.ctx, ast.Load)}
    return bool(bound & (declared | read))


def _defaulted(arguments: ast.arguments) -> list[str]:
    positional = [*arguments.posonlyargs, *arguments.args]
    names = [argument.arg for argument in positional[len(positional) - len(arguments.defaults) :]]
    keyword_only = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return names + [argument.arg for argument, default in keyword_only if default is not None]


def _bound(scope: ast.AST) -> Iterator[str]:
    for node in own_nodes(scope):
        yield from _binds(node)


def _binds(node: ast.AST) -> tuple[str, ...]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            return (name,)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.Import(names=names):
            return tuple(alias.asname or alias.name.partition(".")[0] for alias in names)
        case ast.ImportFrom(names=names):
            return tuple(alias.asname or alias.name for alias in names)
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return (name,)
    return ()
