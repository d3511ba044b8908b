"""Which data of a test program stay as they are, as its text has it: only someone else changes them."""

import ast
import builtins
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Set
from typing import Final, TypeGuard, TypeVar

from sandbox.candidate.scopes import free_names
from sandbox.candidate.tree_nodes import (
    answer_once,
    children_of,
    list_tree_nodes,
    names_in,
    nodes_of_kind,
    walk_tree_nodes,
)

Place = TypeVar("Place", bound=Hashable)

MOST_STEPS: Final = 100_000
"""Uses that are followed in all; of a program that has more, fewer constants are known."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Those of which `find_binding` tells; and what else, beside names and attributes, binds a name.
_KINDS_OF_BINDING = (
    *(ast.Assign, ast.For, ast.AsyncFor, ast.comprehension, ast.AnnAssign, ast.NamedExpr, ast.withitem),
)
_BINDING = (
    *(*_FUNCTIONS, ast.ClassDef, ast.arg, ast.alias, ast.Global, ast.Nonlocal, ast.ExceptHandler),
    *(ast.MatchAs, ast.MatchStar),
)
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
        *("isclose", "allclose", "array_equal", "equals", "mean", "std", "prod", "fsum", "issubclass"),
        *("startswith", "endswith", "item", "hexdigest", "dump", "getsizeof", "pprint", "pformat"),
        *("len", "sum", "any", "all", "str", "repr", "print", "bool", "isinstance", "type", "id", "hash"),
        *("int", "float", "bytes", "join", "index", "count", "subTest", "dumps", "format"),
        *("issubset", "issuperset", "isdisjoint"),
    }
)
_READ_METHODS = frozenset(
    {
        *("tolist", "to_list", "to_dict", "equals", "head", "tail", "iterrows", "itertuples", "astype"),
        *("sum", "mean", "std", "min", "max", "all", "any", "round", "union", "intersection", "difference"),
        *("items", "keys", "values", "get", "copy", "index", "count", "issubset", "issuperset", "isdisjoint"),
    }
)
# Those that somebody may be given to call.
_CHANGING_METHODS = frozenset(
    {
        *("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "add", "discard"),
        *("update", "setdefault", "popitem", "appendleft", "popleft", "extendleft", "rotate", "fill"),
        *("put", "resize", "itemset", "setflags", "difference_update", "intersection_update"),
        *("symmetric_difference_update", "frombytes", "write", "byteswap"),
    }
)
# What their functions give holds at most what they are given, which they leave as it is.
_READING_MODULES = frozenset(
    {"math", "statistics", "itertools", "collections", "numpy", "np", "pandas", "pd"}
)
_WRITING = frozenset(
    {"put", "place", "copyto", "putmask", "fill_diagonal", "shuffle", "put_along_axis", "at"}
)
_MAKING = frozenset({name for name, value in vars(builtins).items() if isinstance(value, type)}) | {
    *("sorted", "range", "sum", "min", "max", "len", "abs", "pow", "round", "divmod", "chr", "ord"),
}


def find_named_globals(candidate: ast.Module | None, among: Set[str]) -> frozenset[str]:
    """Those names of the module that a candidate mentions without having them, or declares as global."""
    if candidate is None or among.isdisjoint(_find_mentioned(candidate)):
        return frozenset()
    return _find_named_globals(candidate) & among


@answer_once
def _find_mentioned(candidate: ast.Module) -> frozenset[str]:
    declared = (node.names for node in nodes_of_kind(candidate, ast.Global))
    return frozenset(_names(candidate)).union(*declared)


@answer_once
def _find_named_globals(candidate: ast.Module) -> frozenset[str]:
    declared = (node.names for node in nodes_of_kind(candidate, ast.Global))
    return frozenset({node.id for node in free_names(candidate).nodes}.union(*declared))


def find_declared_globals(tree: ast.Module, candidate: ast.Module | None) -> frozenset[str]:
    """Names that a candidate declares as global, and that the program binds by `name = …` alone."""
    nodes = nodes_of_kind(candidate, ast.Global) if candidate else ()
    declared = {name for node in nodes for name in node.names}
    if not declared:
        return frozenset()
    plain = Counter(
        statement.targets[0].id
        for statement in tree.body
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name)
    )
    bound = _Uses(tree, frozenset()).bound
    return frozenset(name for name in declared if plain[name] and plain[name] == bound[name])


@answer_once
def find_results(tree: ast.Module, names: frozenset[str]) -> frozenset[str]:
    """The names of a candidate, and those bound by assignments and loops that mention one of these."""
    # A statement is a step of its own on the way: with many names on both sides there are not too many ways.
    ways = defaultdict[str | ast.AST, set[str | ast.AST]](set)
    for node in bindings_in(tree):
        value, targets = find_binding(node)
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
    places = [*_assignments(tree)]
    owners = {name.partition(".")[0] for name, _, _ in places}
    mentioned = find_named_globals(candidate, owners) | names
    places = [one for one in places if one[0].partition(".")[0] not in mentioned or one[2]]
    if not places:
        return ()
    uses = _Uses(tree, names)
    return tuple(name for name, value, _ in places if uses.is_fresh(value) and uses.is_constant(name))


def _assignments(tree: ast.Module) -> Iterator[tuple[str, ast.expr, bool]]:
    """What is bound to single names at the top level, or as `Class.name`; and whether a class has tests."""
    for node in tree.body:
        if _is_plain_class(node):
            is_test = any(getattr(one, "name", "").startswith("test") for one in node.body)
            for inner in walk_tree_nodes(node):
                if not isinstance(inner, (ast.Assign, ast.AnnAssign)):
                    continue
                name, value = _assigned(inner)
                owner, _, attribute = name.rpartition(".")
                if value is not None and (owner in ("cls", node.name) or (not owner and inner in node.body)):
                    yield f"{node.name}.{attribute}", value, is_test
        else:
            name, value = _assigned(node)
            if value is not None and "." not in name:
                yield name, value, False


def _assigned(node: ast.AST) -> tuple[str, ast.expr | None]:
    """The name, or `name.attribute`, that a statement binds alone, and its value."""
    value, targets = find_binding(node)
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and value is not None and len(targets) == 1:
        match targets[0]:
            case ast.Name(id=name):
                return name, value
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                return f"{owner}.{name}", value
    return "", None


def _is_plain_class(node: ast.AST) -> TypeGuard[ast.ClassDef]:
    """Whether what is bound in its body becomes an attribute as it is."""
    return isinstance(node, ast.ClassDef) and not (node.keywords or node.decorator_list)


class _Uses:
    """Where a program's names are bound and read, whatever the scope: of one that has two, both count."""

    def __init__(self, tree: ast.Module, names: frozenset[str]) -> None:
        self.bound = Counter[str]()
        self._results = find_results(tree, names)
        self._loads = defaultdict[str, list[ast.AST]](list)
        self._functions: dict[str, ast.AST] = {}
        self._imported = set[str]()
        self._holders = set[str]()
        self._steps = 0
        self._parents = {child: node for node in list_tree_nodes(tree) for child in children_of(node)}
        self._note_names(tree)
        for kind in _BINDING:
            for node in nodes_of_kind(tree, kind):
                self._note(node)

    def _note_names(self, tree: ast.Module) -> None:
        for node in names_in(tree):
            if isinstance(node.ctx, ast.Load):
                self._loads[node.id].append(node)
            else:
                self.bound[node.id] += 1
        for attribute in nodes_of_kind(tree, ast.Attribute):
            if isinstance(attribute.ctx, ast.Load):
                self._loads[f".{attribute.attr}"].append(attribute)
            else:
                self.bound[f".{attribute.attr}"] += 1

    def _note(self, node: ast.AST) -> None:
        match node:
            case ast.ClassDef(name=name):
                self.bound[name] += 1
                self._holders |= {name} if _only_holds(node) else set()
            case ast.arg(arg=name):
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
            is_made = node.id in self._holders and self.bound[node.id] == 1
            is_made |= node.id in _MAKING and not self.bound[node.id]
            return is_library or node.id in own or is_made
        if isinstance(node, ast.Attribute):
            return isinstance(self._parents[node], (ast.Call, ast.Attribute))
        return not isinstance(node, (ast.Lambda, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr))

    def is_constant(self, name: str) -> bool:
        """Whether a name, or an attribute `Class.name`, is bound once and then only read."""
        owner, _, name = name.rpartition(".")
        names = [name, f".{name}"] if owner else [name]
        return sum(self.bound[one] for one in names) == 1 and all(map(self.is_only_read, names))

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
                case ast.Attribute(attr=method, ctx=ast.Load()):
                    call = self._parents.get(parent)
                    is_called = isinstance(call, ast.Call) and call.func is parent
                    if method in _CHANGING_METHODS or (is_called and method not in _READ_METHODS):
                        return None
                    node = call if call is not None and is_called else parent
                case ast.Call():
                    given = self._given_to(parent)
                    if given is not _HELD:
                        return given
                    node = parent
                case ast.IfExp(test=test) if test is node:
                    return set()
                case ast.For() | ast.AsyncFor() | ast.comprehension() | ast.Assign() | ast.AnnAssign():
                    _, targets = find_binding(parent)
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
        owner = getattr(getattr(call.func, "value", None), "id", "")
        is_reading = owner in _READING_MODULES and owner in self._imported and name not in _WRITING
        if name in _HOLDING or is_reading:
            return _HELD
        return self._parameters(self._functions.get(name) if self.bound[name] == 1 else None)

    def _parameters(self, function: ast.AST | None) -> set[str] | None:
        if not isinstance(function, _FUNCTIONS):
            return None
        return {node.arg for node in nodes_of_kind(function.args, ast.arg)}


def _only_holds(node: ast.ClassDef) -> bool:
    """Whether objects of a class are nothing but what they are given, which only they hold."""
    return not any(isinstance(one, _FUNCTIONS) and one.name[:2] == "__" for one in node.body)


# What a call gives holds what it was given.
_HELD = {""}


def find_binding(node: ast.AST) -> tuple[ast.expr | None, list[ast.expr]]:
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


@answer_once
def bindings_in(tree: ast.Module) -> list[ast.AST]:
    """The nodes of which `find_binding` tells."""
    return [node for kind in _KINDS_OF_BINDING for node in nodes_of_kind(tree, kind)]


def _names(node: ast.AST) -> list[str]:
    return [name.id for name in names_in(node)]
