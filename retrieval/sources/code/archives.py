"""Source files out of wheels, zips, sdists and tars. Nothing is unpacked on disk.

Hostile archives are capped: members by number and size, what a whole archive unpacks to, and the headers of a
tar. Paths that lead out of the archive and links are refused with a message.
"""

from __future__ import annotations

import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, Self

from retrieval.sources import Problem
from retrieval.sources.code import files
from retrieval.sources.code.files import SourceFile, is_licence, licence_in_metadata, licence_of, within_limit
from retrieval.sources.readers.read_progress import finish_file_count, open_metered_file
from retrieval.texts.hostile import mark_hostile_characters

ZIPS = (".whl", ".zip")
TARS = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar")
MEMBERS_LIMIT = 200_000
UNPACKED_LIMIT = 2 * 2**30
"""Bytes that are unpacked of one archive."""
HEADER_LIMIT = 2**20
DAMAGED = (tarfile.InvalidHeaderError, tarfile.TruncatedHeaderError, tarfile.EmptyHeaderError)  # type: ignore[attr-defined]
"""Of a header that is none, as against the mark of the archive's end."""
UNREADABLE = (
    OSError,
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    RuntimeError,
    NotImplementedError,
    ValueError,
)


def read_zip(path: Path, endings: tuple[str, ...]) -> Iterator[SourceFile | Problem]:
    """Yield a wheel's or zip's source files by name, of members that end in one of `endings`."""
    try:
        with open_metered_file(path) as raw, zipfile.ZipFile(raw) as archive:
            members = archive.infolist()
            if len(members) > MEMBERS_LIMIT:
                yield _too_many(path)
                return
            licence, unpacked = _zip_licence(archive), 0
            for info in sorted(members, key=lambda info: info.filename):
                if info.filename.endswith(endings):
                    file = _zip_member(archive, info, path.name, licence)
                    unpacked += len(file.content) if isinstance(file, SourceFile) else files.FILE_LIMIT
                    yield file
                if unpacked > UNPACKED_LIMIT:
                    yield _too_large(path)
                    return
            finish_file_count(path)
    except UNREADABLE as error:
        yield Problem(str(path), 0, f"is not a readable zip or wheel: {error}", costs_labels=True)


def read_tar(path: Path, endings: tuple[str, ...]) -> Iterator[SourceFile | Problem]:
    """Yield an sdist's or tar's source files in its order."""
    licence = _tar_licence(path)
    try:
        for member, content in _tar_members(path):
            if isinstance(member, Problem):
                yield member
            elif member.name.endswith(endings) and not member.isdir():
                yield _tar_member(member, content, path.name, licence)
        finish_file_count(path)
    except UNREADABLE as error:
        yield Problem(str(path), 0, f"is not a readable tar or sdist: {error}", costs_labels=True)


def _zip_member(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, origin: str, licence: str
) -> SourceFile | Problem:
    refused = why_refused(info.filename, stat.S_ISLNK(info.external_attr >> 16))
    if refused:
        return Problem(f"{origin}: {info.filename[:200]}", 0, refused)
    try:
        with archive.open(info) as stream:  # a zip bomb is read to the limit, whatever size it states
            content = stream.read(files.FILE_LIMIT + 1)
    except UNREADABLE as error:
        why = f"cannot be unpacked: {error}"
        return Problem(f"{origin}: {info.filename}", 0, why, costs_labels=True)
    return within_limit(SourceFile(info.filename, content, origin, licence))


def _zip_licence(archive: zipfile.ZipFile) -> str:
    """What a wheel's METADATA states, or the text of a licence at the root."""
    text = ""
    for info in sorted(archive.infolist(), key=lambda info: info.filename.count("/")):
        name = PurePosixPath(info.filename)
        metadata = name.name == "METADATA" and name.parent.suffix == ".dist-info"
        if not metadata and (text or not is_licence(info.filename)):
            continue
        file = _zip_member(archive, info, "", "")
        content = "" if isinstance(file, Problem) else file.content.decode("utf-8", "replace")
        if metadata:
            return licence_in_metadata(content)
        text = content
    return licence_of(text)


class _CappedHeader(tarfile.TarInfo):
    """A member whose long name or attributes are not read into memory at any length.

    A header that is cut off, or none, ends the reading with a message: `tarfile` takes all but the first for
    the archive's end.
    """

    @classmethod
    def fromtarfile(cls, tarfile_: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(tarfile_)
        except DAMAGED as error:
            raise tarfile.ReadError(f"cut off or damaged: {error}") from error

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if not self.isreg() and self.size > HEADER_LIMIT and self.type not in tarfile.REGULAR_TYPES:
            raise tarfile.ReadError(f"a header of {self.size:,} bytes")
        return super()._proc_member(archive)  # type: ignore[misc,no-any-return]  # tarfile's one hook for it


def _tar_members(path: Path) -> Iterator[tuple[tarfile.TarInfo | Problem, IO[bytes] | None]]:
    """Yield the members with their open contents, to the limits; memory does not grow with their number."""
    number = unpacked = 0
    with open_metered_file(path) as raw, _tar(raw) as archive:
        for member in archive:
            archive.members = []  # type: ignore[attr-defined]  # else a stream remembers all that it passed
            number, unpacked = number + 1, unpacked + member.size
            if number > MEMBERS_LIMIT or unpacked > UNPACKED_LIMIT:
                yield (_too_many(path) if number > MEMBERS_LIMIT else _too_large(path)), None
                return
            yield member, archive.extractfile(member) if member.isreg() else None


def _tar(raw: IO[bytes]) -> tarfile.TarFile:
    try:
        return tarfile.open(fileobj=raw, mode="r|*", tarinfo=_CappedHeader)
    except (AttributeError, TypeError) as error:  # of `tarfile` itself: a field of it, or it is cut off
        raise tarfile.ReadError("a header of gzip that can't be read") from error


def _tar_member(
    member: tarfile.TarInfo, content: IO[bytes] | None, origin: str, licence: str
) -> SourceFile | Problem:
    refused = why_refused(member.name, content is None)
    if refused or content is None:
        return Problem(f"{origin}: {member.name[:200]}", 0, refused)
    file = SourceFile(
        mark_hostile_characters(member.name), content.read(files.FILE_LIMIT + 1), origin, licence
    )
    return within_limit(file)


def _tar_licence(path: Path) -> str:
    """What an sdist's PKG-INFO states, or the text of a licence at the root; reads no further than that."""
    text = ""
    with suppress(*UNREADABLE):  # told by who reads the sources
        for member, content in _tar_members(path):
            if isinstance(member, Problem) or content is None:
                continue
            parts = PurePosixPath(member.name).parts
            metadata = len(parts) == 2 and parts[1] == "PKG-INFO"
            if not metadata and not is_licence(member.name):
                continue
            said = content.read(files.FILE_LIMIT).decode("utf-8", "replace")
            if metadata and (licence := licence_in_metadata(said)):
                return licence
            text = text if metadata else said
    return licence_of(text)


def why_refused(name: str, is_link: bool) -> str:
    """Why a member of an archive is not read, empty where it is."""
    windows = PureWindowsPath(name)  # knows C:\, \ and / alike
    if windows.drive or windows.root or ".." in windows.parts:
        return "has a path that leads out of the archive and is skipped"
    return "is a link or no file and is skipped" if is_link else ""


def _too_many(path: Path) -> Problem:
    why = f"has more than {MEMBERS_LIMIT:,} members; what is left is not read"
    return Problem(str(path), 0, why, costs_labels=True)


def _too_large(path: Path) -> Problem:
    why = f"unpacks to more than {UNPACKED_LIMIT:,} bytes; what is left is not read"
    return Problem(str(path), 0, why, costs_labels=True)
