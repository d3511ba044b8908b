"""Imports from an address: downloaded within limits, told, cancelled, and then read as an upload is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command
from pytest_django import Settings

from annotation.jobs import subprocesses
from retrieval import uploads
from retrieval.jobs import keep_job, path_of_job_file
from retrieval.models import Collection, Job
from retrieval.uploads import download
from retrieval.uploads.files import place_of_upload
from tests import factories
from tests.retrieval.sources.web.test_download import Handler, server

__all__ = ["server"]
pytestmark = pytest.mark.django_db
FUNCTION = json.dumps({"language": "python", "func_name": "f", "code": "def f(x): return x"}).encode()
TABLE = b"question,answer\nsort a list,f()\n"


@pytest.fixture(autouse=True)
def own_storage(settings: Settings, tmp_path: Path) -> None:
    backend = "django.core.files.storage.FileSystemStorage"
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {"BACKEND": backend, "OPTIONS": {"location": tmp_path}},
    }
    settings.DOWNLOAD_PRIVATE = True


def served(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(Handler, "content", content)


def ordered(address: str, format_: str = "codesearchnet", **columns: object) -> Job:
    file = place_of_upload(address.rpartition("/")[2])
    return factories.import_job(
        name="far", format=format_, file=file, addresses={"file": address}, state="running", **columns
    )


def performed(job: Job) -> Job:
    call_command("job", str(job.pk))
    job.refresh_from_db()
    return job


def test_what_lies_there_is_imported_and_its_file_is_removed(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served(monkeypatch, FUNCTION)
    job = performed(ordered(f"{server}/codes.jsonl"))
    assert (job.state, job.result["stored"], job.result["problems"]) == ("done", 1, [])
    assert Collection.objects.get().source == "codes.jsonl"
    assert not list((tmp_path / "imports").iterdir())


def test_this_machine_is_no_address_unless_that_is_allowed(
    server: str, settings: Settings, tmp_path: Path
) -> None:
    settings.DOWNLOAD_PRIVATE = False
    job = performed(ordered(f"{server}/codes.jsonl"))
    assert (job.state, job.result) == ("failed", {})
    assert job.message == ("Not downloaded: 127.0.0.1 is no public machine, and such downloads are refused.")
    assert Handler.asked == []
    assert not list(tmp_path.rglob("*.*"))


def test_what_is_too_large_or_not_there_is_told_without_our_folders(
    server: str, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "MB", 1)
    settings.DOWNLOAD_MB = 10
    large = performed(ordered(f"{server}/codes.jsonl"))
    gone = performed(ordered(f"{server}/gone"))
    offline = performed(ordered("http://127.0.0.1:9/codes.jsonl"))
    assert large.message == "Not downloaded: it is larger than 0 MB."
    assert gone.message.endswith("/gone answers 404 Not Found.")
    assert "cannot be reached" in offline.message
    assert offline.message.endswith("download it elsewhere, and upload the file itself.")
    assert not any(str(tmp_path) in job.message for job in (large, gone, offline))
    assert not list(tmp_path.rglob("*.*"))


def test_what_was_cut_off_goes_on_by_itself(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    served(monkeypatch, FUNCTION + b"\n" + b" " * 5000)
    job = performed(ordered(f"{server}/cut", "table", options={"snippet": "code"}))
    assert Handler.asked == [(None, None), ("bytes=4000-", '"one"')]
    assert job.state == "failed"  # its name tells no format
    assert "its name must end in" in job.result["problems"][0]


def test_a_table_waits_for_its_columns_once_it_is_there(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    served(monkeypatch, TABLE)
    job = performed(ordered(f"{server}/pairs.csv", "table"))
    assert (job.state, job.message) == ("columns", "")
    order = {**job.order, "options": {"query": "question", "snippet": "answer"}}
    Job.objects.filter(pk=job.pk).update(state="running", order=order)
    assert performed(job).result["stored"] == 2
    assert Handler.asked == [(None, None)]


def test_a_table_of_nothing_fails(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    served(monkeypatch, b"a,b\n")
    job = performed(ordered(f"{server}/pairs.csv", "table"))
    assert (job.state, job.message) == ("failed", "No record of it can be read: pairs.csv: has no records")


def test_how_far_it_is_stands_in_the_job() -> None:
    job = ordered("https://example.org/codes.jsonl")
    told = download._Told(job, "codes.jsonl")
    told.tick(3 * 2**20, 12 * 2**20)
    told.tick(6 * 2**20, 12 * 2**20)  # within the second
    job.refresh_from_db()
    assert job.message == "Downloading codes.jsonl: 3.0 of 12.0 MB"


def test_what_ends_after_it_was_cancelled_stays_cancelled() -> None:
    job = ordered("https://example.org/codes.jsonl")
    assert uploads.cancel_import_job(job)
    download.fail_import_job(job, "too late")
    job.refresh_from_db()
    assert job.state == "cancelled"


def test_a_cancelled_import_stays_so_and_leaves_no_file(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served(monkeypatch, FUNCTION)
    job = ordered(f"{server}/codes.jsonl")
    Job.objects.filter(pk=job.pk).update(state="waiting")

    def child(command: list[str], still_wanted: object) -> int:
        assert keep_job(job.pk)
        assert uploads.cancel_import_job(job)
        assert not keep_job(job.pk)
        folder = path_of_job_file(job).parent
        folder.mkdir(parents=True)
        (folder / "codes.jsonl.part").write_bytes(b"x")
        Collection.objects.create(name="far", kind="snippets", source=str(path_of_job_file(job)))
        return -9

    monkeypatch.setattr(subprocesses, "run_child_command", child)
    assert subprocesses.perform_one_job(Job.Kind.IMPORT) == 1
    job.refresh_from_db()
    assert (job.state, job.message, job.files) == ("cancelled", "What was stored before stays.", {})
    assert not Collection.objects.exists()
    assert not uploads.cancel_import_job(job)
