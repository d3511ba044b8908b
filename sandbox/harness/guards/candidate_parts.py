"""Parts of what the candidate defines that change without a word: methods, and defaults given by name."""

from __future__ import annotations

import _operator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_Function, _is = type(lambda: 0), _operator.is_
_DEEPEST = 4


class Part:
    """A part that changes without a word: methods of a class, or defaults given by name."""

    __slots__ = ("_are_methods", "_before", "_keys", "_space", "_values")

    def __init__(self, space: Any, are_methods: bool) -> None:
        self._space, self._are_methods = space, are_methods
        self._keys: list[str] = []
        self._values: list[object] = []
        self._before = self._now()
        self._keep()

    def is_changed(self) -> bool:
        """Whether it is another one, or has others in it."""
        space, values = self._space, self._values
        is_kept = bool(values) and len(space) == len(values) and all(map(_is, space.values(), values))
        if is_kept and all(map(_is, space, self._keys)):
            return False
        if self._now() != self._before:
            return True
        self._keep()
        return False

    def _now(self) -> list[tuple[str, int]]:
        are_methods = self._are_methods
        return [(key, id(one)) for key, one in self._space.items() if not are_methods or _is_method(one)]

    def _keep(self) -> None:
        # Data may be something that is to end when nobody else has it any more.
        values = [*self._space.values()]
        is_lasting = all(_is_method(one) or id(type(one)) in _LASTING for one in values)
        self._keys, self._values = ([*self._space], values) if is_lasting else ([], [])


# By their identity, as a class of the candidate's may have its own idea of being equal. The last two are what
# classes have for slots, and for the attributes of their objects.
_LASTING = frozenset(
    map(
        id,
        (str, int, float, bool, type(None), type(type.__dict__["__mro__"]), type(type.__dict__["__dict__"])),
    )
)


def find_parts(value: Any, file: str) -> list[Part]:
    """The parts of a class, or of a function and those of `file` that it holds."""
    if isinstance(value, type):
        return [Part(vars(value), True)]
    named = (one.__kwdefaults__ for one in _functions_in(value, file))
    return [Part(given, False) for given in named if given]


def _functions_in(value: object, file: str) -> list[Any]:
    """A function, and those of the candidate that it holds, as decorators make them."""
    found: list[Any] = []
    waiting = [(value, _DEEPEST)]
    while waiting:
        one, depth = waiting.pop()
        if type(one) is not _Function or not depth:
            continue
        if one.__code__.co_filename == file:
            found.append(one)
        for cell in one.__closure__ or ():
            try:
                waiting.append((cell.cell_contents, depth - 1))
            except ValueError:
                continue  # nothing was put there yet
    return found


def _is_method(member: object) -> bool:
    return callable(member) or isinstance(member, (property, staticmethod, classmethod))
