"""Evaluates one expression beside the candidate and sends what it gave."""

from __future__ import annotations

import _ast

from sandbox.harness.trace.values import AS_PYTHON, render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from sandbox.harness.channel import Channel

_ONLY_AST = 0x400


def evaluate(source: str, filename: str, names: dict[str, Any], channel: Channel, limit: int) -> None:
    """Send the value of the last expression of `source` as its type's name and at most `limit` characters."""
    tree: Any = compile(source, filename, "exec", _ONLY_AST, dont_inherit=True)
    *first, last = tree.body
    statements = compile(_ast.Module(first, []), filename, "exec", dont_inherit=True)
    expression = compile(_ast.Expression(last.value), filename, "eval", dont_inherit=True)
    exec(statements, names)  # noqa: S102 (executing programs is what the sandbox is for)
    value = eval(expression, names)  # noqa: S307 (likewise)
    if type(value).__name__ == "coroutine":
        import asyncio

        value = asyncio.run(value)
    channel.send("value", str(type(value).__qualname__), render(value, limit, AS_PYTHON))
