"""Rows of Parquet files, in constant memory; pyarrow reads them, which is an extra of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from retrieval.sources import Problem
from retrieval.sources.readers.compression import PACKED_AT_MOST, SURELY_SMALL
from retrieval.sources.readers.json_stream import RECORD_LIMIT
from retrieval.sources.readers.read_progress import add_read_bytes
from retrieval.sources.readers.records import Object, kind_of, read_record_objects

ENDING = ".parquet"
ROWS_AT_ONCE = 100
"""Of up to four million characters a text: memory is bounded by these rows."""
BUFFER = 2**20
BYTES_A_CHARACTER = 4
"""The most that UTF-8 takes."""
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


def read_parquet_rows(path: Path, columns: Sequence[str] = ()) -> Iterator[tuple[int, Object] | Problem]:
    """Yield (number from 1, record) with those of `columns` that the file has; without any, with all it has.

    Raises `MissingLibrary`.
    """
    arrow, parquet = import_pyarrow()
    size = path.stat().st_size
    number, left = 0, max(SURELY_SMALL, PACKED_AT_MOST * size)
    try:
        with parquet.ParquetFile(
            path, buffer_size=BUFFER, pre_buffer=False, read_dictionary=_text_columns(parquet, path)
        ) as file:
            wanted = [name for name in columns or file.schema_arrow.names if name in file.schema_arrow.names]
            if _stated_bytes(file.metadata, wanted) > left:
                yield _bomb(path, 1)
                return
            for batch in file.iter_batches(ROWS_AT_ONCE, columns=wanted):
                add_read_bytes(path, size * batch.num_rows // file.metadata.num_rows)
                unpacked = sum(map(_unpacked_bytes, batch.columns))
                if (left := left - unpacked) < 0:
                    yield _bomb(path, number + 1)
                    return
                records = _records(batch, unpacked > SURELY_SMALL)
                for number, record in enumerate(records, number + 1):  # noqa: B020 -- goes on from it
                    yield _within_limit(path, number, record)
    except (OSError, arrow.ArrowException, UnicodeDecodeError) as error:  # the last of a column's name
        why = " ".join(str(error).split())
        yield Problem(str(path), number, f"is not readable Parquet: {why}", costs_labels=True)


def read_any_records(path: Path, columns: Sequence[str] = ()) -> Iterator[tuple[int, Object] | Problem]:
    """As `read_record_objects` and `read_parquet_rows`; that pyarrow is missing is a problem of the file."""
    if kind_of(path) != ENDING:
        yield from read_record_objects(path)
        return
    try:
        yield from read_parquet_rows(path, columns)
    except MissingLibrary as missing:
        yield Problem(str(path), 0, str(missing), costs_labels=True)


def _bomb(path: Path, number: int) -> Problem:
    told = f"unpacks to over {PACKED_AT_MOST} times its size: what is left is not read"
    return Problem(str(path), number, told, costs_labels=True)


def _text_columns(parquet: Any, path: Path) -> list[str]:
    """Paths of the columns of texts: one that many rows share is then kept once until it is counted."""
    schema = parquet.read_metadata(path).schema
    columns = (schema.column(place) for place in range(len(schema)))
    return [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]


def _stated_bytes(metadata: Any, wanted: Sequence[str]) -> int:
    """What the file says that its pages unpack to, of the wanted columns."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    columns = (group.column(place) for group in groups for place in range(group.num_columns))
    return sum(
        column.total_uncompressed_size
        for column in columns
        if column.path_in_schema.partition(".")[0] in wanted
    )


def _unpacked_bytes(column: Any) -> int:
    """Bytes of a column's values; one that several rows share counts for each."""
    arrow, _ = import_pyarrow()
    if arrow.types.is_dictionary(column.type) and _is_text(arrow, column.type.value_type):
        from pyarrow import compute

        lengths = compute.binary_length(column.dictionary)
        return compute.sum(lengths.cast("int64").take(column.indices)).as_py() or 0
    if isinstance(column, (arrow.ListArray, arrow.LargeListArray, arrow.FixedSizeListArray)):
        return _unpacked_bytes(column.flatten())
    if isinstance(column, arrow.StructArray):
        return sum(map(_unpacked_bytes, column.flatten()))
    return int(column.nbytes)


def _is_text(arrow: Any, kind: Any) -> bool:
    kinds = ("is_string", "is_large_string", "is_binary", "is_large_binary")
    return any(getattr(arrow.types, is_kind)(kind) for is_kind in kinds)


def _records(batch: Any, is_large: bool) -> Iterator[Object | str]:
    """The rows of a batch, or what is wrong with one; those of a large batch are unpacked one by one."""
    try:
        rows = None if is_large else batch.to_pylist()
    except UnicodeDecodeError:
        rows = None
    if rows is not None:
        yield from rows
        return
    for place in range(batch.num_rows):
        yield _only_record(batch.slice(place, 1))


def _only_record(row: Any) -> Object | str:
    """The record of a batch of one; bytes that are no text cost the other rows nothing."""
    if sum(map(_unpacked_bytes, row.columns)) > BYTES_A_CHARACTER * RECORD_LIMIT:
        return _too_long()
    try:
        return dict(row.to_pylist()[0])
    except UnicodeDecodeError:
        return "has bytes that are not UTF-8"


def _too_long() -> str:
    return f"is longer than {RECORD_LIMIT:,} characters and is skipped"


def _within_limit(path: Path, number: int, record: Object | str) -> tuple[int, Object] | Problem:
    if isinstance(record, str):
        return Problem(str(path), number, record)
    if any(isinstance(value, str) and len(value) > RECORD_LIMIT for value in record.values()):
        return Problem(str(path), number, _too_long())
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
                yield Problem(str(path.parent / f"{part[1]}-…"), 0, message, costs_labels=True)


def _numbers_of(paths: Sequence[Path], path: Path, part: re.Match[str]) -> set[int]:
    """Which parts of the same file are here."""
    same = (PART.fullmatch(one.stem) for one in paths if one.parent == path.parent)
    return {int(one[2]) for one in same if one and (one[1], one[3]) == (part[1], part[3])}
