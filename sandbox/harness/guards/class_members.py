"""Classes as they are: looked up in the class `type`, as a class may have its own idea of itself."""

from __future__ import annotations

import _functools  # type: ignore[import-not-found]  # functools itself imports collections and more
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

Function = type(lambda: 0)
HOLDING: tuple[type, ...] = (list, tuple, dict, set, frozenset)
WRITTEN: tuple[type, ...] = (bool, int, float, complex, str, bytes, bytearray, type(None))
# By their identity: a class of the candidate may have the hash of another one, and call itself equal to it.
PLAIN = frozenset(map(id, (*WRITTEN, range, type(...), slice)))
"""The types whose values have no idea of their own of anything, nor hold what could have one."""
EXPECTED = frozenset(map(id, (*WRITTEN, *HOLDING)))
MOST_VALUES, DEEPEST = 1000, 6
# Libraries whose classes are values, in the sense of `is_of_values`.
_OF_VALUES = frozenset(
    {
        *(
            "_decimal",
            "_io",
            "_pydecimal",
            "array",
            "collections",
            "datetime",
            "decimal",
            "enum",
            "fractions",
        ),
        *("io", "ipaddress", "numpy", "pandas", "pathlib", "statistics", "uuid"),
    }
)
# Looked up in the class `type`: a metaclass may have its own idea of them.
bases_of = type.__dict__["__mro__"].__get__
members_of = type.__dict__["__dict__"].__get__
flags_of, name_of = type.__dict__["__flags__"].__get__, type.__dict__["__name__"].__get__
module_of = type.__dict__["__module__"].__get__
MADE_BY_A_STATEMENT = 1 << 9
FROM_C = frozenset({type(str.__eq__), type(dict.get), type(object.__dict__["__class__"])})


def has_class(bases: tuple[type, ...], kind: object) -> bool:
    """Whether a class is one of these, by its identity."""
    return any(base is kind for base in bases)


def is_of_library(base: type, members: Any) -> bool:
    """Whether a class is where its module has it, and no statement of the candidate made it."""
    module, name = members.get("__module__"), name_of(base)
    space = vars(sys.modules[module]) if type(module) is str and module in sys.modules else {}
    return not flags_of(base) & MADE_BY_A_STATEMENT or (module != "__main__" and space.get(name) is base)


def is_of_values(kind: type) -> bool:
    """Whether programs write values of a class, or compare with them: a number, a text, a date, a table."""
    if id(kind) in EXPECTED:
        return True
    root = str(module_of(kind)).partition(".")[0]
    return root in _OF_VALUES and name_of(kind)[:4] != "User" and is_of_library(kind, members_of(kind))


def has_code(found: Any, code: CodeType) -> bool:
    """Whether a member of a class runs this code when it is called."""
    for _ in range(DEEPEST):
        if type(found) is Function:
            return bool(found.__code__ is code)
        found = wrapped_by(found)
    return False


def has_own_methods(value: object, kind: type) -> bool:
    """Whether a value of a library's class has a function of its own in the place of one of its methods."""
    bases = [base for base in bases_of(kind) if is_of_values(base)]
    if not bases:
        return False
    try:
        space = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return False
    names = [name for name, one in dict.items(space) if type(one) is Function]
    return any(name in members_of(base) for base in bases for name in names)


def wrapped_by(found: Any) -> Any:
    """The function in a property, and in what functools makes of one; None in anything else."""
    if type(found) is property:
        return found.fget
    functools: Any = sys.modules.get("functools")
    if functools is None or type(found) not in (
        *(functools.partialmethod, functools.singledispatchmethod),
        _functools._lru_cache_wrapper,
    ):
        return None
    return vars(found).get("func") or vars(found).get("__wrapped__")


def values_in(value: Any, kind: type) -> list[object]:
    """What a container of a built-in type, or of a class that is one, has in it, as far as is looked at."""
    if kind is list or kind is tuple:
        return [*value[:MOST_VALUES]]
    bases = bases_of(kind)
    if has_class(bases, dict):
        found: list[object] = []
        for key, held in zip(dict.keys(value), dict.values(value), strict=False):
            found += (key, held)
            if len(found) > MOST_VALUES:
                break
        return found
    for one in HOLDING:
        if has_class(bases, one):
            return [inner for inner, _ in zip(one.__iter__(value), range(MOST_VALUES), strict=False)]  # type: ignore[attr-defined]
    return []
