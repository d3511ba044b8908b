"""Callables that lead nowhere: a program that holds one can call it, and learns nothing of what is behind."""

from __future__ import annotations

import _functools  # type: ignore[import-not-found]  # functools itself imports collections and more

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_wrapper: Any = _functools._lru_cache_wrapper


def hide(function: Callable[..., Any]) -> Any:
    """The same function as an object without `__self__`, `__closure__`, `__globals__` or `__wrapped__`."""
    # A cache of no entries: each call goes through, and the object has no attribute for what it calls.
    return _wrapper(function, 0, False, object)
