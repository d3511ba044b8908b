"""Which names a text uses without binding them, by Python's own rules of scope."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sandbox.candidate.tree_nodes import children_of

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
# Which `_visit` and `_plain` tell apart; all others only hold what is in them.
_WITH_SCOPES = frozenset(
    {
        *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.AnnAssign),
        *(ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp),
    }
)
_BINDING = frozenset(
    {
        *(ast.Name, ast.NamedExpr, ast.Global, ast.Import, ast.ImportFrom, ast.ExceptHandler),
        *(ast.MatchAs, ast.MatchStar, ast.MatchMapping),
    }
)
_IN_EVERY_MODULE = frozenset(
    {
        "__annotations__",
        "__builtins__",
        "__debug__",
        "__doc__",
        "__file__",
        "__loader__",
        "__name__",
        "__package__",
        "__spec__",
    }
)


@dataclass(frozen=True, slots=True)
class FreeNames:
    """The names that are read and bound nowhere, as nodes; `stars`: modules from which all is imported.

    Builtins are among them: which there are depends on the Python.
    """

    nodes: tuple[ast.Name, ...]
    stars: tuple[str, ...]


@dataclass(eq=False)
class _Scope:
    parent: _Scope | None
    kind: str = "function"
    bound: set[str] = field(default_factory=set)
    outer: set[str] = field(default_factory=set)
    """Names that are declared global here."""

    @property
    def module(self) -> _Scope:
        return self if self.parent is None else self.parent.module

    def has(self, name: str) -> bool:
        """Whether a read of `name` in this scope finds it."""
        scope: _Scope | None = self.module if name in self.outer else self
        while scope is not None:
            # A class's names are seen in its own block alone.
            if name in scope.bound and (scope is self or scope.kind != "class"):
                return True
            scope = scope.parent
        return False


def free_names(tree: ast.Module) -> FreeNames:
    """The names of `tree` that nothing in it binds, in the order of the text.

    Read flat: a name that is bound anywhere in its scope counts as bound, also before that line.
    """
    walk = _Walk()
    walk.through(tree)
    free = [node for node, scope in walk.reads if not scope.has(node.id) and node.id not in _IN_EVERY_MODULE]
    free.sort(key=lambda node: (node.lineno, node.col_offset))
    return FreeNames(tuple(free), tuple(dict.fromkeys(walk.stars)))


class _Walk:
    """One pass without recursion: a chain of a thousand operators is deeper than Python's own stack."""

    def __init__(self) -> None:
        self.reads: list[tuple[ast.Name, _Scope]] = []
        self.stars: list[str] = []
        self._waiting: list[tuple[ast.AST, _Scope]] = []
        self._stores: list[tuple[str, _Scope]] = []

    def through(self, tree: ast.Module) -> None:
        self._waiting.append((tree, _Scope(None, "module")))
        while self._waiting:
            node, scope = self._waiting.pop()
            self._visit(node, scope)
        for name, scope in self._stores:
            (scope.module if name in scope.outer else scope).bound.add(name)

    def _visit(self, node: ast.AST, scope: _Scope) -> None:
        if type(node) not in _WITH_SCOPES:
            if type(node) in _BINDING:
                self._plain(node, scope)
            self._waiting += [(child, scope) for child in children_of(node)]
            return
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._function(node, scope)
            case ast.Lambda(args=arguments):
                self._later([*arguments.defaults, *arguments.kw_defaults], scope)
                self._later([node.body], _inside(scope, arguments))
            case ast.ClassDef(name=name):
                self._stores.append((name, scope))
                self._later([*node.decorator_list, *node.bases, *node.keywords], scope)
                self._later(node.body, _Scope(scope, "class"))
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                self._comprehension(node, scope)
            case ast.AnnAssign(annotation=note) if scope.kind == "function":
                # What annotates a local name is never evaluated.
                self._later((child_node for child_node in children_of(node) if child_node is not note), scope)
            case _:
                self._plain(node, scope)
                self._later(children_of(node), scope)

    def _plain(self, node: ast.AST, scope: _Scope) -> None:
        match node:
            case ast.Name(ctx=ast.Load()):
                self.reads.append((node, scope))
            case ast.NamedExpr(target=ast.Name(id=name)):
                self._stores.append((name, _block_of(scope)))
            case ast.Global(names=names):
                scope.outer.update(names)
            case _:
                self._stores += [(name, scope) for name in _binds(node)]
                if isinstance(node, ast.ImportFrom) and any(one.name == "*" for one in node.names):
                    self.stars.append("." * node.level + (node.module or ""))

    def _function(self, node: _Function, scope: _Scope) -> None:
        arguments = node.args
        self._stores.append((node.name, scope))
        self._later([*node.decorator_list, *arguments.defaults, *arguments.kw_defaults, node.returns], scope)
        self._later((one.annotation for one in _given(arguments)), scope)
        self._later(node.body, _inside(scope, arguments))

    def _comprehension(self, node: _Comprehension, scope: _Scope) -> None:
        first, inner = node.generators[0], _Scope(scope, "comprehension")
        self._later([first.iter], scope)
        self._later([first.target, *first.ifs, *node.generators[1:]], inner)
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._later(results, inner)

    def _later(self, nodes: Iterable[ast.AST | None], scope: _Scope) -> None:
        self._waiting += [(node, scope) for node in nodes if node is not None]


def _inside(scope: _Scope, arguments: ast.arguments) -> _Scope:
    return _Scope(scope, bound={one.arg for one in _given(arguments)})


def _given(arguments: ast.arguments) -> list[ast.arg]:
    starred = [one for one in (arguments.vararg, arguments.kwarg) if one]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *starred]


def _block_of(scope: _Scope) -> _Scope:
    """Where `:=` binds: the function around all comprehensions."""
    while scope.kind == "comprehension" and scope.parent is not None:
        scope = scope.parent
    return scope


def _binds(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.Import(names=names):
            yield from (one.asname or one.name.partition(".")[0] for one in names)
        case ast.ImportFrom(names=names):
            yield from (one.asname or one.name for one in names if one.name != "*")
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
