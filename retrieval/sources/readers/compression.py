"""The text of a file, packed or not, in the encoding that its first bytes tell.

gzip, bzip2 and xz are unpacked in bounded memory, and zstd where pyarrow is there. How much an honest file
unpacks to is said with the text: who reads it counts.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import math
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple, TextIO

from retrieval.sources.readers.read_progress import open_metered_file

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

PACKED: Final = (".gz", ".bz2", ".xz", ".zst")
PACKED_AT_MOST: Final = 200
SURELY_SMALL: Final = 64 * 2**20
"""JSON and CSV pack to a tenth; what packs to a two-hundredth, and is larger than this, is a bomb."""
XZ_MEMORY_BYTES: Final = 128 * 2**20
"""What `xz -9` needs is half of it."""
CHUNK: Final = 2**16
PEEKED: Final = 8_192
UNREADABLE: Final = (OSError, EOFError, zlib.error, lzma.LZMAError, ValueError)
"""What reading a damaged or hostile file may raise; gzip's BadGzipFile is an OSError."""
FIRST_BYTES: Final = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz", b"\x28\xb5\x2f\xfd": ".zst"}
UTF_8: Final = "utf-8-sig"
ENCODINGS: Final = (
    (re.compile(codecs.BOM_UTF32_LE + b"|" + codecs.BOM_UTF32_BE, re.DOTALL), "utf-32"),
    (re.compile(codecs.BOM_UTF16_LE + b"|" + codecs.BOM_UTF16_BE, re.DOTALL), "utf-16"),
    (re.compile(rb"[^\0]\0[^\0]\0", re.DOTALL), "utf-16-le"),
    (re.compile(rb"\0[^\0]\0[^\0]", re.DOTALL), "utf-16-be"),
)
"""By the mark of byte order; without one, text of JSON or a table begins with two letters of ASCII."""


class Opened(NamedTuple):
    """A file's text, and how many characters of it are read at most: of a packed one, what an honest one has.

    Bytes that are not UTF-8 are lone surrogates in it. `end` is what ends its lines; empty: any line end.
    """

    stream: TextIO
    most: float
    end: str = ""


def without_packing(name: str) -> str:
    """A file's name without what says that it is packed."""
    return next((name[: -len(end)] for end in PACKED if name.lower().endswith(end)), name)


@contextmanager
def open_text(path: Path, newline: str | Callable[[str], str] = "") -> Iterator[Opened]:
    """Lines end at `newline`, or at what it finds in the first characters; empty: at any line end.

    Raises what is in UNREADABLE, also while it is read.
    """
    with open_metered_file(path) as raw:
        packing = _packing_of(path, raw)
        plain = UNPACKERS[packing](raw) if packing else raw
        most = max(SURELY_SMALL, PACKED_AT_MOST * path.stat().st_size) if packing else math.inf
        head = plain.peek(4)[:4]
        encoding = encoding_of(head)
        errors = "surrogateescape" if encoding == UTF_8 else "surrogatepass"
        end = newline if isinstance(newline, str) else newline(plain.peek(PEEKED).decode(encoding, "replace"))
        with io.TextIOWrapper(plain, encoding=encoding, errors=errors, newline=end) as stream:
            yield Opened(stream, most, end)


def is_longer_than(path: Path, characters: int) -> bool:
    """Whether the text of a file is, once it is unpacked; no more is unpacked. One that is damaged is not."""
    left = characters
    try:
        with open_text(path) as (stream, *_):
            while left >= 0 and (part := stream.read(CHUNK)):
                left -= len(part)
    except UNREADABLE:
        pass  # whoever reads it says why
    return left < 0


def encoding_of(head: bytes) -> str:
    """The encoding of a text, by its first four bytes."""
    return next((name for pattern, name in ENCODINGS if pattern.match(head)), UTF_8)


def packing_of(head: bytes) -> str:
    """The ending that tells how a file is packed, by its first six bytes; empty for none."""
    return next((end for mark, end in FIRST_BYTES.items() if head.startswith(mark)), "")


def why_unread(error: Exception) -> str:
    """What an exception of UNREADABLE says of a file."""
    if isinstance(error, UnicodeDecodeError):
        return f"{error.reason}; convert the file to UTF-8"
    return str(getattr(error, "strerror", "") or error)


def _packing_of(path: Path, raw: io.BufferedReader) -> str:
    """As `packing_of`, else by the file's name."""
    by_name = next((end for end in PACKED if path.name.lower().endswith(end)), "")
    return packing_of(raw.peek(6)[:6]) or by_name


def _unpack_xz(raw: BinaryIO) -> io.BufferedReader:
    return io.BufferedReader(_Pieces(_xz_pieces(raw).__next__), CHUNK)


def _xz_pieces(raw: BinaryIO) -> Iterator[bytes]:
    """Yield what the streams of a file hold; their headers say how much memory they want, which is capped."""
    waiting = raw.read(CHUNK)
    while waiting:
        unpacker = lzma.LZMADecompressor(memlimit=XZ_MEMORY_BYTES)
        while not unpacker.eof:
            if piece := unpacker.decompress(waiting, CHUNK):
                yield piece
            waiting = raw.read(CHUNK) if unpacker.needs_input else b""
            if unpacker.needs_input and not waiting and not unpacker.eof:
                raise EOFError("it is cut off")
        waiting = (unpacker.unused_data + waiting).lstrip(b"\0") or raw.read(CHUNK).lstrip(b"\0")


def _unpack_zstd(raw: BinaryIO) -> io.BufferedReader:
    try:
        import pyarrow
    except ImportError as error:
        raise ValueError("it is packed with zstd: unpack it first, with zstd -d FILE") from error
    stream = pyarrow.CompressedInputStream(raw, "zstd")
    return io.BufferedReader(_Pieces(lambda: stream.read(CHUNK)), CHUNK)


class _Pieces(io.RawIOBase):
    """A file of the bytes that a function returns, until it returns none or stops."""

    def __init__(self, read: Callable[[], bytes]) -> None:
        self.read_piece, self.left = read, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer)
        if not self.left:
            try:
                self.left = self.read_piece()
            except StopIteration:
                return 0
        piece, self.left = self.left[: len(view)], self.left[len(view) :]
        view[: len(piece)] = piece
        return len(piece)


UNPACKERS: Final[dict[str, Callable[[io.BufferedReader], Any]]] = {
    ".gz": lambda raw: gzip.GzipFile(fileobj=raw),
    ".bz2": bz2.BZ2File,
    ".xz": _unpack_xz,
    ".zst": _unpack_zstd,
}
