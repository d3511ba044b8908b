"""Bounded text of any value, the same in every run; on request without running code of the program's."""

from __future__ import annotations

from _collections import deque as _deque  # type: ignore[import-not-found]  # collections loads more
from itertools import islice

from sandbox.harness.trace.identity import (
    bases_of,
    is_made_in_c,
    is_one_of,
    module_of,
    name_of,
    plain_text,
    qualified_name_of,
)
from sandbox.harness.trace.library_values import array_pieces, library_pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

AS_PYTHON = 2
"""Trust, for a text that is to be compared with what `repr` gives."""
_PLAIN = (bool, type(None), float, complex, range, type(...), type(NotImplemented))
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_arguments = BaseException.__dict__["args"].__get__
_BUILT_IN: type = type(len)
_DESCRIPTOR: type = type(str.join)
_FUNCTIONS: tuple[type, ...] = (_BUILT_IN, type(lambda: 0), _DESCRIPTOR, type((lambda: (yield))()))
_DEEPEST, _MOST_BITS, _MOST_SORTED = 6, 4096, 500
# Bytes of a table, and as many times its items, beyond which its gaps take longer than what is shown.
_LARGE_TABLE, _SPARSE = 1 << 20, 150


def render(value: object, limit: int, trusting: int) -> str:
    """At most `limit` characters; `trusting` lets every class use its own `__repr__`.

    Arrays and tables are shown by their shape and first values, unless that is AS_PYTHON.
    """
    try:
        text = "".join(_pieces(value, limit, trusting, _DEEPEST))
    except MemoryError:
        return "<too large to show>"
    except BaseException as error:
        return f"<{qualified_name_of(type(value))} whose repr raised {name_of(type(error))}>"
    return text if len(text) <= limit else text[: max(limit - 1, 0)] + "…"


def _pieces(value: object, room: int, trusting: int, depth: int) -> Iterator[str]:
    kind = type(value)
    if kind is str or kind is bytes or kind is bytearray:
        yield repr(value[: room + 1])  # type: ignore[index]  # the three types above are sequences
    elif kind is int:
        bits = value.bit_length()  # type: ignore[attr-defined]  # it is an int
        yield repr(value) if bits <= _MOST_BITS else f"<int of {bits} bits>"
    elif is_one_of(kind, _PLAIN):
        yield repr(value)
    elif kind is list or kind is tuple or kind is dict or kind is set or kind is frozenset:
        yield from _container(value, kind, room, trusting, depth)
    else:
        yield from _other(value, kind, room, trusting, depth)


def _container(value: object, kind: type, room: int, trusting: int, depth: int) -> Iterator[str]:
    if depth == 0:
        yield "…"
        return
    if _is_sparse(value, kind):
        yield f"<{kind.__name__} of {len(value)}>"  # type: ignore[arg-type]  # it is a dict or a set
    elif kind is dict:
        items: Iterable[str] = _pairs(value, room, trusting, depth - 1)  # type: ignore[arg-type]  # it is a dict
        yield from _joined("{", items, "}", room)
    elif kind is list:
        yield from _joined("[", _items(value, room, trusting, depth - 1), "]", room)  # type: ignore[arg-type]
    elif kind is tuple:
        close = ",)" if len(value) == 1 else ")"  # type: ignore[arg-type]  # it is a tuple
        yield from _joined("(", _items(value, room, trusting, depth - 1), close, room)  # type: ignore[arg-type]
    elif not value:
        yield f"{kind.__name__}()"
    else:
        # A set's order is that of hashes, which for many objects are addresses.
        first = islice(value, _MOST_SORTED)  # type: ignore[call-overload]  # it is a set
        ordered = sorted(_items(first, room, trusting, depth - 1))
        if len(value) > _MOST_SORTED:  # type: ignore[arg-type]  # it is a set
            ordered.append("…")
        brackets = ("{", "}") if kind is set else ("frozenset({", "})")
        yield from _joined(brackets[0], ordered, brackets[1], room)


def _is_sparse(value: object, kind: type) -> bool:
    """Whether going through it takes long though it holds little: most of its table was emptied."""
    if kind is list or kind is tuple:
        return False
    size: int = kind.__sizeof__(value)  # type: ignore[call-arg]  # of the class, not of an object
    return size > _LARGE_TABLE and size > _SPARSE * len(value)  # type: ignore[arg-type]  # it is a dict or a set


def _items(values: Iterable[object], room: int, trusting: int, depth: int) -> Iterator[str]:
    for value in values:
        yield "".join(_pieces(value, room, trusting, depth))


def _pairs(value: dict[object, object], room: int, trusting: int, depth: int) -> Iterator[str]:
    for key, held in dict.items(value):
        left = "".join(_pieces(key, room, trusting, depth))
        yield f"{left}: {''.join(_pieces(held, room, trusting, depth))}"


def _joined(opening: str, items: Iterable[str], closing: str, room: int) -> Iterator[str]:
    yield opening
    separator = ""
    for item in items:
        yield separator + item
        separator = ", "
        room -= len(item) + 2
        if room < 0:
            yield ", …"
            break
    yield closing


def _other(value: object, kind: type, room: int, trusting: int, depth: int) -> Iterator[str]:
    def part(inner: object, left: int) -> Iterator[str]:
        if depth:
            yield from _pieces(inner, left, trusting, depth - 1)
        else:
            yield "…"

    shown = None if trusting == AS_PYTHON else array_pieces(value, kind, room, part)
    if shown is not None:
        yield from shown
    elif is_one_of(type, bases_of(kind)):
        yield f"<class {qualified_name_of(value)}>"  # type: ignore[arg-type]  # it is a class
    elif is_one_of(kind, _FUNCTIONS):
        yield f"<{kind.__name__} {_function_name(value, kind)}>"
    elif trusting:
        yield repr(value)
    else:
        shown = library_pieces(value, kind, room, part)
        yield from shown if shown is not None else _distrusted(value, kind, room, depth)


def _function_name(value: object, kind: type) -> str:
    """With its class where that has no say in it: the method of an object asks the object's class."""
    owner: object = value.__self__ if kind is _BUILT_IN else None  # type: ignore[attr-defined]
    is_class = is_one_of(type, bases_of(type(owner)))
    if is_made_in_c(type(owner)) and (not is_class or is_made_in_c(owner)):  # type: ignore[arg-type]
        return plain_text(value.__qualname__)  # type: ignore[attr-defined]  # all of them have one
    return plain_text(value.__name__)  # type: ignore[attr-defined]


def _distrusted(value: object, kind: type, room: int, depth: int) -> Iterator[str]:
    module, name = module_of(kind), qualified_name_of(kind)
    if module == "builtins" and is_made_in_c(kind) and is_one_of(BaseException, bases_of(kind)):
        yield name
        yield from _pieces(_arguments(value), room, False, depth)
    elif is_one_of(kind, _VIEWS):
        yield f"{name}("
        yield from _first(value, "[", "]", room, depth)  # type: ignore[arg-type]  # views are iterable
        yield ")"
    elif (
        module == "collections"
        and name in ("OrderedDict", "defaultdict", "Counter")
        and is_one_of(dict, bases_of(kind))
    ):
        yield f"{name}("
        if depth and not _is_sparse(value, dict):
            yield from _joined("{", _pairs(value, room, False, depth - 1), "}", room)  # type: ignore[arg-type]
        else:
            yield "…"
        yield ")"
    elif kind is _deque:
        yield "deque("
        yield from _first(value, "[", "]", room, depth)  # type: ignore[arg-type]  # it is iterable
        yield ")"
    else:
        yield f"<{name} object>"


def _first(values: Iterable[object], opening: str, closing: str, room: int, depth: int) -> Iterator[str]:
    """As a list of them reads, without making one."""
    if depth:
        yield from _joined(opening, _items(values, room, False, depth - 1), closing, room)
    else:
        yield "…"
