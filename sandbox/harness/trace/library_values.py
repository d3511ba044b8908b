"""Values of the standard library, of NumPy and of pandas as text, without running any Python of theirs.

Classes that are made in C cannot be changed; of the others what is stored is read, and what is written in
Python (a `__repr__`, a property) is never called: a program may have put something else in its place.
"""

from __future__ import annotations

from sandbox.harness.trace.identity import (
    bases_of,
    is_made_in_c,
    is_one_of,
    module_of,
    name_of,
    qualified_name_of,
    stored_part,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Pieces = Callable[[object, int], Iterator[str]]

_TIMES = ("date", "time", "datetime", "timedelta", "timezone")
_MOST_BYTES, _MOST_COLUMNS = 2000, 10
# Rows, columns and further places of an array that are shown of it, by its number of dimensions.
_HEADS = {0: 1, 1: 60, 2: 12}
_WORDS = {"i": "int", "u": "uint", "f": "float", "c": "complex"}


def library_pieces(value: Any, kind: type, room: int, pieces: Pieces) -> Iterator[str] | None:
    """The text of a value of a known library; None of any other. `pieces` gives that of a part."""
    module, name = module_of(kind), qualified_name_of(kind)
    if is_made_in_c(kind):
        if module == "numpy" or module.startswith("numpy."):
            return _numpy(value, kind, name, room, pieces)
        return (
            iter([repr(value)]) if _is_plain(value, module, name) else _cut(value, module, name, room, pieces)
        )
    show = _STORED.get((module, name))
    return show(value, room, pieces) if show else None


def array_pieces(value: Any, kind: type, room: int, pieces: Pieces) -> Iterator[str] | None:
    """The text of an array, a table, or a part of one, with shape and first values; None of others."""
    module, name = module_of(kind), qualified_name_of(kind)
    if is_made_in_c(kind):
        return _array(value, room, pieces) if (module, name) == ("numpy", "ndarray") else None
    show = _TABLES.get(name) if module == "pandas" or module.startswith("pandas.") else None
    return show(value, room, pieces) if show else None


def _is_plain(value: Any, module: str, name: str) -> bool:
    """Whether the repr shows nothing that a program's class could be part of, and little of it."""
    if module == "decimal" and name == "Decimal":
        return bool(value.__sizeof__() < _MOST_BYTES)
    if module == "datetime" and name in _TIMES:
        return _is_plain_zone(value) if name == "timezone" else _is_plain_zone(getattr(value, "tzinfo", None))
    if module == "re" and name == "Pattern":
        return is_one_of(type(value.pattern), (str, bytes))
    if module == "zoneinfo" and name == "ZoneInfo":
        return _is_plain_zone(value)
    return False


def _is_plain_zone(zone: Any) -> bool:
    """Whether a time zone is one of the library's, and is named by a plain text."""
    if zone is None:
        return True
    module, name = module_of(type(zone)), qualified_name_of(type(zone))
    if not is_made_in_c(type(zone)):
        return False
    if (module, name) == ("datetime", "timezone"):
        return all(type(one) is str or is_made_in_c(type(one)) for one in zone.__getinitargs__())
    return (module, name) == ("zoneinfo", "ZoneInfo") and type(zone.key) is str


def _cut(value: Any, module: str, name: str, room: int, pieces: Pieces) -> Iterator[str] | None:
    if module == "array" and name == "array":
        return iter([repr(value[: room + 1])])
    if module == "re" and name == "Match":
        begin, end = value.span()
        match = value.group() if end - begin <= room else "…"
        return iter([f"<re.Match object; span=({begin}, {end}), match={match!r}>"])
    return None


def _fraction(value: Any, room: int, pieces: Pieces) -> Iterator[str]:
    yield "Fraction("
    yield from pieces(stored_part(value, "_numerator"), room)
    yield ", "
    yield from pieces(stored_part(value, "_denominator"), room)
    yield ")"


def _uuid(value: Any, room: int, pieces: Pieces) -> Iterator[str]:
    number = stored_part(value, "int")
    digits = f"{number:032x}" if type(number) is int and 0 <= number < 1 << 128 else "?" * 32
    yield f"UUID('{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}')"


def _path(value: Any, room: int, pieces: Pieces) -> Iterator[str]:
    root, parts = stored_part(value, "_root"), stored_part(value, "_parts")
    if type(parts) is not list or any(type(part) is not str for part in parts) or type(root) is not str:
        yield f"<{name_of(type(value))} object>"
        return
    text = root + "/".join(parts[1:]) if root else "/".join(parts) or "."
    yield f"{name_of(type(value))}({text!r})"


def _numpy(value: Any, kind: type, name: str, room: int, pieces: Pieces) -> Iterator[str] | None:
    if name == "ndarray":
        return _array(value, room, pieces)
    if any(name_of(base) == "generic" and is_made_in_c(base) for base in bases_of(kind)):
        item = value.item()
        return None if type(item) is kind else _named(f"np.{name}", item, room, pieces)
    return None


def _named(name: str, value: object, room: int, pieces: Pieces) -> Iterator[str]:
    yield f"{name}("
    yield from pieces(value, room)
    yield ")"


def _array(value: Any, room: int, pieces: Pieces) -> Iterator[str]:
    yield f"ndarray(shape={value.shape}, dtype={_dtype(value)}, "
    yield from _head(value, room, pieces)
    yield ")"


def _dtype(array: Any) -> str:
    kind = array.dtype
    word = _WORDS.get(kind.kind)
    return f"{word}{kind.itemsize * 8}" if word else {"b": "bool", "O": "object"}.get(kind.kind, kind.str)


def _head(array: Any, room: int, pieces: Pieces) -> Iterator[str]:
    """The first values, as lists in lists read."""
    most = min(_HEADS.get(array.ndim, 3), room)
    # Of one without dimensions a part would be what it holds.
    part = array[(slice(0, most),) * array.ndim] if array.ndim else array
    yield from pieces(part.tolist(), room)
    if any(length > most for length in array.shape):
        yield " …"


def _stored_array(value: object) -> Any:
    """The array in which an index or a column stores its values; None where that is none of NumPy's."""
    for _ in range(4):
        kind = type(value)
        if is_made_in_c(kind) and (module_of(kind), qualified_name_of(kind)) == ("numpy", "ndarray"):
            return value
        value = next(
            (part for name in ("_ndarray", "_data") if (part := stored_part(value, name)) is not None), None
        )
    return None


def _index(value: object, room: int, pieces: Pieces) -> Iterator[str]:
    array, steps = _stored_array(value), stored_part(value, "_range")
    yield f"{qualified_name_of(type(value))}("
    if array is not None:
        yield f"shape={array.shape}, dtype={_dtype(array)}, "
        yield from _head(array, room, pieces)
    elif type(steps) is range:
        yield f"{steps.start}, {steps.stop}, {steps.step}"
    else:
        yield "…"
    yield ")"


def _length(index: object) -> int | None:
    array, steps = _stored_array(index), stored_part(index, "_range")
    return len(array) if array is not None else len(steps) if type(steps) is range else None


def _index_labels(index: object, most: int) -> list[object]:
    array, steps = _stored_array(index), stored_part(index, "_range")
    if array is not None and array.ndim == 1:
        found: list[object] = array[:most].tolist()
        return found
    return list(steps[:most]) if type(steps) is range else []


def _blocks(value: object) -> tuple[list[Any], list[Any]]:
    """The axes of a table and the blocks of its columns; nothing where it stores them otherwise."""
    manager = stored_part(value, "_mgr")
    axes, blocks = stored_part(manager, "axes"), stored_part(manager, "blocks")
    if type(axes) is not list or type(blocks) is not tuple:
        return [], []
    return axes, list(blocks)


def _series(value: object, room: int, pieces: Pieces) -> Iterator[str]:
    _, blocks = _blocks(value)
    array = _stored_array(stored_part(blocks[0], "values")) if blocks else None
    yield "Series("
    if array is None:
        yield "…)"
        return
    yield f"shape={array.shape}, dtype={_dtype(array)}, "
    yield from _head(array, room, pieces)
    yield ")"


def _frame(value: object, room: int, pieces: Pieces) -> Iterator[str]:
    axes, blocks = _blocks(value)
    lengths = [_length(axis) for axis in axes]
    if len(axes) != 2 or None in lengths:
        yield "DataFrame(…)"
        return
    yield f"DataFrame(shape=({lengths[1]}, {lengths[0]})"
    labels, columns = _index_labels(axes[0], _MOST_COLUMNS), dict(_columns(blocks))
    for place, label in enumerate(labels):
        yield ", "
        yield from pieces(label, room)
        array = columns.get(place)
        if array is not None:
            yield f": {_dtype(array)} "
            yield from _head(array, room, pieces)
    yield ")" if len(labels) == lengths[0] else ", …)"


def arrays_of(table: object) -> list[Any]:
    """The arrays of NumPy in a table or column of pandas: its columns in their order, then the rest."""
    axes, blocks = _blocks(table)
    columns = dict(_columns(blocks, None))
    masks = [stored_part(stored_part(block, "values"), "_mask") for block in blocks]
    found = [columns[place] for place in sorted(columns)] + [*map(_stored_array, [*axes, *masks])]
    return [one for one in found if one is not None]


def _columns(blocks: list[Any], most: int | None = _MOST_COLUMNS) -> Iterator[tuple[int, Any]]:
    for block in blocks:
        array = _stored_array(stored_part(block, "values"))
        places = _stored_array(stored_part(stored_part(block, "_mgr_locs"), "as_array"))
        if array is None or places is None:
            continue
        for row, place in enumerate(places[:most].tolist()):
            yield place, array[row] if array.ndim == 2 else array


_STORED: dict[tuple[str, str], Any] = {
    ("fractions", "Fraction"): _fraction,
    ("uuid", "UUID"): _uuid,
    ("pathlib", "PosixPath"): _path,
    ("pathlib", "PurePosixPath"): _path,
}
_TABLES: dict[str, Any] = {
    "DataFrame": _frame,
    "Series": _series,
    "Index": _index,
    "RangeIndex": _index,
    "DatetimeIndex": _index,
}
