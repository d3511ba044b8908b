"""A process that reads files of others has a bound on its memory, and says so in words."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.management.commands.job import Command
from retrieval.management.memory_limit import OutOfMemory, bound_import_memory
from retrieval.models import Job

ROOT = Path(__file__).resolve().parents[3]
MB = 2**20


def data_limit() -> tuple[int, int]:
    return resource.getrlimit(resource.RLIMIT_DATA)


def used_megabytes() -> int:
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmData"))
    return int(line.split()[1]) // 1024


def test_what_takes_more_than_the_limit_is_told_and_the_limit_ends(settings: Any) -> None:
    settings.IMPORT_MB = used_megabytes() + 200
    before = data_limit()
    told = rf"more than the {settings.IMPORT_MB:,} MB .* COSQA_IMPORT_MB higher"
    with pytest.raises(OutOfMemory, match=told), bound_import_memory():
        bytearray(400 * MB)
    assert data_limit() == before
    assert len(bytearray(400 * MB)) == 400 * MB


def test_a_smaller_limit_of_the_machine_stays(settings: Any) -> None:
    before = data_limit()
    lower = (used_megabytes() + 500) * MB
    settings.IMPORT_MB = 100_000
    resource.setrlimit(resource.RLIMIT_DATA, (lower, before[1]))
    try:
        with bound_import_memory():
            assert data_limit()[0] == lower
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


def test_the_import_command_says_what_to_do(tmp_path: Path) -> None:
    """A pickle is read as a whole: 120 MB of text in one go do not fit into 256 MB with all the rest."""
    path = tmp_path / "one_iid_to_code.pickle"
    text = b"a" * 120 * MB
    path.write_bytes(b"\x80\x04}(K\x01X" + len(text).to_bytes(4, "little") + text + b"u.")
    environment = {"PATH": os.environ["PATH"], "COSQA_HOME": str(tmp_path / "home"), "COSQA_IMPORT_MB": "256"}
    done = subprocess.run(
        [sys.executable, "manage.py", "import", "staqc", str(path), "--name", "one"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1
    assert "cosqa: Reading this takes more than the 256 MB of memory" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.django_db
@pytest.mark.parametrize("kind", [Job.Kind.IMPORT, Job.Kind.RUN])
def test_an_upload_that_takes_too_much_has_failed_with_the_reason(
    kind: Job.Kind, monkeypatch: pytest.MonkeyPatch, django_user_model: Any
) -> None:
    def perform(job: Job) -> None:
        raise MemoryError

    module = "annotation.management.commands.job"
    monkeypatch.setattr(
        f"{module}.import_string", lambda name: perform if "perform" in name else lambda job: None
    )
    ada = django_user_model.objects.create_user("ada")
    job = Job.objects.create(kind=kind, state=Job.State.RUNNING, order={}, created_by=ada)
    before = data_limit()
    Command().handle(job=job.pk, end_with_parent=False)
    job.refresh_from_db()
    assert job.state == Job.State.FAILED
    assert "4,096 MB of memory that an import may have" in job.message
    assert data_limit() == before


FIRST = "small"
READERS: dict[str, tuple[str, tuple[Any, ...]]] = {
    "evaluate": (
        "retrieval.management.commands.evaluate.evaluate_file",
        (FIRST, "--run", "system=some.trec"),
    ),
    "evaluate-files": (
        "retrieval.management.commands.evaluate-files.evaluate_files",
        ("--qrels=some.trec", "--run=some.trec"),
    ),
    "build": ("annotation.management.given_options.of_file", ("some", "--pairs=some.trec")),
    "extract": ("retrieval.management.commands.extract.extract_functions", ("some.trec",)),
    "restore": ("cosqa_site.management.commands.restore.find_folder", ("some",)),
    "bench": (
        "bench.quality.labels.build_quality_bench",
        ("quality", "--pairs=some.trec", "--truth=some.trec", "--annotators=some"),
    ),
}
"""By command: the function that reads what others wrote, and how it is called."""


@pytest.mark.django_db
@pytest.mark.parametrize("command", READERS)
def test_each_reader_of_foreign_files_has_a_bound_that_is_told(
    command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    reader, arguments = READERS[command]
    module, _, name = reader.rpartition(".")
    limits: list[int] = []

    def read(*_: Any, **__: Any) -> None:
        limits.append(data_limit()[0])
        raise MemoryError

    if FIRST in arguments:
        rows = '[{"doc": "double a number", "code": "def f(x): return 2 * x", "label": 1}]'
        Path(tmp_path / "pairs.json").write_text(rows)
        call_command("import", "cosqa", str(tmp_path / "pairs.json"), "--name", FIRST)
    monkeypatch.chdir(tmp_path)
    Path("some.trec").touch()
    monkeypatch.setattr(import_module(module), name, read)
    with pytest.raises(CommandError, match="4,096 MB of memory that an import may have"):
        call_command(command, *arguments)
    assert limits == [4096 * MB]
    assert data_limit()[0] != 4096 * MB
