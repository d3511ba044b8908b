"""Rows of Parquet files, in constant memory; pyarrow reads them, which is an extra of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from retrieval.sources import Problem
from retrieval.sources.readers.json_stream import RECORD_LIMIT
from retrieval.sources.readers.lines import PACKED_AT_MOST, SURELY_SMALL
from retrieval.sources.readers.read_progress import add_read_bytes
from retrieval.sources.readers.records import Object

ENDING = ".parquet"
ROWS_AT_ONCE = 100
"""Of up to four million characters a text: memory is bounded by these rows."""
BUFFER = 2**20
PART = re.compile(r"(.+)-(\d{5})-of-(\d{5})")
"""How data sets are cut: `test-00000-of-00002.parquet`."""
CONVERTED = re.compile(r"\d{4}")
"""How the hub names what it converts itself: `test/0000.parquet`."""


class MissingLibrary(ValueError):
    """Parquet needs pyarrow; the message says how to install it."""


def import_pyarrow() -> tuple[Any, Any]:
    """pyarrow, and its module for Parquet. Raises `MissingLibrary`."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingLibrary("Parquet files need pyarrow: pip install 'cosqa-workbench[parquet]'") from error
    return pyarrow, pyarrow.parquet


def read_parquet_rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, Object] | Problem]:
    """Yield (number from 1, record) with those of `columns` that the file has. Raises `MissingLibrary`."""
    arrow, parquet = import_pyarrow()
    size = path.stat().st_size
    number, left = 0, max(SURELY_SMALL, PACKED_AT_MOST * size)
    try:
        with parquet.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False) as file:
            wanted = [name for name in columns if name in file.schema_arrow.names]
            for batch in file.iter_batches(ROWS_AT_ONCE, columns=wanted):
                add_read_bytes(path, size * batch.num_rows // file.metadata.num_rows)
                if (left := left - batch.nbytes) < 0:
                    told = f"unpacks to over {PACKED_AT_MOST} times its size: what is left is not read"
                    yield Problem(str(path), number + 1, told)
                    return
                for number, record in enumerate(_records(batch), number + 1):  # noqa: B020 -- goes on from it
                    yield _within_limit(path, number, record)
    except (OSError, arrow.ArrowException, UnicodeDecodeError) as error:  # the last of a column's name
        why = " ".join(str(error).split())
        yield Problem(str(path), number, f"is not readable Parquet: {why}")


def _records(batch: Any) -> Sequence[Object | None]:
    """The rows of a batch; None for one with bytes that are no text, which costs the others nothing."""
    try:
        return list(batch.to_pylist())
    except UnicodeDecodeError:
        found: list[Object | None] = []
        for place in range(batch.num_rows):
            try:
                found += batch.slice(place, 1).to_pylist()
            except UnicodeDecodeError:
                found.append(None)
        return found


def _within_limit(path: Path, number: int, record: Object | None) -> tuple[int, Object] | Problem:
    if record is None:
        return Problem(str(path), number, "has bytes that are not UTF-8")
    if any(isinstance(value, str) and len(value) > RECORD_LIMIT for value in record.values()):
        message = f"is longer than {RECORD_LIMIT:,} characters and is skipped"
        return Problem(str(path), number, message)
    return number, record


def split_of(path: Path) -> str:
    """The split whose rows a file has, without the number of a part.

    >>> [split_of(Path(name)) for name in ("qrels/test-00000-of-00002.parquet", "default/dev/0000.parquet")]
    ['test', 'dev']
    """
    if part := PART.fullmatch(path.stem):
        return part[1]
    return path.parent.name if CONVERTED.fullmatch(path.stem) else path.stem


def missing_parts(paths: Sequence[Path]) -> Iterator[Problem]:
    """Yield, of files that were cut, those that are not here."""
    for path in paths:
        part = PART.fullmatch(path.stem)
        if part and int(part[2]) == min(_numbers_of(paths, path, part)):
            found = _numbers_of(paths, path, part)
            missing = sorted(set(range(int(part[3]))) - found)
            if missing:
                first = f"{part[1]}-{missing[0]:05}-of-{part[3]}{path.suffix}"
                message = f"has {len(found)} of {int(part[3])} parts: {first} is not there"
                yield Problem(str(path.parent / f"{part[1]}-…"), 0, message)


def _numbers_of(paths: Sequence[Path], path: Path, part: re.Match[str]) -> set[int]:
    """Which parts of the same file are here."""
    same = (PART.fullmatch(one.stem) for one in paths if one.parent == path.parent)
    return {int(one[2]) for one in same if one and (one[1], one[3]) == (part[1], part[3])}
