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


def keep_builtins(module_names: list[str], modules: dict[str, Any], own: dict[str, Any]) -> None:
    """Have the functions of some modules look up built-in names in `own`, not where programs change them."""
    renewed: dict[int, Any] = {}
    for name in module_names:
        names = vars(modules[name])
        names["__builtins__"] = own
        for space in (names, *(vars(one) for one in [*names.values()] if _is_of(one, name))):
            for value in [*space.values()]:
                _renew(value, name, renewed)
    for name in module_names:
        names = vars(modules[name])
        _exchange(names, renewed, names.__setitem__)
        for one in [*names.values()]:
            if _is_of(one, name):
                _exchange(vars(one), renewed, lambda key, value, one=one: setattr(one, key, value))


def _is_of(value: Any, module: str) -> bool:
    return isinstance(value, type) and value.__module__ == module


def _renew(value: Any, module: str, renewed: dict[int, Any]) -> None:
    function = getattr(value, "fget", value) if isinstance(value, property) else value
    if type(function) is not type(_renew) or function.__module__ != module or id(value) in renewed:
        return
    new = type(_renew)(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    new.__kwdefaults__, new.__qualname__, new.__doc__ = (
        function.__kwdefaults__,
        function.__qualname__,
        function.__doc__,
    )
    # The old one is kept beside the new: no other object may get its identity meanwhile.
    renewed[id(value)] = (value, property(new) if isinstance(value, property) else new)


def _exchange(space: Any, renewed: dict[int, Any], store: Any) -> None:
    for key, value in [*space.items()]:
        if id(value) in renewed:
            store(key, renewed[id(value)][1])
