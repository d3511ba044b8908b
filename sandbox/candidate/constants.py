"""Which data of a test program stay as they are, as its text has it: only someone else changes them."""

import ast
import builtins
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator
from typing import Final, TypeVar

from sandbox.candidate.scopes import free_names
from sandbox.candidate.syntax import walk_tree_nodes

__all__ = ["find_constants", "find_named_globals", "find_reached", "find_results"]

Place = TypeVar("Place", bound=Hashable)

MOST_STEPS: Final = 100_000
"""Uses that are followed in all; of a program that has more, fewer constants are known."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_SEQUENCES = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.BoolOp, ast.BinOp, *_COMPREHENSIONS)
_LOOKING = (ast.Compare, ast.UnaryOp, ast.FormattedValue, ast.Assert, ast.Expr, ast.Slice, ast.If, ast.While)
# What they give holds what they are given, or a part of it.
_HOLDING = frozenset(
    {
        *("list", "tuple", "set", "frozenset", "dict", "sorted", "reversed", "enumerate", "zip", "iter"),
        *("next", "map", "filter", "max", "min", "items", "keys", "values", "get", "copy", "deepcopy"),
    }
)
_LOOKING_CALLS = frozenset(
    {
        *("len", "sum", "any", "all", "str", "repr", "print", "bool", "isinstance", "type", "id", "hash"),
        *("int", "float", "bytes", "join", "index", "count", "subTest", "dumps", "format"),
        *("issubset", "issuperset", "isdisjoint"),
    }
)
_READ_METHODS = frozenset(
    {*("items", "keys", "values", "get", "copy", "index", "count", "issubset", "issuperset", "isdisjoint")}
)
_MAKING = frozenset({name for name, value in vars(builtins).items() if isinstance(value, type)}) | {
    *("sorted", "range", "sum", "min", "max", "len", "abs", "pow", "round", "divmod", "chr", "ord"),
}


def find_named_globals(candidate: ast.Module | None) -> frozenset[str]:
    """Names of the module that a candidate mentions without having them, or declares as global."""
    if candidate is None:
        return frozenset()
    declared = {
        name for node in walk_tree_nodes(candidate) if isinstance(node, ast.Global) for name in node.names
    }
    return frozenset({node.id for node in free_names(candidate).nodes} | declared)


def find_results(tree: ast.Module, names: frozenset[str]) -> frozenset[str]:
    """The names of a candidate, and those bound by assignments and loops that mention one of these."""
    # A statement is a step of its own on the way: with many names on both sides there are not too many ways.
    ways = defaultdict[str | ast.AST, set[str | ast.AST]](set)
    for node in walk_tree_nodes(tree):
        value, targets = _binding(node)
        if value is not None:
            ways[node].update(name for target in targets for name in _names(target))
            for name in _names(value):
                ways[name].add(node)
    start: list[str | ast.AST] = [*names]
    return frozenset(one for one in find_reached(ways, start) if isinstance(one, str))


def find_reached(ways: dict[Place, set[Place]], places: Iterable[Place]) -> set[Place]:
    """Where the ways lead from some places, and these."""
    found, waiting = set(places), list(places)
    while waiting:
        more = ways.pop(waiting.pop(), set()) - found
        found |= more
        waiting += more
    return found


def find_constants(tree: ast.Module, candidate: ast.Module | None, names: frozenset[str]) -> tuple[str, ...]:
    """Names to which the program gives data of its own once, at its top level, and then only reads.

    Whoever changes them is not the program. What the candidate's text mentions as a name of the module is
    left out: the program may have it there for the candidate. The candidate may change what it is given.
    """
    if not any(isinstance(statement, (ast.Assign, ast.AnnAssign)) for statement in tree.body):
        return ()
    uses = _Uses(tree, names)
    mentioned = find_named_globals(candidate) | names
    found = []
    for statement in tree.body:
        value, targets = _binding(statement)
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and value is not None and len(targets) == 1:
            name = targets[0].id if isinstance(targets[0], ast.Name) else ""
            if name and name not in mentioned and uses.bound[name] == 1 and uses.is_fresh(value):
                found += [name] if uses.is_only_read(name) else []
    return tuple(found)


class _Uses:
    """Where a program's names are bound and read, whatever the scope: of one that has two, both count."""

    def __init__(self, tree: ast.Module, names: frozenset[str]) -> None:
        self.bound = Counter[str]()
        self._results = find_results(tree, names)
        self._parents: dict[ast.AST, ast.AST] = {}
        self._loads = defaultdict[str, list[ast.AST]](list)
        self._functions: dict[str, ast.AST] = {}
        self._imported = set[str]()
        self._steps = 0
        for node in walk_tree_nodes(tree):
            self._parents.update((child, node) for child in ast.iter_child_nodes(node))
            self._note(node)

    def _note(self, node: ast.AST) -> None:
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                self._loads[name].append(node)
            case ast.Name(id=name) | ast.arg(arg=name) | ast.ClassDef(name=name):
                self.bound[name] += 1
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                self.bound[name] += 1
                self._functions[name] = node
            case ast.alias(name=name, asname=other):
                self.bound[other or name.partition(".")[0]] += 1
                self._imported.add(other or name.partition(".")[0])
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                self.bound.update(dict.fromkeys(names, 2))
            case (
                ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
            ):
                self.bound[name] += 1

    def is_fresh(self, value: ast.expr) -> bool:
        """Whether nobody else holds what an expression gives."""
        nodes = walk_tree_nodes(value)
        own = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        return all(self._is_own(node, own) for node in nodes)

    def _is_own(self, node: ast.AST, own: set[str]) -> bool:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            is_library = node.id in self._imported and isinstance(
                self._parents[node], (ast.Call, ast.Attribute)
            )
            return is_library or node.id in own or (node.id in _MAKING and not self.bound[node.id])
        if isinstance(node, ast.Attribute):
            return isinstance(self._parents[node], (ast.Call, ast.Attribute))
        return not isinstance(node, (ast.Lambda, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr))

    def is_only_read(self, name: str) -> bool:
        """Whether no statement of the program changes what a name has, or what it hands on of it."""
        waiting, seen = [name], {name}
        while waiting:
            for node in self._loads[waiting.pop()]:
                further = self._handed_on(node)
                if further is None or self._steps > MOST_STEPS:
                    return False
                waiting += further - seen
                seen |= further
        return True

    def _handed_on(self, node: ast.AST) -> set[str] | None:
        """The names that get a value, or a part of it; None where it may be changed or kept."""
        while True:
            self._steps += 1
            parent = self._parents.get(node)
            match parent:
                case ast.Subscript(slice=index) if index is node:
                    return set()
                case ast.Subscript(ctx=ast.Load()) | ast.Starred() | ast.keyword():
                    node = parent
                case ast.Attribute(attr=method, ctx=ast.Load()) if method in _READ_METHODS:
                    call = self._parents.get(parent)
                    if not isinstance(call, ast.Call) or call.func is not parent:
                        return None
                    node = call
                case ast.Call():
                    given = self._given_to(parent)
                    if given is not _HELD:
                        return given
                    node = parent
                case ast.IfExp(test=test) if test is node:
                    return set()
                case ast.For() | ast.AsyncFor() | ast.comprehension() | ast.Assign() | ast.AnnAssign():
                    _, targets = _binding(parent)
                    parts = [part for target in targets for part in walk_tree_nodes(target)]
                    is_kept = any(isinstance(part, (ast.Attribute, ast.Subscript)) for part in parts)
                    return None if is_kept else {part.id for part in parts if isinstance(part, ast.Name)}
                case ast.IfExp() | ast.expr() if isinstance(parent, (*_SEQUENCES, ast.IfExp)):
                    node = parent
                case _:
                    return set() if isinstance(parent, _LOOKING) else None

    def _given_to(self, call: ast.Call) -> set[str] | None:
        """What a call does with what it is given."""
        name = getattr(call.func, "attr", "") or getattr(call.func, "id", "")
        if name.startswith("assert") or name in _LOOKING_CALLS:
            return set()
        if name == "parametrize":
            return self._parameters(self._parents.get(call))
        if not self._results.isdisjoint(_names(call.func)):
            return set()  # the harness sees what the candidate is given
        if name in _HOLDING:
            return _HELD
        return self._parameters(self._functions.get(name) if self.bound[name] == 1 else None)

    def _parameters(self, function: ast.AST | None) -> set[str] | None:
        if not isinstance(function, _FUNCTIONS):
            return None
        return {node.arg for node in walk_tree_nodes(function.args) if isinstance(node, ast.arg)}


# What a call gives holds what it was given.
_HELD = {""}


def _binding(node: ast.AST) -> tuple[ast.expr | None, list[ast.expr]]:
    """What a node binds, and to which targets."""
    match node:
        case ast.Assign(value=value, targets=targets):
            return value, targets
        case ast.For(iter=value, target=target) | ast.AsyncFor(iter=value, target=target):
            return value, [target]
        case ast.comprehension(iter=value, target=target):
            return value, [target]
        case ast.AnnAssign(value=value, target=target) | ast.NamedExpr(value=value, target=target):
            return value, [target]
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            return value, [target]
    return None, []


def _names(node: ast.AST) -> Iterator[str]:
    return (inner.id for inner in walk_tree_nodes(node) if isinstance(inner, ast.Name))
