"""The workbench below a path of a host that has others beside it: COSQA_PREFIX."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

Scope = Mapping[str, Any]
Application = Callable[..., Awaitable[None]]


def place_below_prefix(application: Application, prefix: str) -> Application:
    """The application as it is reached below `prefix`, such as /wb; empty for the root of a host.

    Proxies take the prefix off or pass it on; either way the application sees it, as root_path and in path.
    """

    async def below(scope: Scope, receive: Any, send: Any) -> None:
        if prefix and "path" in scope:
            path = add_prefix(scope["path"], prefix)
            scope = {**scope, "root_path": prefix, "path": path, "raw_path": path.encode()}
        await application(scope, receive, send)

    return below


def add_prefix(path: str, prefix: str) -> str:
    """
    >>> add_prefix("/login/", "/wb"), add_prefix("/wb/login/", "/wb"), add_prefix("/wbx/", "/wb")
    ('/wb/login/', '/wb/login/', '/wb/wbx/')
    """
    return path if path == prefix or path.startswith(f"{prefix}/") else prefix + path
