"""A full disk is known by each of its faces, and nothing else is taken for one."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import IntegrityError, OperationalError
from psycopg.errors import DeadlockDetected, DiskFull

from retrieval import disk_space
from sandbox.runner import SandboxUnavailable
from tests import full_disks


def raised_by(fail: Callable[[], None]) -> Exception:
    with pytest.raises(Exception) as caught:  # noqa: PT011  # of each kind
        fail()
    return caught.value


@pytest.mark.parametrize("fail", [full_disks.fill_file, full_disks.fill_sqlite])
def test_what_the_kernel_and_sqlite_raise_is_a_full_disk(fail: Callable[[], None]) -> None:
    assert disk_space.is_full_disk(raised_by(fail))


@pytest.mark.django_db
def test_what_django_raises_of_a_full_database_is_a_full_disk() -> None:
    error = raised_by(full_disks.raise_full_database)
    assert isinstance(error, OperationalError)
    assert disk_space.is_full_disk(error)


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EDQUOT, os.strerror(errno.EDQUOT)),
        DiskFull("could not extend file"),
        SandboxUnavailable("installing six failed: OSError: [Errno 28] No space left on device"),
        RuntimeError("Error response from daemon: write /var/lib/docker: no space left on device"),
    ],
)
def test_a_quota_a_server_and_the_words_of_programs_are_a_full_disk(error: Exception) -> None:
    assert disk_space.is_full_disk(error)


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EACCES, os.strerror(errno.EACCES)),
        DeadlockDetected("deadlock detected"),
        IntegrityError("UNIQUE constraint failed"),
        MemoryError(),
        None,
    ],
)
def test_other_errors_are_none(error: Exception | None) -> None:
    assert not disk_space.is_full_disk(error)


def test_an_error_that_was_raised_for_a_full_disk_is_one_unless_it_hides_that() -> None:
    def wrap() -> None:
        try:
            full_disks.fill_file()
        except OSError as full:
            raise ValueError("could not be kept") from full

    def hide() -> None:
        try:
            full_disks.fill_file()
        except OSError:
            raise ValueError("something else") from None

    assert disk_space.is_full_disk(raised_by(wrap))
    assert not disk_space.is_full_disk(raised_by(hide))


def test_the_reason_is_one_line_with_the_cause_and_what_to_do() -> None:
    error = ValueError("could not be kept")
    error.__cause__ = OSError(errno.ENOSPC, "No space left\non device")
    assert disk_space.describe_full_disk(error, "/data") == (
        "The disk is full ([Errno 28] No space left on device). Make room where /data and the database lie."
    )


def test_the_room_for_a_folder_that_is_not_there_yet_is_that_of_its_disk(tmp_path: Path) -> None:
    assert disk_space.find_free_bytes(tmp_path / "new" / "newer") > 0
