"""What the functions with the program's assertions hold: defaults, and the cells of their closures.

The candidate may change neither, but where it was given such a function or mentions it: then it may call it.
"""

from __future__ import annotations

import _operator

from sandbox.harness.guards.contents import held_by, is_as_it_was, without_sums

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from sandbox.harness.guards.contents import Held

_is = _operator.is_
_Function = type(lambda: 0)
_members = type.__dict__["__dict__"].__get__
_EMPTY = object()


class FunctionParts:
    """Of one run."""

    def __init__(self) -> None:
        self._functions: list[Any] = []

    @property
    def has_any(self) -> bool:
        """Whether any of them holds anything."""
        return bool(self._functions)

    def learn(self, values: Iterable[Any], codes: set[int]) -> None:
        """Find the functions with these codes among some values of the module, and in its classes."""
        found = [*values]
        found += [one for value in found if type(value) is type for one in _members(value).values()]
        self._functions = [
            one
            for one in found
            if type(one) is _Function
            and id(one.__code__) in codes
            and (one.__closure__ or one.__defaults__ or one.__kwdefaults__)
        ]

    def entered(self, given: Iterable[object], mentioned: Iterable[str]) -> tuple[list[object], Held]:
        """What they hold as the candidate is called; it may call those that it was given or mentions."""
        known = {*map(id, given)}
        names = {*mentioned}
        self._functions = [
            one
            for one in self._functions
            if id(one) not in known and (one.__name__ not in names or "." in one.__qualname__)
        ]
        values = self._values()
        theirs = held_by([*given])
        held = without_sums(held_by(values))
        return values, {key: one for key, one in held.items() if key not in theirs}

    def is_changed(self, before: tuple[list[object], Held]) -> bool:
        """Whether they hold something else than `entered` has told."""
        values, held = before
        now = self._values()
        is_same = len(now) == len(values) and all(map(_is, now, values))
        return not is_same or not all(is_as_it_was(*one) for one in held.values())

    def _values(self) -> list[Any]:
        found: list[Any] = []
        for one in self._functions:
            found += [*(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values()]
            for cell in one.__closure__ or ():
                try:
                    found.append(cell.cell_contents)
                except ValueError:
                    found.append(_EMPTY)
        return found
