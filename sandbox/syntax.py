"""Parsing Python that a stranger wrote, from many threads."""

import ast

__all__ = ["parsed"]

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
