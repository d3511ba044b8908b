"""Parsing Python that a stranger wrote, from many threads."""

import ast

__all__ = ["parsed", "walk"]

_TRIES = 20


def parsed(source: str) -> ast.Module:
    """`ast.parse`, tried again where CPython fails for no reason of the source's.

    Until 3.12 threads that parse at the same moment share one count of nesting, and the loser gets a
    SystemError ("AST constructor recursion depth mismatch"). Raises what `ast.parse` raises.
    """
    for _ in range(_TRIES - 1):
        try:
            return ast.parse(source)
        except SystemError:
            continue
    return ast.parse(source)


def walk(node: ast.AST) -> list[ast.AST]:
    """The node and all below it, in the order of `ast.walk`, in half of its time: programs are many."""
    found = [node]
    for one in found:
        for field in one._fields:
            value = getattr(one, field, None)
            if isinstance(value, list):
                found += [part for part in value if isinstance(part, ast.AST)]
            elif isinstance(value, ast.AST):
                found.append(value)
    return found
