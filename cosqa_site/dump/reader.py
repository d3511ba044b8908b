"""Reads a dump's folder: what its manifest says, whether its files are whole, and the rows of its tables."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from cosqa_site.dump.home_files import FOLDERS, PLACE
from cosqa_site.dump.manifest import (
    FORMAT,
    FORMAT_VERSION,
    NAME,
    DumpedFile,
    DumpedTable,
    Manifest,
    digest_of_file,
)
from retrieval.texts.small_files import parse_json, read_small_json

AGAIN = "Export again, or copy the folder again"


class BadDump(ValueError):
    """The folder can't be loaded; the message says what is wrong with it."""


def read_manifest(folder: Path) -> Manifest:
    """What a dump says of itself. Raises BadDump."""
    path = folder / NAME
    try:
        told = read_small_json(path)
    except OSError as why:
        raise BadDump(f"{folder} is no dump: {NAME} can't be read ({why.strerror}).") from why
    except ValueError as why:
        raise BadDump(f"{path} is not JSON: {why}. {AGAIN}.") from why
    refuse_other_format(told, path)
    try:
        tables = {name: DumpedTable(**table) for name, table in told["tables"].items()}
        return Manifest(tables, {name: DumpedFile(**file) for name, file in told["files"].items()})
    except (AttributeError, KeyError, TypeError) as why:
        raise BadDump(f"{path} is not as 'export everything' writes it: {why!r}. {AGAIN}.") from why


def refuse_other_format(told: Any, path: Path) -> None:
    """Raises BadDump."""
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        raise BadDump(f"{path} is not of a dump: 'export everything' writes one.")
    if told.get("version") != FORMAT_VERSION:
        raise BadDump(
            f"{path} has version {told.get('version')!r} of the format; this release reads {FORMAT_VERSION}. "
            "Load it with the release that wrote it."
        )


def refuse_damaged_files(manifest: Manifest, folder: Path) -> None:
    """Raises BadDump where a file is missing, was changed, or lies where a dump has none."""
    for name, table in manifest.tables.items():
        if table.file != f"{name}.jsonl.gz":
            raise BadDump(f"{NAME} names the file {table.file!r} for {name}. {AGAIN}.")
        refuse_damaged_file(folder / table.file, table.sha256)
    for path, file in manifest.files.items():
        parts = PurePosixPath(path).parts
        if ".." in parts or parts[0] not in FOLDERS:
            raise BadDump(f"{NAME} names the file {path!r}, which is none of a home. {AGAIN}.")
        refuse_damaged_file(folder / PLACE / path, file.sha256)


def refuse_damaged_file(path: Path, sha256: str) -> None:
    """Raises BadDump."""
    try:
        found = digest_of_file(path)
    except OSError as why:
        raise BadDump(f"{path} can't be read ({why.strerror}). {AGAIN}.") from why
    if found != sha256:
        raise BadDump(f"{path} was changed: its sha256 is {found}, not {sha256}. {AGAIN}.")


def read_rows(path: Path, columns: list[str]) -> Iterator[list[Any]]:
    """The values of each row, in the order of `columns`. Raises BadDump."""
    with gzip.open(path, "rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = parse_json(line)
                values = [row[name] for name in columns]
            except (ValueError, KeyError, TypeError) as why:
                raise BadDump(f"{path}, line {number}: {why!r}. {AGAIN}.") from why
            if len(row) != len(columns):
                raise BadDump(f"{path}, line {number}: {len(row)} columns, not {len(columns)}. {AGAIN}.")
            yield values
