"""What containers of the program hold, read without running code of their classes, and what they held.

Of large ones, and of tables of pandas, there is only a sum: a copy would take memory that the program needs.
"""

from __future__ import annotations

import _operator
import gc
import sys

from sandbox.harness.guards.class_members import is_of_library, module_of
from sandbox.harness.trace.library_values import arrays_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    # Containers by their identity, each with what it holds.
    Held = dict[int, tuple[object, Any]]

_is, _len, _referents = _operator.is_, len, gc.get_referents
_bases = type.__dict__["__mro__"].__get__
_members = type.__dict__["__dict__"].__get__
_Function, _set_attribute = type(lambda: 0), object.__setattr__
_BuiltIn, _Module = type(len), type(sys)
_Method = type((lambda self: 0).__get__(0))
PLAIN = frozenset(map(id, (bool, int, float, complex, str, bytes, type(None), range, type, _Module)))
"""The types whose values nobody can change, or that are no data."""
# Built-in types whose values lead to others, which are changed by way of them.
_VIEWS = {
    id(kind)
    for kind in (
        *map(type, (iter([]), iter(()), iter(set()), reversed([]), iter(int, 0), memoryview(b""))),
        *map(type, ({}.keys(), {}.values(), {}.items(), iter({}), iter({}.values()), iter({}.items()))),
        *(map, filter, zip, enumerate, reversed, type(reversed({})), type(type.__dict__)),
        *map(type, _referents(memoryview(b""))),
    )
}
_OF_VIEWS = ("itertools", "functools")
_MOST_VALUES, _MOST_BYTES = 3000, 1 << 20
MOST_ITEMS = 100_000
"""Of a larger container only a sum is kept."""
_ITEMS_AT_A_TIME = 10_000
_MOST_COPIED, _COST_OF_TABLE = 1_000_000, 20_000
# What stands for the contents of a container of which there is only a sum, where nobody asks for that.
_LARGE = ""


class _Slotless:
    pass


class _Slotted:
    __slots__ = ("held",)


_Namespace: Any = type(sys.implementation)
_ATTRIBUTES: Any = type(vars(_Slotless)["__dict__"]), type(vars(_Namespace)["__dict__"])
_Slot = type(_Slotted.__dict__["held"])
_WITH_ATTRIBUTES = ("__main__", "collections", "argparse")
_CHANGEABLE = frozenset(map(id, (list, dict, set, bytearray)))


def contents_of(value: Any) -> Any:
    """What a container holds, one after another; None of anything else. No code of its class is run."""
    if type(value) is type:
        return (*_members(value).keys(), *_members(value).values())
    bases = _bases(type(value))
    for base in bases:
        reader = _READERS.get(id(base))
        if reader is not None:
            return reader(value)
        members = _members(base)
        if base is _Namespace or members.get("__module__") in _WITH_ATTRIBUTES:
            if type(members.get("__dict__")) in _ATTRIBUTES:
                return _of_dict(members["__dict__"].__get__(value))
            if "__slots__" in members:
                return _of_slots(value, bases)
    return _contents_of_library(value, bases)


def _of_dict(value: Any) -> Any:
    return (*dict.keys(value), *dict.values(value)) if dict.__len__(value) <= MOST_ITEMS else _LARGE


def _of_slots(value: Any, bases: tuple[type, ...]) -> Any:
    """What an object has in slots, and in attributes beside them."""
    found: dict[str, object] = {}
    for base in bases:
        for name, one in _members(base).items():
            if type(one) is _Slot:
                try:
                    found.setdefault(name, one.__get__(value))
                except AttributeError:
                    continue  # nothing was put there yet
            elif name == "__dict__" and type(one) in _ATTRIBUTES:
                found.update(one.__get__(value))
    return _of_dict(found)


def _reader(kind: Any) -> Any:
    return lambda value: (*kind.__iter__(value),) if kind.__len__(value) <= MOST_ITEMS else _LARGE


def _of_bytes(value: Any) -> bytes | str:
    return bytes(memoryview(value)) if bytearray.__len__(value) <= _MOST_BYTES else _LARGE


_READERS: dict[int, Any] = {id(kind): _reader(kind) for kind in (list, tuple, set, frozenset)}
_READERS.update({id(dict): _of_dict, id(bytearray): _of_bytes})


def _contents_of_library(value: Any, bases: tuple[type, ...]) -> Any:
    for module, name in (("_collections", "deque"), ("array", "array"), ("numpy", "ndarray")):
        kind: Any = vars(sys.modules[module]).get(name) if module in sys.modules else None
        if kind is None or not any(base is kind for base in bases):
            continue
        if name == "deque":
            return (*kind.__iter__(value),) if kind.__len__(value) <= MOST_ITEMS else _LARGE
        is_array = name == "ndarray"
        if is_array and value.dtype.hasobject:
            return _LARGE
        size = value.nbytes if is_array else kind.__len__(value) * value.itemsize
        return kind.tobytes(value) if size <= _MOST_BYTES else _LARGE
    return _LARGE if _is_table(bases) else None


def _is_table(bases: tuple[type, ...]) -> bool:
    pandas: Any = sys.modules.get("pandas")
    kinds = (vars(pandas).get("DataFrame"), vars(pandas).get("Series")) if pandas is not None else ()
    return any(base is kind for base in bases for kind in kinds)


def sum_of(value: Any) -> str:
    """A text that is another one when a container holds other objects, or an array other bytes."""
    bases = _bases(type(value))
    if _is_table(bases):
        return " ".join([sum_of(array) for array in arrays_of(value)])
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and any(base is numpy.ndarray for base in bases):
        flat = numpy.ndarray.reshape(numpy.ndarray.view(value, numpy.ndarray), -1)
        return _sum_of_parts(_len(flat), lambda begin, end: flat[begin:end].tobytes())
    if any(base is list for base in bases):
        read = list.__getitem__
        return _sum_of_parts(
            list.__len__(value), lambda begin, end: (*map(id, read(value, slice(begin, end))),)
        )
    if any(base is bytearray for base in bases):
        view = memoryview(value)
        return _sum_of_parts(_len(view), lambda begin, end: bytes(view[begin:end]))
    return _sum_of_items(value, bases)


def _sum_of_parts(length: int, read: Callable[[int, int], Any]) -> str:
    total = length
    for begin in range(0, length, _ITEMS_AT_A_TIME):
        total = hash((total, read(begin, begin + _ITEMS_AT_A_TIME)))
    return str(total)


def _sum_of_items(value: Any, bases: tuple[type, ...]) -> str:
    kind: Any = next((base for base in bases if id(base) in _READERS), None)
    if kind is None:
        return str(id(value))
    total, place = kind.__len__(value), 1
    for one in kind.items(value) if kind is dict else kind.__iter__(value):
        place = place * 3 % 0xFFFFFFFB
        total ^= (id(one[0]) + 7 * id(one[1]) if kind is dict else id(one)) * place
    return str(total)


class Copy:
    """What a large container or a table was, and its sum. `cost` counts items."""

    __slots__ = ("cost", "sum", "value")

    def __init__(self, value: Any, total: str, cost: int) -> None:
        self.value, self.sum, self.cost = value, total, cost


def copy_of(value: Any) -> Copy | None:
    """A copy of a large container or a table, of a class as the library has it; None of any other."""
    kind = type(value)
    pandas: Any = sys.modules.get("pandas")
    if pandas is not None and kind in (vars(pandas).get("DataFrame"), vars(pandas).get("Series")):
        cost = sum(int(array.size) for array in arrays_of(value)) + _COST_OF_TABLE
    elif kind in (list, dict, set):
        cost = _len(value)
    else:
        return None
    return Copy(value.copy(), sum_of(value), cost) if cost <= _MOST_COPIED else None


def without_sums(held: Held) -> Held:
    """Those of which contents are known."""
    return {key: one for key, one in held.items() if type(one[1]) is not str}


def _parts(value: Any, contents: Any) -> tuple[Any, ...]:
    """What can be reached by way of a value."""
    kind = type(value)
    if contents is not None:
        return contents if type(contents) is tuple else _bases_of_array(value)
    if id(kind) in _VIEWS or (module_of(kind) in _OF_VIEWS and is_of_library(kind, _members(kind))):
        return (*_referents(value),)
    if kind is _Method or kind is _BuiltIn:
        return (value.__self__,)
    if kind is not _Function:
        return ()
    cells = []
    for cell in value.__closure__ or ():
        try:
            cells.append(cell.cell_contents)
        except ValueError:
            continue  # nothing was put there yet
    return (*cells, *(value.__defaults__ or ()))


def _bases_of_array(value: Any) -> tuple[Any, ...]:
    """The array of which one is a part."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is None or not any(base is numpy.ndarray for base in _bases(type(value))):
        return ()
    return (numpy.ndarray.base.__get__(value),)


def held_by(values: list[Any]) -> Held:
    """The containers that can be reached from some values, each with what it holds, by their identity."""
    found: Held = {}
    waiting, seen, left = [*values], set[int](), _MOST_VALUES
    while waiting and left:
        value = waiting.pop()
        if id(type(value)) in PLAIN or id(value) in seen:
            continue
        left -= 1
        seen.add(id(value))
        contents = contents_of(value)
        if contents is not None and type(value) not in (tuple, frozenset):
            found[id(value)] = value, contents
        parts = _parts(value, contents)[:_MOST_VALUES]
        waiting += [one for one in parts if id(type(one)) not in PLAIN]
    return found


def is_as_it_was(value: object, before: Any) -> bool:
    """Whether a container holds what it held, the very same objects."""
    if type(before) is Copy:
        return sum_of(value) == before.sum
    now = sum_of(value) if type(before) is str else contents_of(value)
    if type(before) is not tuple:
        return bool(now == before)
    if _len(now) != _len(before):
        return False
    return all(map(_is, now, before)) or (_is_set(value) and {*map(id, now)} == {*map(id, before)})


def _is_set(value: object) -> bool:
    return any(base is set for base in _bases(type(value)))


def is_left(now: Any, before: Any) -> bool:
    """Whether contents are some of what there was, in the same order."""
    if type(now) is not tuple or type(before) is not tuple or _len(now) >= _len(before):
        return False
    rest = iter(before)
    return all(any(one is other for other in rest) for one in now)


def with_classes(values: list[Any]) -> list[Any]:
    """Some values, and the data of the program's classes that are among them, or whose objects are."""
    found = [*values]
    for value in values:
        kind = value if type(value) is type else type(value)
        for base in _bases(kind):
            members = _members(base)
            if members.get("__module__") == "__main__":
                found += [one for one in members.values() if id(type(one)) in _CHANGEABLE]
    return found


def holds(value: object, changed: Held) -> bool:
    """Whether one of some containers can be reached from a value."""
    if not changed:
        return False
    held = {*held_by(with_classes([value])), id(value), *map(id, _bases(type(value)))}
    return not changed.keys().isdisjoint(held)


def restored(value: Any, changed: Held, made: dict[int, Any]) -> Any:
    """A copy of a value that holds what it held before; TypeError of a kind that can't be copied so."""
    kind = type(value)
    if id(value) in made:
        return made[id(value)]
    contents = changed[id(value)][1] if id(value) in changed else contents_of(value)
    if type(contents) is Copy:
        return contents.value
    if contents is None or type(contents) is str or kind in (_Module, _Function):
        return value
    if type(contents) is bytes:
        return _array_of(value, contents) if id(value) in changed else value
    if kind is list or kind is dict or kind is set:
        new: Any = kind()
        made[id(value)] = new
    elif kind is tuple or kind is frozenset:
        return kind([restored(one, changed, made) for one in contents])
    elif not holds(value, changed):
        return value
    elif any(_members(base).get("__module__") == "__main__" for base in _bases(kind)):
        new = made[id(value)] = object.__new__(kind)
    else:
        raise TypeError
    parts = [restored(one, changed, made) for one in contents]
    if kind is list:
        new.extend(parts)
    elif kind is set:
        new.update(parts)
    else:
        pairs = zip(parts[: _len(parts) // 2], parts[_len(parts) // 2 :], strict=True)
        for name, part in pairs:
            if kind is dict:
                new[name] = part
            else:
                _set_attribute(new, name, part)
    return new


def _array_of(value: Any, contents: bytes) -> Any:
    if type(value) is bytearray:
        return bytearray(contents)
    if type(value).__name__ == "array":
        return type(value)(value.typecode, contents)
    new = value.copy()
    new.reshape(-1).view("u1")[:] = memoryview(contents)
    return new
