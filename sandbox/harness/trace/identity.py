"""What an object is, learned from C alone: no class has a say in it, by whatever name it goes.

A class may have a metaclass with its own idea of equality, hashing and attributes, a `__module__` and a
`__qualname__` that are no plain texts. So classes are told by identity, and parts are read by descriptors
of C.
"""

from __future__ import annotations

from _operator import is_
from itertools import repeat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# Looked up in the class `type`: a metaclass may have its own idea of them.
bases_of = type.__dict__["__mro__"].__get__
members_of = type.__dict__["__dict__"].__get__
_module = type.__dict__["__module__"].__get__
_qualname = type.__dict__["__qualname__"].__get__
_name = type.__dict__["__name__"].__get__
_flags = type.__dict__["__flags__"].__get__
_plain = str.__str__
_HEAP_FLAG, _IMMUTABLE_FLAG = 1 << 9, 1 << 8
_NOTHING = object()
_COMPUTED: tuple[Any, ...] = (type(type.__dict__["__dict__"]), type(type.__dict__["__mro__"]))


def is_one_of(kind: object, kinds: Iterable[object]) -> bool:
    """Whether it is one of them, by identity: `in` would ask its class."""
    return any(map(is_, kinds, repeat(kind)))


def is_made_in_c(kind: type) -> bool:
    """Whether a class can't be changed: no Python makes such a class."""
    flags = _flags(kind)
    return not flags & _HEAP_FLAG or bool(flags & _IMMUTABLE_FLAG)


def plain_text(value: object) -> str:
    """A text without what a class of texts adds to it; nothing of what is no text."""
    if type(value) is str:
        return value
    return _plain(value) if is_one_of(str, bases_of(type(value))) else ""


def module_of(kind: type) -> str:
    """The name of its module, as far as that is a text."""
    return plain_text(_module(kind)) if kind is not type else "builtins"


def qualified_name_of(kind: type) -> str:
    """Its name with those of the classes around it."""
    return plain_text(_qualname(kind))


def name_of(kind: type) -> str:
    """Its name alone."""
    return plain_text(_name(kind))


def stored_part(value: object, name: str) -> object:
    """An attribute that is stored in the object, or computed in C; None of any other."""
    for base in bases_of(type(value)):
        found = _held(members_of(base), name)
        if found is not _NOTHING:
            if not is_one_of(type(found), _COMPUTED):
                return None
            return type(found).__get__(found, value)  # type: ignore[attr-defined]  # both kinds are descriptors
    own = _own_dict(value)
    found = _held(own, name) if own is not None else None
    return None if found is _NOTHING else found


def _own_dict(value: object) -> dict[str, object] | None:
    for base in bases_of(type(value)):
        found = _held(members_of(base), "__dict__")
        if found is not _NOTHING:
            own = type(found).__get__(found, value) if is_one_of(type(found), _COMPUTED) else None  # type: ignore[attr-defined]
            return own if type(own) is dict else None
    return None


def _held(space: Any, name: str) -> object:
    """Looked through: a look-up may compare keys that have their own idea of being equal."""
    for key, held in space.items():
        if type(key) is str and key == name:
            return held
    return _NOTHING
