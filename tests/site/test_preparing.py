"""Before anything starts: who waits for whom, and who brings the database up to date."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from cosqa_site import preparing


def test_a_start_waits_and_says_for_what(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answers: Iterator[bool] = iter([False, False, True])
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    preparing.wait_for("the database", lambda: next(answers))
    assert capsys.readouterr().err == "Waiting for the database …\n"


def test_a_start_gives_up_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preparing, "DATABASE_SECONDS", 0.0)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with pytest.raises(preparing.DatabaseNotReady, match="start it, or see DATABASE_URL"):
        preparing.wait_for("the database", lambda: False)


def test_workers_start_when_the_tables_are_there(db: None) -> None:
    assert preparing.answers()
    assert preparing.migrated()
    preparing.wait_until_prepared()


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
    monkeypatch.setattr(preparing, "prepare", lambda: calls.append("prepare"))
    monkeypatch.setattr(preparing, "wait_until_prepared", lambda: calls.append("wait"))
    monkeypatch.setattr(preparing, "answers", lambda: True)
    monkeypatch.setattr(preparing, "migrated", lambda: False)
    monkeypatch.setattr(preparing, "is_new", lambda: new)
    monkeypatch.setattr(preparing, "connection", SimpleNamespace(vendor=vendor))
    preparing.make_ready()
    assert calls == does


def test_a_database_with_tables_is_not_new(db: None) -> None:
    assert not preparing.is_new()


def test_a_migration_that_is_not_applied_is_seen(db: None) -> None:
    newest = max(preparing.names_of_migrations() & {key for key in applied() if key[0] == "annotation"})
    MigrationRecorder(connection).record_unapplied(*newest)
    assert not preparing.migrated()


def test_a_squashed_migration_is_applied_where_those_that_it_replaces_are(db: None) -> None:
    MigrationRecorder(connection).record_unapplied("annotation", "0001_squashed_0042")
    assert preparing.migrated()


def test_all_migrations_are_known_by_their_files_names(db: None) -> None:
    from django.db.migrations.loader import MigrationLoader

    loader = MigrationLoader(connection)
    assert loader.disk_migrations is not None
    assert preparing.names_of_migrations() == set(loader.disk_migrations)


def applied() -> set[tuple[str, str]]:
    return set(MigrationRecorder(connection).applied_migrations())
