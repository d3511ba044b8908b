"""Whether an error says that the disk is full, and how much room there is: decided here for all of us.

A full disk shows itself by an error of a file, of SQLite, of PostgreSQL, or in the words of another program.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})
"""No room on the disk, or none in the user's share of it."""
SQLITE_FULL: Final = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR_WRITE,  # what SQLite makes of a quota
        sqlite3.SQLITE_IOERR_FSYNC,
        sqlite3.SQLITE_IOERR_TRUNCATE,
        sqlite3.SQLITE_IOERR_SHMSIZE,
        sqlite3.SQLITE_IOERR_SHMOPEN,
    }
)
POSTGRES_FULL: Final = "53100"
WORDS: Final = ("no space left on device", "disk quota exceeded", "database or disk is full")
"""What programs say whose error is a text to us: pip, Docker, a sandbox, a server that ends."""
EXIT_STATUS: Final = 75
"""How a command ends that met a full disk: sysexits calls it a failure for now."""
MEGABYTE: Final = 10**6


def is_full_disk(error: BaseException | None) -> bool:
    """Whether `error`, or what it was raised for, says that nothing more can be written."""
    return any(_says_full(each) for each in _chain_of(error))


def describe_full_disk(error: BaseException | None, home: Path | str) -> str:
    """What is wrong and what to do, in one line."""
    told = next((str(each) for each in _chain_of(error) if _says_full(each)), "no room")
    return f"The disk is full ({' '.join(told.split())[:200]}). Make room where {home} and the database lie."


def find_free_bytes(folder: Path) -> int:
    """How much can be written where `folder` lies; nothing where no file can be made any more."""
    found = os.statvfs(next(place for place in (folder, *folder.parents) if place.exists()))
    return 0 if found.f_files and not found.f_favail else found.f_bavail * found.f_frsize


def describe_low_space(free: int, needed: int, folder: Path) -> str:
    """The reason to stop before the disk is full to the last byte."""
    return (
        f"The disk is full: {free / MEGABYTE:,.0f} MB are free where {folder} lies, and work needs "
        f"{needed / MEGABYTE:,.0f} MB (COSQA_DISK_FREE_MB). Make room there: work continues by itself."
    )


def _chain_of(error: BaseException | None) -> Iterator[BaseException]:
    """The error, and what it was raised for."""
    seen = set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _says_full(error: BaseException) -> bool:
    if isinstance(error, OSError) and error.errno in FULL:
        return True
    if getattr(error, "sqlstate", None) == POSTGRES_FULL:
        return True
    if isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", None) in SQLITE_FULL:
        return True
    words = str(error).lower()
    return any(known in words for known in WORDS)
