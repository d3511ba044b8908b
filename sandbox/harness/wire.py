"""Length-prefixed JSON on file descriptors, by the C half of the json module: all of it loads slowly."""

from __future__ import annotations

import _json
import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _Decoding:
    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = float


def decode(text: str) -> Any:
    """The value of a JSON text that starts at its first character."""
    return _json.make_scanner(_Decoding())(text, 0)[0]  # type: ignore[arg-type]  # any object with these attributes


def encode(value: Any) -> str:
    """JSON text of strings, numbers, None, lists, tuples and dicts; in ASCII, which keeps lone surrogates."""
    encoder = _json.make_encoder(
        None, _refuse, _json.encode_basestring_ascii, None, ":", ",", False, False, True
    )
    return "".join(encoder(value, 0))


def read_message(descriptor: int) -> Any:
    """One message; EOFError when the other side closes before it is complete."""
    length = int.from_bytes(_read(descriptor, 4), "big")
    return decode(_read(descriptor, length).decode())


def write_message(descriptor: int, value: Any) -> None:
    """One message, completely."""
    data = encode(value).encode()
    write_all(descriptor, len(data).to_bytes(4, "big") + data)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data`, however many calls it takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _read(descriptor: int, length: int) -> bytes:
    parts = []
    while length:
        part = os.read(descriptor, min(length, 1 << 16))
        if not part:
            raise EOFError("the caller closed before the request was complete")
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _refuse(value: object) -> object:
    raise TypeError(f"{type(value).__name__} does not travel")
