"""Whether data inside libraries stay what they were: tables by which they judge, defaults, registered types.

A candidate can change these without binding any name: `json.dumps.__kwdefaults__["cls"] = …`,
`calendar.mdays[2] = 31`, `copy._deepcopy_dispatch[list] = …`, `numbers.Integral.register(str)`. Looked at is
only what the candidate's text has a name for, or, with words to make names with, what holds functions.
"""

from __future__ import annotations

import _abc  # type: ignore[import-not-found]  # abc itself hides this
import _operator
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_is = _operator.is_
_Function = type(lambda: 0)
_members = type.__dict__["__dict__"].__get__
_flags, _MADE_BY_A_STATEMENT = type.__dict__["__flags__"].__get__, 1 << 9
CONTAINERS = (dict, list, set, bytearray)
_MOST_ITEMS, _MOSTCONTAINERS = 10_000, 2000
_MOST_AT_A_CALL, _MOST_LOOKED_AT = 1000, 400_000
# A function of this module writes into a table that its callers need not name.
_PICKLING = "copyreg"


class LibraryData:
    """Of one run. `used` are the candidate's names; `by_name`: it can make others."""

    def __init__(self, used: set[str], by_name: bool, file: str) -> None:
        self._used, self._by_name, self._file = used, by_name, file
        # Containers, each with its keys or items, and what a dictionary had under them.
        self._held: list[tuple[Any, list[object], list[object]]] = []
        # Those among them that are looked at with each call, what that costs, and how much is left for it.
        self._named: list[tuple[Any, list[object], list[object]]] = []
        self._cost, self._left = 0, _MOST_LOOKED_AT
        self._kinds: list[tuple[object, type]] = []
        # Abstract classes, each with the built-in types that were registered with it.
        self._abstract: list[tuple[Any, set[int]]] = []
        self._registers = by_name or "register" in used
        if by_name or _PICKLING in used:
            table = getattr(sys.modules.get(_PICKLING), "dispatch_table", None)
            self._keep(table, _PICKLING in used)
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
        """The same of what the candidate names, as long as not too much was looked at.

        It is asked before and after each call.
        """
        if not self._named or self._left < 0:
            return False
        self._left -= self._cost
        return any(map(self._is_other, self._named))

    def learn_container(self, name: str, value: Any) -> None:
        """A list or table that a module or class has."""
        if name in self._used or (self._by_name and type(value) is dict and _has_functions(value)):
            self._keep(value, name in self._used)

    def learn_function(self, function: Any) -> None:
        """A function of a module, for the sake of its defaults."""
        if self._by_name or "__kwdefaults__" in self._used:
            self._keep(function.__kwdefaults__, "__kwdefaults__" in self._used)

    def learn_class(self, kind: type, members: Any) -> None:
        """A class of a module, with its members."""
        for name in members if self._by_name else self._used & members.keys():
            if type(members[name]) in CONTAINERS and name[:2] != "__":
                self.learn_container(name, members[name])
        if self._registers and "_abc_impl" in members:
            self._abstract.append((kind, registered_with(kind)))

    def learn_object(self, value: Any, space: dict[str, Any]) -> None:
        """An object may get another class, or another function in the place of one that it holds."""
        if self._by_name or "__class__" in self._used:
            self._kinds.append((value, type(value)))
        if any(callable(space[name]) for name in self._used & space.keys()):
            self._keep(space, True)

    def _keep(self, value: Any, is_named: bool) -> None:
        if value is None or len(value) > _MOST_ITEMS or len(self._held) >= _MOSTCONTAINERS:
            return
        self._held.append((value, [*value], _values_of(value)))
        if is_named and self._cost + len(value) < _MOST_AT_A_CALL:
            self._named.append(self._held[-1])
            self._cost += len(value) + 1

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
