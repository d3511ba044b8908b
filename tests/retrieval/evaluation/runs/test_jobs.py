"""What is noted of an uploaded run while it is scored, and what is left of it on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.files.base import ContentFile
from django.test import override_settings

from retrieval.evaluation.runs.jobs import RunOrder, forget_files, perform_run_job
from retrieval.jobs import path_of_job_file
from retrieval.management import progress
from retrieval.management.progress import Progress
from retrieval.models import Benchmark, Job, Pool, Run
from tests import factories

RUN = b"queries-0 Q0 snippets-1 1 3 me\nqueries-0 Q0 snippets-0 2 2 me\n"


def job(benchmark: Benchmark, number: int = 0, **columns: object) -> Job:
    pool, sha256 = Pool(benchmark.pool), f"{number:064x}"
    order = RunOrder(system="mine", source="mine.run", pool=pool, sha256=sha256)
    return factories.job(order, benchmark.pk, **columns)


def done(row: Job) -> tuple[int, int]:
    row.refresh_from_db()
    return row.done, row.total


def test_all_of_it_is_noted_at_once_and_what_comes_between_seldom(
    benchmark_: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_NOTES", 1e9)
    row = job(benchmark_)
    tick = Progress(row, 3)
    tick(2)
    assert done(row) == (0, 3)
    tick(1)
    assert done(row) == (3, 3)
    tick(1)
    assert done(row) == (3, 3)


def test_doing_it_twice_keeps_one_run(benchmark_: Benchmark, tmp_path: Path, settings: LazySettings) -> None:
    local = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    with override_settings(STORAGES={**settings.STORAGES, "default": local}):
        for number in range(2):
            perform_run_job(job(benchmark_, number, file=ContentFile(RUN, name="mine.run")))
    run = Run.objects.get()
    assert (run.system, run.source) == ("mine", "mine.run")
    assert [(job.state, job.result["run"], job.files) for job in Job.objects.all()] == [
        ("done", run.pk, {})
    ] * 2
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_files_of_jobs_that_died_are_removed_and_others_kept(
    benchmark_: Benchmark, tmp_path: Path, settings: LazySettings
) -> None:
    local = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    with override_settings(STORAGES={**settings.STORAGES, "default": local}):
        for number, state in enumerate(("waiting", "running", "failed", "done")):
            job(benchmark_, number, state=state, file=ContentFile(RUN, name="mine.run"))
        forget_files()
        kept = {row.state: bool(row.files) and path_of_job_file(row).is_file() for row in Job.objects.all()}
    assert kept == {"waiting": True, "running": True, "failed": False, "done": False}
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 2
