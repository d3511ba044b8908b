"""An uploaded import leaves what people can use: no empty collection, no path of the server."""

from __future__ import annotations

import io
import json
import tarfile
from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.test import override_settings
from django.utils import timezone

from retrieval.collections.import_report import ImportCounts
from retrieval.jobs import path_of_job_file
from retrieval.models import Benchmark, Collection, Job
from retrieval.uploads import Format, forget_files
from retrieval.uploads.import_job import record_import_progress
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def uploads(tmp_path: Path) -> object:
    storage = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}}
    with override_settings(STORAGES={"default": storage}):
        yield


def imported(name: str, content: bytes) -> Job:
    file = ContentFile(content, name=name)
    job = factories.import_job(name="up", format=Format.PYTHON, file=file)
    call_command("job", str(job.pk))
    job.refresh_from_db()
    return job


def test_a_file_of_which_nothing_could_be_read_leaves_no_collection() -> None:
    job = imported("bad.zip", b"no zip")
    assert job.state == Job.State.FAILED
    assert job.result["problems"][0].startswith("bad.zip: ")
    assert not Collection.objects.exists()


def test_a_collection_names_the_file_that_it_came_from() -> None:
    imported("good.py", b"def double(x):\n    return 2 * x\n")
    made = Collection.objects.get()
    assert (made.source, made.size) == ("good.py", 1)


def test_names_that_no_database_takes_are_marked() -> None:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name, code in (("caf\udce9.py", b"def f(x): return x"), ("caf\udce9/link.py", b"")):
            info = tarfile.TarInfo(name)
            info.size, info.type = len(code), tarfile.REGTYPE if code else tarfile.SYMTYPE
            archive.addfile(info, io.BytesIO(code))
    job = imported("names.tar", content.getvalue())
    assert (job.state, job.result["stored"]) == (Job.State.PARTIAL, 1)
    assert job.message == "Refused: 1 record, listed below; the others are stored"
    assert job.result["problems"] == ["names.tar: caf⟨U+DCE9⟩/link.py: is a link or no file and is skipped"]


def test_what_was_there_before_a_failed_import_stays() -> None:
    imported("good.py", b"def double(x):\n    return 2 * x\n")
    imported("bad.py", b"def (")
    assert Collection.objects.get().size == 1


ANSWERED = {
    "query": "question",
    "snippet": "answer",
    "query_id": "stackoverflow_id",
    "snippet_id": "stackoverflow_id",
}
LABELLED = {**ANSWERED, "label": "label"}


def test_other_formats_bring_queries_snippets_and_labels() -> None:
    rows = b'[{"stackoverflow_id": "1", "question": "how?", "answer": "this();"}]'
    file = ContentFile(rows, name="questions.json")
    job = factories.import_job(name="asked", format=Format.TABLE, file=file, options=ANSWERED)
    call_command("job", str(job.pk))
    job.refresh_from_db()
    assert job.state == Job.State.DONE
    read = [f"{kind}: ids read from stackoverflow_id" for kind in ("queries", "snippets")]
    assert job.result == {"read": 2, "stored": 2, "unreadable": 0, "problems": [], "ids": read}
    assert [made.source for made in Collection.objects.all()] == ["questions.json"] * 2


def test_questions_of_neural_code_search_come_without_their_answers() -> None:
    rows = b'[{"stackoverflow_id": "1", "question": "how?", "answer": "this();"}]'
    job = factories.import_job(name="ncs", format=Format.NCS, file=ContentFile(rows, name="questions.json"))
    call_command("job", str(job.pk))
    assert [(made.kind, made.size) for made in Collection.objects.all()] == [("queries", 1)]
    assert not Benchmark.objects.exists()


@pytest.mark.parametrize("allowed", [False, True])
def test_a_refused_label_publishes_no_benchmark_unless_that_is_allowed(allowed: bool) -> None:
    rows = [
        {"stackoverflow_id": n, "question": f"how {n}?", "answer": f"this({n});", "label": 1} for n in (1, 2)
    ]
    content = json.dumps([*rows, {"stackoverflow_id": 3, "question": "how?", "label": 1}]).encode()
    file = ContentFile(content, name="questions.json")
    job = factories.import_job(
        name="asked", format=Format.TABLE, file=file, options=LABELLED, allow_partial=allowed
    )
    call_command("job", str(job.pk))
    job.refresh_from_db()
    assert (job.state, job.result["stored"], job.result["unreadable"]) == (Job.State.PARTIAL, 4, 1)
    assert job.message.startswith("Refused: 1 record, listed below; the others are stored. 2 labels")
    published = [benchmark.notes for benchmark in Benchmark.objects.all()]
    if allowed:
        assert published == [
            "Published in part: labels may be missing by 1 refused label or cut-off file of the import."
        ]
    else:
        assert published == [] and job.message.endswith(
            "publish what is there by the box for that in the form."
        )


def test_every_format_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in Format:
        file = ContentFile(b"nothing of use", name="x.json")
        options = {"query": "question"} if each == Format.TABLE else {}
        job = factories.import_job(name=f"of {each}", format=each, file=file, options=options)
        call_command("job", str(job.pk))
        job.refresh_from_db()
        assert job.state == Job.State.FAILED
        assert job.result["problems"]
        assert not any("imports/" in problem for problem in job.result["problems"])


@pytest.mark.parametrize(
    ("content", "state", "said"),
    [
        (b"def f(x): return x", "failed", "No function was kept: 1 refused: no documentation (such as "),
        (
            b"def f(x):\n    'Give back the argument.'\n    y = x\n    return y\ndef g(x): return x",
            "done",
            "1 refused: no documentation (such as ",
        ),
    ],
)
def test_functions_that_a_rule_refused_are_told(content: bytes, state: str, said: str) -> None:
    file = ContentFile(content, name="m.py")
    job = factories.import_job(name="pairs", format=Format.DOCUMENTED, file=file)
    call_command("job", str(job.pk))
    job.refresh_from_db()
    assert job.state == state
    assert job.message.startswith(said)


def test_a_running_import_says_how_fast_it_is() -> None:
    job = factories.import_job(name="up", format=Format.PYTHON)
    record_import_progress(job, ImportCounts(read=3000, stored=2000, unreadable=1), 2.0, 0.457)
    job.refresh_from_db()
    assert job.result == {"read": 3000, "stored": 2000, "unreadable": 1}
    assert (job.done, job.total) == (45, 100)
    assert job.message == "1,500 records a second"
    record_import_progress(job, ImportCounts(), 2.0, None)
    job.refresh_from_db()
    assert job.total == 0


@pytest.mark.parametrize("own_code", [True, False])
def test_it_notes_what_share_of_the_bytes_it_has_read(
    own_code: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = list[int]()

    def noting(job: Job, counts: ImportCounts, seconds: float, share: float | None) -> None:
        record_import_progress(job, counts, seconds, share)
        job.refresh_from_db()
        noted.append(job.done)

    monkeypatch.setattr("retrieval.uploads.import_job.record_import_progress", noting)
    rows = [{"doc": "sort", "code": "def f(x): return x", "label": 1}]
    pairs = ContentFile(json.dumps(rows).encode(), name="pairs.json")
    codebase = (
        None if own_code else ContentFile(json.dumps({"def f(x): return x": 0}).encode(), name="map.txt")
    )
    job = factories.import_job(name="pairs", format=Format.COSQA, file=pairs, codebase=codebase)
    call_command("job", str(job.pk))
    assert noted == sorted(noted) and 0 < noted[0] < noted[-1] == 100


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"no JSON", "map.txt: expected a JSON array or object"), (b"{}", "there is nothing in it")],
)
def test_a_code_base_of_which_nothing_can_be_read_fails_it(content: bytes, why: str) -> None:
    rows = [{"doc": "sort", "code": "def f(x): return x", "label": 1}]
    pairs, codebase = ContentFile(json.dumps(rows).encode(), "pairs.json"), ContentFile(content, "map.txt")
    job = factories.import_job(name="pairs", format=Format.COSQA, file=pairs, codebase=codebase)
    call_command("job", str(job.pk))
    job.refresh_from_db()
    assert job.state == Job.State.FAILED
    said = "No function of the code base could be read, the queries are kept: "
    assert job.message.startswith(f"{said}{why}")
    assert Collection.objects.get().kind == "queries"


def test_it_keeps_the_first_problems_and_their_exact_number() -> None:
    rows = json.dumps([{"question": "how?", "answer": "this();", "stackoverflow_id": 1}, *[1] * 130])
    file = ContentFile(rows.encode(), name="questions.json")
    job = factories.import_job(name="ncs", format=Format.NCS, file=file)
    call_command("job", str(job.pk))
    job.refresh_from_db()
    assert (len(job.result["problems"]), job.result["unreadable"]) == (100, 130)


def test_the_files_of_an_import_go_when_it_has_ended_and_not_before(tmp_path: Path) -> None:
    file = ContentFile(b"def double(x):\n    return 2 * x\n", name="good.py")
    job = factories.import_job(name="up", format=Format.PYTHON, file=file)
    assert [path.name for path in tmp_path.rglob("*.py")] == ["good.py"]
    call_command("job", str(job.pk))
    job.refresh_from_db()
    assert not job.files
    assert not list((tmp_path / "imports").iterdir())


def test_what_a_dead_worker_or_nobody_finished_is_removed(tmp_path: Path) -> None:
    def left(**columns: object) -> Job:
        return factories.import_job(file=ContentFile(b"x", name="x.csv"), **columns)

    left(state="failed")
    old, new = left(state="columns"), left(state="columns")
    Job.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(days=2))
    forget_files()
    assert [path_of_job_file(job).is_file() for job in Job.objects.exclude(files={})] == [True]
    assert set(Job.objects.values_list("state", flat=True)) == {"failed", "columns"}
    assert Job.objects.filter(pk=new.pk).exists()
    assert len(list(tmp_path.rglob("x.csv"))) == 1
