"""Before anything starts: a database that answers and has its migrations.

Every command that uses the database passes here first, so this loads nothing of what they then do.
"""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder

from cosqa_site.service.applied_migrations import (
    DatabaseNotReady,
    is_database_migrated,
    is_new,
    names_of_migrations,
)
from retrieval.disk_space import describe_full_disk, is_full_disk

DATABASE_SECONDS: Final = 120.0
"""How long a start waits for the database: services of one machine start all at once."""
SQLITE_DAMAGED: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
SQLITE_CLOSED: Final = frozenset({sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM})
MIGRATION_LOCK: Final = 0x00C05A
OWN_APPS: Final = frozenset({"annotation", "retrieval"})
BEFORE_RELEASES: Final = ("annotation", "0002_roles")
"""A migration that every database from before 0.1.0 has, and no other."""
LAST_BEFORE_RELEASES: Final = "1919bedfefe27c6b8b082e84fb3a032422073938"
"""The commit that reads such a database and has `export everything`."""


class WrongRelease(DatabaseNotReady):
    """Another release made this database; the message says how to go on."""


@contextmanager
def explain_faults() -> Iterator[None]:
    """Say in a line what is wrong with the database. Raises DatabaseNotReady."""
    try:
        yield
    except DatabaseError as error:
        told = describe_fault(error)
        if not told:
            raise
        raise DatabaseNotReady(told) from error


def describe_fault(error: BaseException) -> str:
    """What is wrong with the disk or the database's file, and what to do; empty for any other error."""
    if is_full_disk(error):
        return describe_full_disk(error, settings.COSQA_HOME)
    code = getattr(error.__cause__ or error, "sqlite_errorcode", 0)
    name = settings.DATABASES["default"]["NAME"]
    if code & 0xFF in SQLITE_DAMAGED:
        return (
            f"{name} is damaged, or no database ({error}). Move it away and put a backup in its place: "
            "`cosqa admin restore FOLDER` (docs/running.md)."
        )
    if code & 0xFF in SQLITE_CLOSED:
        return (
            f"{name} can't be used ({error}). Let this user read and write it and its folder, or set "
            "COSQA_HOME to another folder."
        )
    return ""


@explain_faults()
def prepare_database(*, with_backup: bool = True) -> None:
    """Bring the database up to date; nothing happens when it is. Raises DatabaseNotReady.

    One that an older release made is backed up before.
    """
    wait_for("the database", can_reach_database)
    refuse_other_release()
    with only_migrator():
        if is_new() or is_database_migrated() or not with_backup:
            call_command("migrate", verbosity=0, interactive=False)
            return
        from cosqa_site.service.upgrade import upgrade_database  # loads models, which few starts need here

        upgrade_database()


@explain_faults()
def make_ready() -> None:
    """For a command: a file, or a server's database that nobody has used yet, is brought up to date here.

    One that is in use belongs to the web server, which may be older than this code and still running.
    Raises DatabaseNotReady.
    """
    wait_for("the database", can_reach_database)
    refuse_other_release()
    if is_database_migrated():
        return
    if connection.vendor == "sqlite" or is_new():
        prepare_database()
    wait_until_prepared()


@explain_faults()
def wait_until_prepared() -> None:
    """Wait for the database and for the migrations that a server makes. Raises DatabaseNotReady."""
    wait_for("the database", can_reach_database)
    refuse_other_release()
    wait_for("the server that brings the database up to date", is_database_migrated)


def wait_for(what: str, ready: Callable[[], bool]) -> None:
    """Ask once a second until `ready`, and say what is waited for. Raises DatabaseNotReady."""
    ends = time.monotonic() + DATABASE_SECONDS
    if ready():
        return
    sys.stderr.write(f"Waiting for {what} …\n")
    while not ready():
        if time.monotonic() > ends:
            raise DatabaseNotReady(
                f"Waited {DATABASE_SECONDS:.0f} s for {what}; start it, or see DATABASE_URL."
            )
        time.sleep(1)


def can_reach_database() -> bool:
    try:
        connection.ensure_connection()
    except OperationalError as error:
        if describe_fault(error):
            raise  # waiting would not help
        return False
    return True


def refuse_other_release() -> None:
    """Leave a database alone whose tables this release does not know. Raises WrongRelease."""
    applied = MigrationRecorder(connection).applied_migrations().keys()
    unknown = {key for key in applied if key[0] in OWN_APPS} - names_of_migrations()
    if unknown and BEFORE_RELEASES in applied:
        raise WrongRelease(
            f"This database is older than release 0.1.0. Check out {LAST_BEFORE_RELEASES}; run `manage.py "
            "migrate` and `manage.py export everything DIR` there. Then run `cosqa import everything "
            "DIR` with this release and a new COSQA_HOME or database (docs/running.md)."
        )
    if unknown:
        app, name = max(unknown)
        raise WrongRelease(
            f"A newer release made this database: it has the migration {app}.{name}, which this one does not "
            "know. Start the release that made it, or a newer one; nothing was changed."
        )


@contextmanager
def only_migrator() -> Iterator[None]:
    """Servers that start together migrate one after the other; SQLite has one server anyway."""
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [MIGRATION_LOCK])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [MIGRATION_LOCK])
