"""A backup is one state of everything, taken while others write, and a restore gives all of it back."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from pytest_django import Settings

from cosqa_site.backup import databases, home
from cosqa_site.backup.manifest import NAME, BadBackup, Manifest, read_manifest
from retrieval.models import Text
from tests import factories
from tests.site.backup.homes import manage, new_home, rows_of
from tests.site.samples import samples

OUTSIDE = """{
    "format": "cosqa-workbench backup 1", "database": "sqlite", "migrations": [],
    "files": {"../../etc/passwd": {"bytes": 1, "sha256": ""}}
}"""

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """A home with rows in most tables, files, and secrets."""
    made = tmp_path / "first"
    for folder in ("recorded", "uploads/imports/x", "vectors"):
        (made / folder).mkdir(parents=True)
    (made / "recorded" / "replies.jsonl").write_text("{}\n")
    (made / "uploads/imports/x/part.jsonl").write_text("[]\n")
    (made / "vectors" / "large.npy").write_text("made again")
    (made / "secret-key").write_text("a key that nobody can guess")
    case = factories.cases(factories.opened())[0]
    samples(factories.examined(case, 1))
    User.objects.create_user("zoe", password="correct horse battery")
    return made


def back_up(first: Path, folder: Path) -> Manifest:
    return home.make_backup(first, folder)


def test_what_was_restored_is_the_same_to_the_last_row(first: Path, tmp_path: Path) -> None:
    back_up(first, tmp_path / "backup")
    second = tmp_path / "second"
    with new_home(second) as environment:
        done = manage(environment, "restore", str(tmp_path / "backup"))
        assert done.returncode == 0, done.stderr
        done = manage(environment, "backup", str(tmp_path / "again"))
        assert done.returncode == 0, done.stderr
    before, after = rows_of(tmp_path / "backup"), rows_of(tmp_path / "again")
    assert sum(bool(rows) for rows in before.values()) > 50
    assert any("zoe" in row and "pbkdf2" in row for row in before["auth_user"]), "passwords are kept"
    assert after == before
    assert (second / "secret-key").read_text() == "a key that nobody can guess"
    assert (second / "secret-key").stat().st_mode & 0o777 == 0o600
    assert (second / "recorded" / "replies.jsonl").read_text() == "{}\n"
    assert (second / "uploads/imports/x/part.jsonl").read_text() == "[]\n"
    assert not (second / "vectors").exists()


def test_new_rows_get_new_keys_after_a_restore(first: Path, tmp_path: Path) -> None:
    back_up(first, tmp_path / "backup")
    with new_home(tmp_path / "second") as environment:
        assert manage(environment, "restore", str(tmp_path / "backup")).returncode == 0
        done = manage(environment, "account", "max", "--role", "expert", "--new-password")
        assert done.returncode == 0, done.stderr


def test_a_backup_is_one_state_while_others_write(first: Path, tmp_path: Path) -> None:
    wrote, stop = threading.Event(), threading.Event()

    def write_pairs() -> None:
        number = 0
        while not stop.is_set():
            with transaction.atomic():
                for side in ("left", "right"):
                    User.objects.create(username=f"{side} {number}")
            number += 1
            wrote.set()
        connection.close()

    writer = threading.Thread(target=write_pairs)
    writer.start()
    assert wrote.wait(60)
    try:
        back_up(first, tmp_path / "backup")
    finally:
        stop.set()
        writer.join()
    rows = rows_of(tmp_path / "backup")["auth_user"]
    left, right = (sum(f"{side} " in row for row in rows) for side in ("left", "right"))
    assert left == right > 0


def test_a_second_backup_to_the_same_name_is_refused_in_a_line(
    first: Path, tmp_path: Path, settings: Settings
) -> None:
    settings.COSQA_HOME = first
    call_command("backup", str(tmp_path / "backup"))
    before = (tmp_path / "backup" / NAME).read_bytes()
    with pytest.raises(CommandError, match=r"^.*/backup is not empty: name a new folder\.$"):
        call_command("backup", str(tmp_path / "backup"))
    assert (tmp_path / "backup" / NAME).read_bytes() == before


def test_nothing_is_left_of_a_backup_that_failed(
    first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(home, "copy_file", fail)
    before = set(tmp_path.iterdir())
    with pytest.raises(OSError, match="No space left"):
        back_up(first, tmp_path / "backup")
    assert set(tmp_path.iterdir()) == before


def test_a_backup_is_closed_to_others(first: Path, tmp_path: Path) -> None:
    back_up(first, tmp_path / "backup")
    assert (tmp_path / "backup").stat().st_mode & 0o777 == 0o700


def change(backup: Path, **columns: Any) -> None:
    told = json.loads((backup / NAME).read_text())
    (backup / NAME).write_text(json.dumps(told | columns))


def refused(backup: Path, into: Path) -> str:
    with pytest.raises(BadBackup) as why:
        home.restore_backup(backup, into)
    assert not into.exists()
    return str(why.value)


def test_a_home_in_use_is_left_alone(first: Path, tmp_path: Path) -> None:
    back_up(first, tmp_path / "backup")
    Text.objects.keep("def later(): pass\n")
    told = refused(tmp_path / "backup", tmp_path / "second") if connection.vendor == "postgresql" else ""
    if connection.vendor == "sqlite":
        with pytest.raises(BadBackup) as why:
            home.restore_backup(tmp_path / "backup", databases.path_of_sqlite().parent)
        told = str(why.value)
    assert "is there already, and would be lost. Move it away, or set COSQA_HOME to a new folder" in told


def test_a_backup_that_was_changed_is_refused(first: Path, tmp_path: Path) -> None:
    back_up(first, tmp_path / "backup")
    (tmp_path / "backup" / "files" / "secret-key").write_text("another")
    assert "files/secret-key was changed since it was written" in refused(tmp_path / "backup", tmp_path / "x")


def test_a_backup_of_a_newer_release_is_refused(first: Path, tmp_path: Path) -> None:
    made = back_up(first, tmp_path / "backup")
    change(tmp_path / "backup", migrations=[*made.migrations, "annotation.0099_of_tomorrow"])
    told = refused(tmp_path / "backup", tmp_path / "x")
    assert told.startswith(
        "A newer release made this backup: it has the migration annotation.0099_of_tomorrow"
    )


def test_a_backup_of_the_other_kind_of_database_is_refused(first: Path, tmp_path: Path) -> None:
    back_up(first, tmp_path / "backup")
    other = {"sqlite": "postgresql", "postgresql": "sqlite"}[connection.vendor]
    change(tmp_path / "backup", database=other)
    assert f"This backup is of {other}" in refused(tmp_path / "backup", tmp_path / "x")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[]", "is not as `backup` writes it"),
        ("{", "is not as `backup` writes it"),
        ("[" * 100_000, "is not as `backup` writes it"),
        ('{"format": "another"}', "is of another format"),
        (OUTSIDE, "which is none of a backup"),
    ],
)
def test_a_manifest_that_is_none_is_refused(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / NAME).write_text(text)
    with pytest.raises(BadBackup, match=told):
        read_manifest(tmp_path)


def test_a_folder_without_a_manifest_is_no_backup(tmp_path: Path) -> None:
    with pytest.raises(BadBackup, match=r"is no backup: backup\.json can't be read"):
        read_manifest(tmp_path)
