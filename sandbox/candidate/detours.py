"""Ways to exchange a name of the candidate without binding it, as far as they can be read off a program.

`globals()["f"] = …`, `globals().update(f=…)`, `sys.modules["__main__"].f = …`, `setattr(main, "f", …)`,
`f.__code__ = …`, `mock.patch("__main__.f")`, `exec("def f(): …")`.
"""

import ast
from collections.abc import Iterator

from sandbox.candidate.syntax import UNREADABLE, parse_python_source
from sandbox.candidate.tree_nodes import nodes_of_kind

_PARTS = ("__code__", "__defaults__", "__kwdefaults__")
_CHANGERS = ("update", "setdefault", "pop", "__setitem__", "__delitem__")
_CALLED = frozenset({*_CHANGERS, "setattr", "delattr"})


def goes_around(tree: ast.Module, names: frozenset[str]) -> bool:
    """Whether something in `tree` exchanges one of `names`, or a part of it, in one of these ways."""
    mains = frozenset(_main_modules(tree))
    return any(_detour(node, names, mains) for node in _find_doubtful(tree))


def executed_texts(tree: ast.Module) -> Iterator[ast.Module]:
    """The programs that are written as texts for `exec`."""
    for node in nodes_of_kind(tree, ast.Call):
        match node:
            case ast.Call(func=ast.Name(id="exec"), args=[ast.Constant(value=str(text)), *_]):
                try:
                    yield parse_python_source(text)
                except UNREADABLE:
                    continue


def _find_doubtful(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes that may be a detour, by a glance at each: a program has few of them."""
    yield from (node for node in nodes_of_kind(tree, ast.Subscript) if not isinstance(node.ctx, ast.Load))
    yield from (node for node in nodes_of_kind(tree, ast.Attribute) if not isinstance(node.ctx, ast.Load))
    yield from (
        node
        for node in nodes_of_kind(tree, ast.Call)
        if (getattr(node.func, "attr", "") or getattr(node.func, "id", "")) in _CALLED
    )
    for node in nodes_of_kind(tree, ast.Constant):
        if isinstance(node.value, str) and node.value.startswith("__main__"):
            yield node


def _detour(node: ast.AST, names: frozenset[str], mains: frozenset[str]) -> bool:
    match node:
        case ast.Subscript(value=space, slice=ast.Constant(value=str(name)), ctx=ast.Store() | ast.Del()):
            return name in names and _is_namespace(space)
        case ast.Attribute(value=ast.Name(id=name), attr=part, ctx=ast.Store()) if part in _PARTS:
            return name in names
        case ast.Attribute(value=owner, attr=name, ctx=ast.Store() | ast.Del()):
            return name in names and _is_main(owner, mains)
        case ast.Call(
            func=ast.Name(id="setattr" | "delattr"), args=[owner, ast.Constant(value=str(name)), *_]
        ):
            return name in names and _is_main(owner, mains)
        case ast.Call(func=ast.Attribute(value=space, attr=way)) if way in _CHANGERS:
            return _is_namespace(space) and any(name in names for name in _keys(node))
        case ast.Constant(value=str(text)):
            module, _, path = text.partition(".")
            return module == "__main__" and path.partition(".")[0] in names
    return False


def _is_namespace(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="globals" | "vars" | "locals")):
            return True
        case ast.Attribute(attr="__dict__" | "__globals__"):
            return True
    return False


def _keys(call: ast.Call) -> Iterator[str]:
    """The names that a call of update, pop and the like is about."""
    yield from (keyword.arg for keyword in call.keywords if keyword.arg)
    for argument in call.args[:1]:
        keys = argument.keys if isinstance(argument, ast.Dict) else [argument]
        for key in keys:
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value


def _is_main(node: ast.expr, mains: frozenset[str]) -> bool:
    return (isinstance(node, ast.Name) and node.id in mains) or _is_lookup(node)


def _is_lookup(node: ast.expr) -> bool:
    """`sys.modules[…]`, or `__import__("__main__")` by any name that a function for it has."""
    match node:
        case ast.Subscript(value=ast.Attribute(attr="modules") | ast.Name(id="modules")):
            return True
        case ast.Call(args=[ast.Constant(value="__main__")]):
            return True
    return False


def _main_modules(tree: ast.Module) -> Iterator[str]:
    """The names that the program has for its own module."""
    for imported in nodes_of_kind(tree, ast.Import):
        yield from (alias.asname or alias.name for alias in imported.names if alias.name == "__main__")
    for node in nodes_of_kind(tree, ast.Assign):
        for target in node.targets:
            yield from _assigned(target, node.value)


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for elt, its_value in zip(target.elts, value.elts, strict=False):
            yield from _assigned(elt, its_value)
    elif isinstance(target, ast.Name) and _is_lookup(value):
        yield target.id
