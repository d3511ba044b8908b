"""Bounded text of any value, the same in every run; on request without running code of the program's."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PLAIN = (bool, type(None), float, complex, range, type(...), type(NotImplemented))
# Of the classes of these modules the repr shows nothing that a program's class could be part of.
_QUIET = frozenset(
    {"array", "datetime", "decimal", "fractions", "numpy", "pathlib", "re", "uuid", "zoneinfo"}
)
_TIME_ZONES = frozenset({"NoneType", "timezone", "ZoneInfo"})
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
# Looked up in the class `type`: a metaclass may have its own idea of them.
_module = type.__dict__["__module__"].__get__
_qualname = type.__dict__["__qualname__"].__get__
_bases = type.__dict__["__mro__"].__get__
_arguments = BaseException.__dict__["args"].__get__
_FUNCTIONS: tuple[type, ...] = (
    type(len),
    type(lambda: 0),
    type([].append),
    type(str.join),
    type((lambda: (yield))()),
)
_DEEPEST, _MOST_BITS = 6, 4096


def render(value: object, limit: int, trusting: bool) -> str:
    """At most `limit` characters; `trusting` lets every class use its own `__repr__`."""
    try:
        text = "".join(_pieces(value, limit, trusting, _DEEPEST))
    except MemoryError:
        return "<too large to show>"
    except Exception as error:
        return f"<{_class(value)} whose repr raised {type(error).__name__}>"
    return text if len(text) <= limit else text[: max(limit - 1, 0)] + "…"


def _pieces(value: object, room: int, trusting: bool, depth: int) -> Iterator[str]:
    kind = type(value)
    if kind is str or kind is bytes or kind is bytearray:
        yield repr(value[: room + 1])  # type: ignore[index]  # the three types above are sequences
    elif kind is int:
        bits = value.bit_length()  # type: ignore[attr-defined]  # it is an int
        yield repr(value) if bits <= _MOST_BITS else f"<int of {bits} bits>"
    elif kind in _PLAIN:
        yield repr(value)
    elif kind is list or kind is tuple or kind is dict or kind is set or kind is frozenset:
        yield from _container(value, kind, room, trusting, depth)
    else:
        yield from _other(value, kind, room, trusting, depth)


def _container(value: object, kind: type, room: int, trusting: bool, depth: int) -> Iterator[str]:
    if depth == 0:
        yield "…"
        return
    if kind is dict:
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
        ordered = sorted(_items(value, room, trusting, depth - 1))  # type: ignore[arg-type]  # it is a set
        brackets = ("{", "}") if kind is set else ("frozenset({", "})")
        yield from _joined(brackets[0], ordered, brackets[1], room)


def _items(values: Iterable[object], room: int, trusting: bool, depth: int) -> Iterator[str]:
    for value in values:
        yield "".join(_pieces(value, room, trusting, depth))


def _pairs(value: dict[object, object], room: int, trusting: bool, depth: int) -> Iterator[str]:
    for key, held in value.items():
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


def _other(value: object, kind: type, room: int, trusting: bool, depth: int) -> Iterator[str]:
    if type in _bases(kind):
        yield f"<class {_qualname(value)}>"
    elif trusting and kind not in _FUNCTIONS:
        yield repr(value)
    elif kind in _FUNCTIONS:
        yield f"<{kind.__name__} {value.__qualname__}>"  # type: ignore[attr-defined]  # all of them have one
    else:
        yield from _distrusted(value, kind, room, depth)


def _distrusted(value: object, kind: type, room: int, depth: int) -> Iterator[str]:
    module = str(_module(kind))
    name = str(_qualname(kind))
    if module == "builtins" and BaseException in _bases(kind):
        yield name
        yield from _pieces(_arguments(value), room, False, depth)
    elif kind in _VIEWS:
        yield f"{name}("
        yield from _pieces([*value], room, False, depth)  # type: ignore[misc]  # views are iterable
        yield ")"
    elif module == "collections" and name in ("OrderedDict", "defaultdict", "Counter"):
        yield f"{name}("
        yield from _pieces({**value}, room, False, depth)  # type: ignore[dict-item]  # they are dicts
        yield ")"
    elif module == "collections" and name == "deque":
        yield "deque("
        yield from _pieces([*value], room, False, depth)  # type: ignore[misc]  # it is iterable
        yield ")"
    elif module.partition(".")[0] in _QUIET and _holds_no_object(value, module):
        yield repr(value)
    else:
        yield f"<{name} object>"


def _holds_no_object(value: object, module: str) -> bool:
    if module == "datetime":
        return type(getattr(value, "tzinfo", None)).__name__ in _TIME_ZONES
    return not getattr(getattr(value, "dtype", None), "hasobject", False)


def _class(value: object) -> str:
    return str(_qualname(type(value)))
