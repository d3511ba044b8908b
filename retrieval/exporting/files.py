"""Files of an export: JSON arrays and lines that are streamed, under other names until they are whole."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, Final

from retrieval.disk_space import is_full_disk
from retrieval.texts.small_files import read_small_json

MANIFEST: Final = "workbench.json"
"""Says what the folder holds, who labelled it, and how; with it an import gives the same benchmark."""
FORMAT: Final = "cosqa-workbench export 1"
PROVENANCE: Final = "provenance"
"""The folder of what a format has no place for: sources of labels, origins, licences, unjudged pairs."""


STAGE: Final = ".being-written-"
"""How the place begins where an export is written until it is whole."""


class FolderInUse(ValueError):
    """The folder has files that no export wrote; the message says what to do."""


class Output:
    """A file of a folder, called `….part` until it is whole. Use it as a context."""

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / name
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.part = self.path.with_name(f"{self.path.name}.part")
        self.file: IO[bytes] = self.part.open("wb")
        self.count = 0

    def __enter__(self) -> Output:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        try:
            self.end()
            self.file.close()  # writes what is in its buffer, for which the disk may be too full
            if kind is None:
                self.part.replace(self.path)
        finally:
            self.part.unlink(missing_ok=True)

    def end(self) -> None:
        """What comes after the last record."""

    def add(self, record: bytes) -> None:
        """Write a record, which has its own end of line."""
        self.file.write(record)
        self.count += 1

    def line(self, record: Mapping[str, Any]) -> None:
        """Write a record as a line of JSON."""
        self.add(json.dumps(record).encode() + b"\n")


class JsonArray(Output):
    """One JSON array with a record a line."""

    def add(self, record: bytes) -> None:
        self.file.write(b",\n" if self.count else b"[\n")
        super().add(record)

    def end(self) -> None:
        self.file.write(b"\n]\n" if self.count else b"[]\n")


@contextmanager
def stage_export(folder: Path) -> Iterator[Path]:
    """A place inside `folder` to write in. Once the block ends well, its files take the places of those of an
    earlier export; where it fails, or its process is killed, the earlier export stays. Raises `FolderInUse`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    replaced = find_earlier_files(folder)
    with TemporaryDirectory(prefix=STAGE, dir=folder, ignore_cleanup_errors=True) as name:
        stage = Path(name)
        yield stage
        for path in replaced:
            path.unlink(missing_ok=True)
        for path in _files_in(stage):
            target = folder / path.relative_to(stage)
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)


def _files_in(stage: Path) -> list[Path]:
    """All files, the manifest last: a folder that has it is whole."""
    files = [path for path in stage.rglob("*") if path.is_file()]
    return sorted(files, key=lambda path: path.name == MANIFEST)


def why_unwritten(error: OSError, home: str) -> str:
    """What to do about a file that could not be written; a full disk is told as one."""
    if not is_full_disk(error):
        return f"The file could not be written: {error.strerror or 'unknown error'}."
    return (
        f"The disk is full, and nothing of the export was kept. Make room where {home} lies, or the "
        f"folder of temporary files ({tempfile.gettempdir()}), then export again."
    )


def find_earlier_files(folder: Path) -> list[Path]:
    """The files of the export that is there; what a killed one was writing goes. Raises `FolderInUse`."""
    for stage in folder.glob(f"{STAGE}*"):
        shutil.rmtree(stage)
    manifest = folder / MANIFEST
    if not manifest.exists() and any(folder.iterdir()):
        raise FolderInUse(f"{folder} is not empty: name a new folder, or an earlier export to be replaced.")
    paths = [(folder / name).resolve() for name in (_files(manifest) if manifest.exists() else ())]
    return [path for path in paths if path.is_relative_to(folder.resolve())]


def _files(manifest: Path) -> list[str]:
    try:
        told = read_small_json(manifest)
        if told.get("format") == FORMAT:
            return [str(name) for name in told["files"]]
    except (ValueError, KeyError, AttributeError, TypeError):
        pass
    raise FolderInUse(f"{manifest} is not of an export: name a new folder.")
