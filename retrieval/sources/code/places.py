"""Where source files lie: a file, a folder, an archive, a Git repository, or the standard library."""

from __future__ import annotations

import os
import stat
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path

from retrieval.sources import Problem
from retrieval.sources.code import archives, files, git
from retrieval.sources.code.files import SourceFile, is_licence, licence_of, within_limit
from retrieval.sources.readers.read_progress import expect_file_read
from retrieval.texts.hostile import mark_hostile_characters

STDLIB = "stdlib"
STDLIB_LICENCE = "PSF-2.0"
NO_SOURCE = frozenset({"__pycache__", "site-packages", "dist-packages", "node_modules"})
STDLIB_TESTS = frozenset({"test", "tests", "idle_test"})
OUT = "is a link out of the folder and is skipped"
KNOWN = "a folder, a {} file, a .whl, .zip or .tar.gz, git+PATH_OR_URL[@REVISION], or the word stdlib"


def is_path(place: Path | str) -> bool:
    """Whether a place is one of this machine's files and folders."""
    return str(place) != STDLIB and not str(place).startswith(git.MARK)


def expect_archives(places: Sequence[Path | str]) -> None:
    """Say how much will be read, where all places are archives: of the others nobody knows before."""
    paths = [Path(place) for place in places]
    if all(path.name.endswith((*archives.ZIPS, *archives.TARS)) and is_path(path) for path in paths):
        for path in paths:
            expect_file_read(path)


def iterate_source_files(
    place: Path | str, endings: tuple[str, ...] = (".py",)
) -> Iterator[SourceFile | Problem]:
    """Yield the source files of a place whose names end in one of `endings`, in order of path."""
    if str(place) == STDLIB:
        name = f"Python {sysconfig.get_python_version()} standard library"
        yield from _folder(Path(sysconfig.get_paths()["stdlib"]), name, STDLIB_LICENCE, endings, STDLIB_TESTS)
    elif not is_path(place):
        yield from git.read_git_files(str(place), endings)
    else:
        yield from _on_disk(Path(place), endings)


def _on_disk(place: Path, endings: tuple[str, ...]) -> Iterator[SourceFile | Problem]:
    if place.is_dir():
        yield from _folder(place, place.resolve().name, _licence(place), endings)
    elif place.name.endswith(archives.ZIPS) and place.is_file():
        yield from archives.read_zip(place, endings)
    elif place.name.endswith(archives.TARS) and place.is_file():
        yield from archives.read_tar(place, endings)
    elif place.name.endswith(endings) and place.is_file():
        yield _one_file(place, place.name, place.name, "")
    else:
        known = KNOWN.format(" or ".join(endings))
        message = f"is not {known}" if place.exists() else f"does not exist; expected {known}"
        yield Problem(str(place), 0, message)


def _folder(
    root: Path,
    origin: str,
    licence: str,
    endings: tuple[str, ...],
    left_out: frozenset[str] = frozenset(),
) -> Iterator[SourceFile | Problem]:
    unread = list[OSError]()
    for folder, folders, names in os.walk(root, onerror=unread.append):
        folders[:] = sorted(f for f in folders if f not in NO_SOURCE | left_out and not f.startswith("."))
        for path in (Path(folder, name) for name in sorted(names) if name.endswith(endings)):
            inside = path.relative_to(root).as_posix()
            out = leads_out(path, root)
            yield Problem(str(path), 0, OUT) if out else _one_file(path, inside, origin, licence)
        yield from (
            Problem(str(path), 0, OUT) for name in folders if leads_out(path := Path(folder, name), root)
        )
    for error in unread:
        why = f"cannot be read: {error.strerror or error}"
        yield Problem(str(error.filename), 0, why, costs_labels=True)


def leads_out(path: Path, root: Path) -> bool:
    """Whether a file or folder is a link to what lies outside of a folder. What lies inside is read there."""
    return path.is_symlink() and not path.resolve().is_relative_to(root.resolve())


def _one_file(path: Path, name: str, origin: str, licence: str) -> SourceFile | Problem:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # reading a pipe would wait for ever
            return Problem(str(path), 0, "is no regular file and is skipped")
        with path.open("rb") as stream:
            content = stream.read(files.FILE_LIMIT + 1)
    except OSError as error:
        return Problem(str(path), 0, f"cannot be read: {error.strerror or error}", costs_labels=True)
    return within_limit(
        SourceFile(mark_hostile_characters(name), content, origin, licence)
    )  # names may be any bytes


def _licence(root: Path) -> str:
    """Of the licence at a folder's root."""
    for path in sorted(root.iterdir()):
        if is_licence(path.name) and path.is_file():
            file = _one_file(path, path.name, root.name, "")
            return "" if isinstance(file, Problem) else licence_of(file.content.decode("utf-8", "replace"))
    return ""
