"""Which statements of a test program run before its candidate, read off its text.

First come imports and what the candidate may need when it is defined: stand-ins for its decorators, base
classes and defaults. Tests, and whatever calls something for nobody but the program, come after the
candidate: at its import it finds nothing to rewrite.
"""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from sandbox.candidate.tree_nodes import children_of, names_in, nodes_of_kind

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef)
# Bound to be thrown away: the statement is there for what it does.
_THROWN_AWAY = "_"


def find_prelude(tree: ast.Module, names: frozenset[str], candidate: ast.Module | None) -> tuple[int, ...]:
    """The indexes of the statements that run first; `names` are the candidate's.

    They are among the leading ones that import, define and assign without needing the candidate at once. Of
    those that bind a name, only what the candidate, or another early statement, mentions.
    """
    if not tree.body or not _prepares(tree.body[0]):
        return ()
    reaching = _reaching(tree, names)
    leading = _leading(tree.body, reaching)
    bound = [frozenset(_made_by(statement)) for statement in leading]
    twice = {name for name, count in Counter(name for one in bound for name in one).items() if count > 1}
    early = {place for place, own in enumerate(bound) if not own or own & twice}
    # What is kept before something is changed in place must not be read after it.
    changing = max(
        (place for place in early if isinstance(leading[place], (ast.Assign, ast.AnnAssign))), default=0
    )
    early |= {place for place in range(changing) if not isinstance(leading[place], _FUNCTIONS)}
    tests = {place for place, one in enumerate(leading) if bound[place] & reaching and _asserts(one)}
    makers = defaultdict[str, set[int]](set)
    for place, own in enumerate(bound):
        for name in own if place not in tests else ():
            makers[name].add(place)
    if not makers:
        return tuple(sorted(early))
    waiting = list(set(_mentions([candidate] if candidate else leading)))
    waiting += set(_mentions(leading[place] for place in early))
    while waiting:
        more = makers.pop(waiting.pop(), set()) - early
        early |= more
        waiting += set(_mentions(leading[place] for place in more))
    return tuple(sorted(early))


def _reaching(tree: ast.Module, names: frozenset[str]) -> frozenset[str]:
    """The candidate's names, and those whose definition mentions one of them."""
    users = defaultdict[str, list[set[str]]](list)
    for statement in tree.body:
        own = set(_made_by(statement))
        for name in frozenset(_mentions([statement])) if own else ():
            users[name].append(own)
    found, waiting = set(names), list(names)
    while waiting:
        for own in users[waiting.pop()]:
            waiting += own - found
            found |= own
    return frozenset(found)


def _leading(body: list[ast.stmt], reaching: frozenset[str]) -> list[ast.stmt]:
    for place, statement in enumerate(body):
        if not _prepares(statement) or any(name in reaching for name in _needed_at_once(statement)):
            return body[:place]
    return body


def _prepares(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.Try):
        return all(isinstance(one, ast.Import | ast.ImportFrom) for one in statement.body)
    return isinstance(statement, (*_DEFINITIONS, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign))


def _made_by(statement: ast.stmt) -> Iterator[str]:
    """The names for whose sake a statement is there; none of an import, or where it changes other things."""
    if isinstance(statement, _DEFINITIONS):
        yield statement.name
    elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        kinds = (ast.Attribute, ast.Subscript)
        if not any(nodes_of_kind(target, kind) for target in targets for kind in kinds):
            stored = [node.id for target in targets for node in names_in(target)]
            yield from stored if _THROWN_AWAY not in stored else ()


def _mentions(trees: Iterable[ast.AST]) -> Iterator[str]:
    for tree in trees:
        yield from (node.id for node in names_in(tree) if isinstance(node.ctx, ast.Load))
        for node in nodes_of_kind(tree, ast.ImportFrom):
            if node.module == "__main__":
                yield from (alias.name for alias in node.names)


def _asserts(statement: ast.stmt) -> bool:
    attributes = nodes_of_kind(statement, ast.Attribute)
    return bool(nodes_of_kind(statement, ast.Assert)) or any(
        node.attr.startswith("assert") for node in attributes
    )


def _needed_at_once(statement: ast.AST) -> Iterator[str]:
    """Names that executing the statement reads: those in a function's body are read later."""
    waiting = [statement]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        if isinstance(node, _FUNCTIONS):
            waiting.extend([*node.decorator_list, node.args])
        elif isinstance(node, ast.Lambda):
            waiting.append(node.args)
        else:
            waiting.extend(children_of(node))
