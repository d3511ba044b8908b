"""A command that is typed first finds the database up to date, or says what is missing."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import manage as command_line
from retrieval.disk_space import EXIT_STATUS
from tests import full_disks

ROOT = Path(__file__).resolve().parents[2]


def manage(
    home: Path, *command: str, file_bytes: int = resource.RLIM_INFINITY
) -> subprocess.CompletedProcess[str]:
    """Run a command that can write so many bytes to a file."""
    services = {"DATABASE_URL", "REDIS_URL", "CELERY_BROKER_URL"}
    kept = {k: v for k, v in os.environ.items() if not k.startswith("COSQA_") and k not in services}
    return subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=ROOT,
        env=kept | {"COSQA_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes)),
    )


def test_an_import_into_a_new_folder_makes_its_tables(tmp_path: Path) -> None:
    source = tmp_path / "one.py"
    source.write_text("def double(number):\n    return number * 2\n")
    done = manage(tmp_path / "home", "import", "python", str(source), "--name", "mine")
    assert done.returncode == 0, done.stderr
    assert "1 read, 1 stored" in done.stdout


def test_every_command_about_builds_may_be_the_first(tmp_path: Path) -> None:
    commands = {path.stem for path in (ROOT / "annotation/management/commands").glob("[a-z]*.py")}
    by_workers = {"job"}
    assert commands - by_workers <= command_line.STARTING
    done = manage(tmp_path / "home", "prices", "load")
    assert done.returncode == 0, done.stderr
    assert "filled in" in done.stdout


def test_help_needs_no_database(tmp_path: Path) -> None:
    done = manage(tmp_path, "import", "--help")
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "workbench.sqlite3").exists()


def test_a_reader_who_has_enough_sees_no_traceback(tmp_path: Path) -> None:
    command = [sys.executable, "manage.py", "diffsettings", "--all"]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=os.environ | {"COSQA_HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None and running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == ""
        assert running.wait() == 1


def test_who_reads_the_first_lines_alone_gets_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(
        "\n".join(f'def f{n}(x):\n    """Add to all of it."""\n    y = x\n    return y' for n in range(3000))
    )
    command = f"{sys.executable} manage.py extract {tmp_path / 'm.py'} | head -n 1"
    env = {**os.environ, "COSQA_HOME": str(tmp_path / "home")}
    done = subprocess.run(
        ["sh", "-c", command], cwd=ROOT, env=env, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout.count("\n"), done.stderr) == (1, "")


def test_a_command_that_finds_no_room_for_its_database_says_so_in_a_line(tmp_path: Path) -> None:
    done = manage(tmp_path, "prices", "list", file_bytes=100_000)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("cosqa: The disk is full (disk I/O error). Make room where ")


def test_what_ends_a_command_for_want_of_room_has_a_status_of_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(OSError, match="No space left") as full:
        full_disks.fill_file()
    with pytest.raises(SystemExit) as ended:
        command_line.end_for(full.value)
    assert ended.value.code == EXIT_STATUS
    assert capsys.readouterr().err.startswith("cosqa: The disk is full ([Errno 28] No space left on device).")


def test_another_fault_keeps_its_traceback() -> None:
    command_line.end_for(KeyError("x"))


def test_a_file_that_is_no_database_is_told_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "workbench.sqlite3").write_text("no database, however long one reads" * 100)
    done = manage(tmp_path, "prices", "list")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "is damaged, or no database" in done.stderr


def test_what_was_open_when_the_disk_was_full_is_closed_before_the_end() -> None:
    closed: list[int] = []

    def rows() -> Iterator[int]:
        try:
            yield 1
        finally:
            closed.append(1)

    def read() -> None:
        for _ in rows():
            full_disks.fill_file()

    with pytest.raises(OSError, match="No space left") as full:
        read()
    with pytest.raises(SystemExit):
        command_line.end_for(full.value)
    assert closed == [1]
