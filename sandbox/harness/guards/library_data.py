"""Whether data inside libraries stay what they were: tables by which they judge, defaults, registered types.

A candidate can change these without binding any name: `json.dumps.__kwdefaults__["cls"] = …`,
`calendar.mdays[2] = 31`, `copy._deepcopy_dispatch[list] = …`, `numbers.Integral.register(str)`. Looked at is
only what the candidate's text has a name for, or, with words to make names with, what holds functions.
"""

from __future__ import annotations

import _abc
import _operator
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_is = _operator.is_
_Function = type(lambda: 0)
_members, _bases = type.__dict__["__dict__"].__get__, type.__dict__["__mro__"].__get__
_flags, _MADE_BY_A_STATEMENT = type.__dict__["__flags__"].__get__, 1 << 9
_CONTAINERS = (dict, list, set, bytearray)
_MOST_ITEMS, _MOST_CONTAINERS = 10_000, 2000
_MOST_AT_A_CALL, _MOST_LOOKED_AT = 2000, 4_000_000
# A function of this module writes into a table that its callers need not name.
_PICKLING = "copyreg"


class LibraryData:
    """Of one run. `used` are the candidate's names; `by_name`: it can make others."""

    def __init__(self, modules: Iterable[Any], used: set[str], by_name: bool, file: str) -> None:
        self._used, self._by_name, self._file = used, by_name, file
        # Containers, each with its keys or items, and what a dictionary had under them.
        self._held: list[tuple[Any, list[object], list[object]]] = []
        self._kinds: list[tuple[object, type]] = []
        # Abstract classes, each with the built-in types that were registered with it.
        self._abstract: list[tuple[Any, set[int]]] = []
        self._left = _MOST_LOOKED_AT
        self._registers = by_name or "register" in used
        for module in modules:
            self._learn(vars(module))
        if by_name or _PICKLING in used:
            table = getattr(sys.modules.get(_PICKLING), "dispatch_table", None)
            self._keep(table)
        self._token = _abc.get_cache_token()

    @property
    def has_any(self) -> bool:
        """Whether there is anything to look at."""
        return bool(self._held or self._kinds or self._registers)

    def is_changed(self) -> bool:
        """Whether anything is other than before the candidate ran."""
        return (
            any(type(value) is not kind for value, kind in self._kinds)
            or any(map(self._is_other, self._held))
            or self._is_registered()
        )

    def is_changed_now(self) -> bool:
        """The same, as long as not too much was looked at: it is asked before and after each call."""
        cost = sum(len(keys) + 1 for _, keys, _ in self._held)
        if not self._held or cost > _MOST_AT_A_CALL or self._left < cost:
            return False
        self._left -= cost
        return any(map(self._is_other, self._held))

    def _learn(self, space: dict[str, Any]) -> None:
        root = str(space.get("__name__")).partition(".")[0]
        for name, value in [*space.items()]:
            kind = type(value)
            if kind in _CONTAINERS and name[:2] != "__":
                self._learn_container(name, value)
            elif kind is _Function:
                self._learn_defaults(value)
            elif isinstance(value, type) and str(value.__module__).partition(".")[0] == root:
                for member, inner in [*_members(value).items()]:
                    if type(inner) in _CONTAINERS and member[:2] != "__":
                        self._learn_container(member, inner)
                if self._registers and "_abc_impl" in _members(value):
                    self._abstract.append((value, registered_with(value)))
            elif type(kind) is type and _members(kind).get("__module__") not in (None, "builtins"):
                self._learn_object(value)

    def _learn_container(self, name: str, value: Any) -> None:
        if name in self._used or (self._by_name and type(value) is dict and _has_functions(value)):
            self._keep(value)

    def _learn_defaults(self, function: Any) -> None:
        if "__kwdefaults__" in self._used or self._by_name:
            self._keep(function.__kwdefaults__)

    def _learn_object(self, value: Any) -> None:
        """An object may get another class, or another function in the place of one that it holds."""
        if "__class__" in self._used or self._by_name:
            self._kinds.append((value, type(value)))
        try:
            space = object.__getattribute__(value, "__dict__")
        except Exception:
            return
        if type(space) is dict and any(callable(one) for name, one in space.items() if name in self._used):
            self._keep(space)

    def _keep(self, value: Any) -> None:
        if value is not None and len(value) <= _MOST_ITEMS and len(self._held) < _MOST_CONTAINERS:
            self._held.append((value, [*value], _values_of(value)))

    def _is_other(self, held: tuple[Any, list[object], list[object]]) -> bool:
        container, keys, values = held
        if type(container) is not dict:
            return len(container) != len(keys) or not all(map(_is, container, keys))
        # A cache forgets: what is gone tells nothing.
        now = {id(key): value for key, value in container.items()}
        if not all(now.pop(id(key), value) is value for key, value in zip(keys, values, strict=True)):
            return True
        return bool(now) and any(
            self._is_planted(key, value) for key, value in container.items() if id(key) in now
        )

    def _is_planted(self, key: Any, value: Any) -> bool:
        """Whether no library makes such an entry: for a type of others, or another pattern."""
        if type(value) is getattr(sys.modules.get("re"), "Pattern", None):
            return (
                type(key) is tuple
                and len(key) > 1
                and type(key[1]) in (str, bytes)
                and value.pattern != key[1]
            )
        return isinstance(key, type) and callable(value) and self._is_of_others(key)

    def _is_of_others(self, kind: type) -> bool:
        """Whether a class is built in, or was made by the program."""
        if not _is_made(kind):
            return kind.__module__ == "builtins"
        codes = [one.__code__ for one in _members(kind).values() if type(one) is _Function]
        return kind.__module__ == "__main__" and all(code.co_filename != self._file for code in codes)

    def _is_registered(self) -> bool:
        """Whether a built-in type was registered as what it is not."""
        if not self._registers or _abc.get_cache_token() == self._token:
            return False
        self._token = _abc.get_cache_token()
        return any(not registered_with(kind) <= before for kind, before in self._abstract)


def registered_with(kind: Any) -> set[int]:
    """The built-in types, by their identity, that were registered with an abstract class."""
    types = [reference() for reference in _abc._get_dump(kind)[0]]
    return {id(one) for one in types if isinstance(one, type) and not _is_made(one)}


def _is_made(kind: type) -> bool:
    """Whether a statement made a class."""
    return bool(_flags(kind) & _MADE_BY_A_STATEMENT)


def _values_of(container: Any) -> list[object]:
    return [*container.values()] if type(container) is dict else []


def _has_functions(table: dict[object, object]) -> bool:
    return any(type(value) is _Function for value in table.values())
