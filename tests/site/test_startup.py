"""Before anything starts: who waits for whom, and who brings the database up to date."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.db import DatabaseError, ProgrammingError, connection
from django.db.migrations.recorder import MigrationRecorder

from cosqa_site.service import applied_migrations, startup


def test_a_start_waits_and_says_for_what(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers: Iterator[bool] = iter([False, False, True])
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    startup.wait_for("the database", lambda: next(answers))
    assert capsys.readouterr().err == "Waiting for the database …\n"


def test_a_start_gives_up_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup, "DATABASE_SECONDS", 0.0)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with pytest.raises(applied_migrations.DatabaseNotReady, match="start it, or see DATABASE_URL"):
        startup.wait_for("the database", lambda: False)


def test_workers_start_when_the_tables_are_there(db: None) -> None:
    assert startup.can_reach_database()
    assert applied_migrations.is_database_migrated()
    startup.wait_until_prepared()


@pytest.mark.parametrize(
    ("vendor", "new", "does"),
    [
        ("sqlite", True, ["prepare", "wait"]),
        ("sqlite", False, ["prepare", "wait"]),
        ("postgresql", True, ["prepare", "wait"]),
        ("postgresql", False, ["wait"]),
    ],
)
def test_a_command_leaves_a_servers_database_that_is_in_use_to_the_server(
    monkeypatch: pytest.MonkeyPatch, vendor: str, new: bool, does: list[str]
) -> None:
    calls: list[str] = []
    monkeypatch.setattr(startup, "refuse_other_release", lambda: None)
    monkeypatch.setattr(startup, "prepare_database", lambda: calls.append("prepare"))
    monkeypatch.setattr(startup, "wait_until_prepared", lambda: calls.append("wait"))
    monkeypatch.setattr(startup, "can_reach_database", lambda: True)
    monkeypatch.setattr(startup, "is_database_migrated", lambda: False)
    monkeypatch.setattr(startup, "is_new", lambda: new)
    monkeypatch.setattr(startup, "connection", SimpleNamespace(vendor=vendor))
    startup.make_ready()
    assert calls == does


def test_a_database_with_tables_is_not_new(db: None) -> None:
    assert not applied_migrations.is_new()


def test_a_migration_that_is_not_applied_is_seen(db: None) -> None:
    newest = max(
        applied_migrations.names_of_migrations() & {key for key in applied() if key[0] == "annotation"}
    )
    MigrationRecorder(connection).record_unapplied(*newest)
    assert not applied_migrations.is_database_migrated()


def test_all_migrations_are_known_by_their_files_names(db: None) -> None:
    from django.db.migrations.loader import MigrationLoader

    loader = MigrationLoader(connection)
    assert loader.disk_migrations is not None
    assert applied_migrations.names_of_migrations() == set(loader.disk_migrations)


def test_a_database_from_before_releases_is_refused_with_the_way_on(db: None) -> None:
    for name in ("0002_roles", "0099_gone_since"):
        MigrationRecorder(connection).record_applied("annotation", name)
    with pytest.raises(
        startup.WrongRelease, match=f"Check out {startup.LAST_BEFORE_RELEASES}.*export everything"
    ):
        startup.prepare_database()
    with pytest.raises(startup.WrongRelease):
        startup.make_ready()
    with pytest.raises(startup.WrongRelease):
        startup.wait_until_prepared()


def test_migrate_changes_nothing_in_a_database_from_before_releases(db: None) -> None:
    for name in ("0002_roles", "0099_gone_since"):
        MigrationRecorder(connection).record_applied("annotation", name)
    with pytest.raises(SystemCheckError, match="older than release"):
        call_command("migrate", verbosity=0, skip_checks=False)


def test_a_database_of_a_newer_release_is_left_alone(db: None) -> None:
    MigrationRecorder(connection).record_unapplied(*startup.BEFORE_RELEASES)
    MigrationRecorder(connection).record_applied("retrieval", "0099_of_tomorrow")
    with pytest.raises(startup.WrongRelease, match=r"A newer release .* retrieval\.0099_of_tomorrow"):
        startup.prepare_database()


def applied() -> set[tuple[str, str]]:
    return set(MigrationRecorder(connection).applied_migrations())


def sqlite_error(code: str, words: str) -> None:
    error = sqlite3.DatabaseError(words)
    error.sqlite_errorcode = getattr(sqlite3, code)
    with connection.wrap_database_errors:
        raise error


@pytest.mark.parametrize(
    ("code", "words", "to_do"),
    [
        ("SQLITE_NOTADB", "file is not a database", "put a backup in its place: `cosqa admin restore"),
        ("SQLITE_CORRUPT", "database disk image is malformed", "put a backup in its place"),
        ("SQLITE_CANTOPEN", "unable to open database file", "Let this user read and write it"),
        ("SQLITE_READONLY_DBMOVED", "attempt to write a readonly database", "Let this user read and write"),
        ("SQLITE_FULL", "database or disk is full", "Make room where"),
    ],
)
def test_a_file_that_can_not_be_used_is_told_at_once_with_what_to_do(
    code: str, words: str, to_do: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "ensure_connection", lambda: sqlite_error(code, words))
    with pytest.raises(applied_migrations.DatabaseNotReady, match=f"{words}.*{to_do}"):
        startup.prepare_database()


def test_another_fault_of_a_migration_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise ProgrammingError("no such column: x")

    monkeypatch.setattr(startup, "can_reach_database", fail)
    with pytest.raises(ProgrammingError):
        startup.prepare_database()


def test_a_real_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    file = tmp_path / "workbench.sqlite3"
    file.write_text("no database at all, but a long enough text for a header of one hundred bytes" * 2)
    with pytest.raises(DatabaseError) as caught, connection.wrap_database_errors:
        sqlite3.connect(file).execute("PRAGMA journal_mode=WAL")
    assert "is damaged, or no database" in startup.describe_fault(caught.value)
