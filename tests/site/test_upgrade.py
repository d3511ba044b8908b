"""A database of an older release is backed up before it is changed, and people are told."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    services = {"DATABASE_URL", "REDIS_URL", "CELERY_BROKER_URL"}
    kept = {k: v for k, v in os.environ.items() if not k.startswith("COSQA_") and k not in services}
    return subprocess.run(
        [sys.executable, "-m", "cosqa", *words],
        cwd=ROOT,
        env=kept | {"COSQA_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def applied(file: Path) -> set[str]:
    with closing(sqlite3.connect(file)) as database:
        return {f"{app}.{name}" for app, name in database.execute("SELECT app, name FROM django_migrations")}


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A home with an account, as the release before retrieval's last migration left it."""
    home = tmp_path / "home"
    assert run(home, "init", "--admin", "zoe").returncode == 0
    gone_back = run(home, "admin", "migrate", "retrieval", "0004")
    assert gone_back.returncode == 0, gone_back.stderr
    assert "retrieval.0005_testable_by_call" not in applied(home / "workbench.sqlite3")
    return home


def test_an_older_database_is_backed_up_and_migrated_and_both_are_said(older: Path, tmp_path: Path) -> None:
    done = run(older, "status")
    assert done.returncode == 0, done.stderr
    [backup] = (older / "backups").iterdir()
    assert "This release changes the database." in done.stderr
    assert f"Backup: {backup}" in done.stderr
    assert "up to date now (" in done.stderr and "retrieval.0005_testable_by_call" in done.stderr
    assert "retrieval.0005_testable_by_call" in applied(older / "workbench.sqlite3")
    assert "retrieval.0005_testable_by_call" not in applied(backup / "workbench.sqlite3")
    assert "database" not in run(older, "status").stderr, "the next start has nothing to say"
    restored = tmp_path / "restored"
    assert run(restored, "admin", "restore", str(backup)).returncode == 0
    assert not (restored / "backups").exists(), "what has just come out of a backup needs none"
    assert '"admin": "zoe"' in run(restored, "init", "--json").stdout


def test_without_a_backup_nothing_is_changed_and_it_is_said_why(older: Path) -> None:
    (older / "backups").write_text("no folder, so that no backup can be made")
    done = run(older, "status")
    assert done.returncode == 1
    assert "The database was not changed, because the backup before that failed" in done.stderr
    assert "Traceback" not in done.stderr
    assert "retrieval.0005_testable_by_call" not in applied(older / "workbench.sqlite3")


def test_a_new_home_is_made_without_a_word(tmp_path: Path) -> None:
    done = run(tmp_path / "home", "status")
    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "home" / "backups").exists()
