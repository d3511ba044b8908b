"""A full disk: told as one, and nothing half written is left."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from retrieval.exporting import provenance
from retrieval.exporting.export_run import Options, export_benchmark
from retrieval.exporting.files import MANIFEST, STAGE, Output
from retrieval.models import Benchmark
from tests.retrieval.exporting.conftest import benchmark


def full(*given: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_file_that_finds_no_room_at_its_end_is_gone(tmp_path: Path) -> None:
    output = Output(tmp_path, "rows.jsonl")
    with output.file, Path("/dev/full").open("wb") as output.file:
        output.line({"a": 1})  # stays in a buffer until the end
        with pytest.raises(OSError, match="No space left"):
            output.__exit__(None)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Benchmark:
    """One that is exported where the disk is full once the format's own files are written."""
    monkeypatch.setattr(provenance, "write_labels", full)
    return benchmark()


@pytest.mark.django_db
def test_what_was_written_goes_and_what_was_there_stays(made: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "workbench.json").write_text('{"format": "cosqa-workbench export 1", "files": []}')
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(OSError, match="No space left"):
        export_benchmark(made, "huggingface", tmp_path, Options())
    assert {path.name for path in tmp_path.rglob("*")} == {"mine.txt", "workbench.json"}


@pytest.mark.django_db
def test_an_earlier_export_stays_until_the_next_is_whole(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    subject = benchmark()
    export_benchmark(subject, "beir", tmp_path, Options())
    before = contents(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(provenance, "write_labels", full)
        with pytest.raises(OSError, match="No space left"):
            export_benchmark(subject, "qrels", tmp_path, Options())
    assert contents(tmp_path) == before
    done = export_benchmark(subject, "coclr", tmp_path, Options())
    assert json.loads((tmp_path / MANIFEST).read_text())["written_as"] == "coclr"
    assert {str(path.relative_to(tmp_path)) for path in files(tmp_path)} == set(done.files)


@pytest.mark.django_db
def test_what_a_killed_export_was_writing_goes(tmp_path: Path) -> None:
    (tmp_path / f"{STAGE}killed").mkdir()
    (tmp_path / f"{STAGE}killed" / "half.jsonl").write_text("{")
    done = export_benchmark(benchmark(), "beir", tmp_path, Options())
    assert {str(path.relative_to(tmp_path)) for path in files(tmp_path)} == set(done.files)
    assert done.folder == tmp_path


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in files(folder)}


@pytest.mark.django_db
def test_the_command_says_that_the_disk_is_full(made: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"The disk is full.*Make room where .*out lies"):
        call_command("export", "beir", made.name, str(tmp_path / "out"))
    assert not list((tmp_path / "out").iterdir())
