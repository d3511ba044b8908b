"""Writes a dump: all tables in one state, a row at a time, so that it needs little memory at any size."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from tqdm import tqdm

from cosqa_site.dump.folder import stage_folder
from cosqa_site.dump.home_files import copy_home_files
from cosqa_site.dump.manifest import NAME, DumpedTable, Manifest, digest_of_file
from cosqa_site.dump.snapshot import hold_snapshot
from cosqa_site.dump.tables import Table, columns_of, tables_of_dump
from cosqa_site.dump.values import encoder_of

ROWS_AT_ONCE: Final = 500
"""As many as memory holds: a row of a wide text may have some hundred kilobytes."""
GZIP_LEVEL: Final = 3
"""Higher ones take several times as long and save a few per cent: wide texts are compressed already."""
COMPACT: Final = json.JSONEncoder(separators=(",", ":"))


def write_dump(home: Path, folder: Path, bar: tqdm[Any]) -> Manifest:
    """Write everything into the new `folder`; `bar` tells rows. Raises OSError."""
    with stage_folder(folder) as stage, hold_snapshot():
        tables = tables_of_dump()
        bar.reset(sum(table._base_manager.count() for table in tables.values()))
        dumped = {name: dump_table(table, stage, bar) for name, table in tables.items()}
        manifest = Manifest(dumped, copy_home_files(home, stage))
        (stage / NAME).write_text(json.dumps(manifest.as_json(), indent=1) + "\n", "utf-8")
    return manifest


def dump_table(table: Table, folder: Path, bar: tqdm[Any]) -> DumpedTable:
    path = folder / f"{table._meta.label_lower}.jsonl.gz"
    rows = 0
    with open_gzip_writer(path) as file:
        for line in encode_rows(table):
            file.write(line)
            rows += 1
            bar.update()
    names = [field.name for field in columns_of(table)]
    return DumpedTable(path.name, rows, digest_of_file(path), names)


def encode_rows(table: Table) -> Iterator[bytes]:
    """Each row as a line of JSON, in the order of keys."""
    fields = list(columns_of(table))
    columns = [(field.name, encoder_of(field)) for field in fields]
    rows = table._base_manager.order_by("pk").values_list(*(field.attname for field in fields))
    for row in rows.iterator(chunk_size=ROWS_AT_ONCE):
        line = {
            name: value if encode is None or value is None else encode(value)
            for (name, encode), value in zip(columns, row, strict=True)
        }
        yield COMPACT.encode(line).encode("ascii") + b"\n"


@contextmanager
def open_gzip_writer(path: Path) -> Iterator[IO[bytes]]:
    """A gzip file without a name or a date inside: equal rows make equal files."""
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", compresslevel=GZIP_LEVEL, fileobj=raw, mtime=0) as file,
    ):
        yield file  # type: ignore[misc]  # the stubs don't take it for a file
