from __future__ import annotations

import io
import json
import pickle
import zipfile
from ast import literal_eval
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from annotation.web.collections.upload_guides import GUIDES, ZIP, Guide
from retrieval.collections import derivation
from retrieval.jobs import path_of_job_file
from retrieval.models import Benchmark, Collection, Job, Label
from retrieval.uploads import Format
from tests import factories

pytestmark = pytest.mark.django_db
UPLOAD = "/collections/upload/"


@pytest.fixture(autouse=True)
def own_storage(settings: Settings, tmp_path: Path) -> None:
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": tmp_path},
        },
    }


def a_file(name: str = "queries.json", content: bytes = b"[]") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content)


def test_nothing_is_uploaded_into_a_filtered_collection(ada: Client) -> None:
    derivation.derive_collection("tested", factories.snippets(), ["testable"])
    sent = {"name": "tested", "format": "python", "file": a_file("a.py", b"def f(x): return x")}
    assert "holds what passed the filters" in ada.post(UPLOAD, sent).content.decode()
    assert not Job.objects.exists()


def test_uploading_makes_a_job_for_a_worker(ada: Client) -> None:
    answer = ada.post(
        UPLOAD,
        {"name": "dev", "format": "cosqa", "file": a_file(), "codebase": a_file("codes.txt", b"{}")},
        follow=True,
    )
    job = Job.objects.get()
    assert (job.order["name"], job.state, job.created_by) == ("dev", "waiting", factories.ada())
    read = {name: path_of_job_file(job, name).read_bytes() for name in job.files}
    assert read == {"file": b"[]", "codebase": b"{}"}
    page = answer.content.decode()
    assert "waits for a worker" in page
    assert 'hx-trigger="every 2s"' in page


def test_pairs_that_hold_their_code_need_no_code_base(ada: Client) -> None:
    pairs = [{"idx": "dev-0", "doc": "sort a list", "code": "def f(x):\n    return sorted(x)", "label": 1}]
    sent = {"name": "dev", "format": "cosqa", "file": a_file("dev.json", json.dumps(pairs).encode())}
    assert ada.post(UPLOAD, sent).status_code == 302
    assert imported(Job.objects.get()).state == "done"
    made = Benchmark.objects.get(name="dev")
    assert (made.size, made.snippets.size, made.snippets.source) == (1, 1, made.queries.source)


def test_python_needs_no_code_base(ada: Client) -> None:
    ada.post(UPLOAD, {"name": "mine", "format": "python", "file": a_file("mine.py", b"x = 1")})
    assert set(Job.objects.get().files) == {"file"}


@pytest.mark.parametrize(
    ("format_", "file"),
    [
        ("python", "thing-1.0.tar.gz"),
        ("documented", "thing.whl"),
        ("documented", "thing.tar.xz"),
        ("codesearchnet", "python_test_0.jsonl.gz"),
        ("codesearchnet", "python.zip"),
        ("staqc", "code.pickle"),
        ("ncs", "questions.json"),
        ("release", "again.zip"),
        ("beir", "scifact.zip"),
        ("cosqa-plus", "plus.zip"),
    ],
)
def test_every_format_is_offered_and_takes_its_files(ada: Client, format_: str, file: str) -> None:
    assert f'value="{format_}"' in ada.get(UPLOAD).content.decode()
    for _ in range(2):  # the second one's file gets another name, with the same end
        ada.post(UPLOAD, {"name": "mine", "format": format_, "file": a_file(file, b"x")})
    for job in Job.objects.all():
        assert job.files["file"].endswith(file.removeprefix("thing-1.0").removeprefix(file.split(".")[0]))


@pytest.mark.parametrize(
    ("form", "file", "said"),
    [
        ({"name": ""}, "mine.py", "This field is required"),
        ({"format": "python"}, "mine.exe", "ends in .py, .whl, .zip"),
        ({"format": "documented", "written_in": "java"}, "mine.py", "is not of this language"),
        ({"format": "documented", "written_in": "cobol"}, "mine.py", "not one of the available choices"),
        ({"format": "documented"}, "Mine.java", "is not of this language"),
    ],
)
def test_what_is_wrong_is_said_and_the_name_is_kept(
    ada: Client, form: dict[str, str], file: str, said: str
) -> None:
    answer = ada.post(UPLOAD, {"name": "mine", "format": "python", **form, "file": a_file(file)})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert said in page
    assert form.get("name") == "" or 'value="mine"' in page
    assert not Job.objects.exists()


def test_a_larger_file_is_told_the_command(ada: Client, settings: Settings) -> None:
    settings.UPLOAD_LIMIT_BYTES = 10
    form = {"name": "big", "format": "python", "file": a_file("big.py", b"x" * 11)}
    page = ada.post(UPLOAD, form).content.decode()
    assert "cosqa import python PATH --name NAME" in page
    assert not Job.objects.exists()


def test_only_admins_may(erin: Client) -> None:
    job = factories.import_job(state="columns", format="table")
    for address in (UPLOAD, columns_of(job)):
        assert erin.get(address).status_code == 403
        assert erin.post(address, {"discard": "1"}).status_code == 403


def columns_of(job: Job) -> str:
    return reverse("upload-columns", args=[job.pk])


def imported(job: Job) -> Job:
    """The job, after a worker was at it."""
    call_command("job", str(job.pk))
    job.refresh_from_db()
    return job


def zipped(files: tuple[tuple[str, str], ...]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files:
            archive.writestr(f"folder/{name}", content)
    return packed.getvalue()


def sent(guide: Guide) -> dict[str, SimpleUploadedFile]:
    """The files of a guide's example, as its hint tells to choose them."""
    if guide.endings == ZIP:
        return {"file": a_file("data.zip", zipped(guide.example))}
    if guide.format == Format.STAQC:
        held = ((name, pickle.dumps(literal_eval(code))) for name, code in guide.example)
        return {field: a_file(*each) for field, each in zip(("file", "titles"), held, strict=True)}
    names = ("file", "codebase", "pairs")
    return {
        field: a_file(name, content.encode())
        for field, (name, content) in zip(names, guide.example, strict=False)
    }


@pytest.mark.parametrize("guide", GUIDES, ids=lambda guide: str(guide.format))
def test_every_example_of_the_page_is_what_the_format_reads(ada: Client, guide: Guide) -> None:
    queries = factories.queries(["sort a list", "read a file"], "judged")
    snippets = factories.snippets(["def f(x):\n    return x", "def g(x):\n    return x + 1"], "judged")
    for number, member in enumerate([*queries.members.all(), *snippets.members.all()]):
        member.source_id = f"{'qd'[number // 2]}{number % 2 + 1}"
        member.save()
    form = {
        "name": "of the page",
        "format": guide.format.value,
        "queries": queries.pk,
        "snippets": snippets.pk,
    }
    answer = ada.post(UPLOAD, {**form, **sent(guide)})
    job = Job.objects.get()
    if guide.format == Format.TABLE:
        assert answer["Location"] == columns_of(job)
        ada.post(columns_of(job), ada.get(columns_of(job)).context["form"].initial)
    assert imported(job).result["problems"] == []
    assert job.state == "done"
    assert Collection.objects.filter(name="of the page").exists() or Label.objects.exists()


def test_no_guide_is_missing() -> None:
    assert [guide.format.value for guide in GUIDES] == Format.values


def test_judgements_need_the_collections_that_they_are_about(ada: Client) -> None:
    answer = ada.post(UPLOAD, {"name": "judged", "format": "qrels", "file": a_file("a.qrels", b"q 0 d 1")})
    page = answer.content.decode()
    assert "about queries that are here" in page and "about functions that are here" in page


def test_judgements_of_what_is_not_there_are_refused_by_record(ada: Client) -> None:
    queries, snippets = factories.queries(), factories.snippets()
    form = {"name": "judged", "format": "qrels", "queries": queries.pk, "snippets": snippets.pk}
    ada.post(UPLOAD, {**form, "file": a_file("a.qrels", b"nobody 0 nothing 1")})
    job = imported(Job.objects.get())
    assert job.state == "failed"
    assert job.result["problems"] == [f"a.qrels, record 1: {queries} has no query 'nobody'"]


def test_a_zip_bomb_fails_with_what_to_do_and_leaves_nothing(
    ada: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrieval.sources.code.archives.UNPACKED_LIMIT", 100)
    files = (("corpus.jsonl", json.dumps({"_id": "d", "text": "x" * 200})), ("queries.jsonl", "{}"))
    ada.post(UPLOAD, {"name": "bomb", "format": "beir", "file": a_file("bomb.zip", zipped(files))})
    job = imported(Job.objects.get())
    assert job.state == "failed"
    assert job.result["problems"][0].startswith("bomb.zip: unpacks to more than")
    assert job.message == job.result["problems"][0]
    assert not Collection.objects.exists()
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_members_of_a_zip_name_it_as_their_origin(ada: Client) -> None:
    guide = next(guide for guide in GUIDES if guide.format == Format.BEIR)
    file = a_file(
        "scifact.zip", zipped((*guide.example, ("qrels/dev.tsv", "query-id\tcorpus-id\tscore\nq9\td9\t1")))
    )
    ada.post(UPLOAD, {"name": "sci", "format": "beir", "file": file, "split": "dev"})
    job = imported(Job.objects.get())
    assert set(Collection.objects.values_list("members__origin", flat=True)) == {"scifact"}
    assert job.result["problems"] == ["qrels/dev.tsv, record 2: there is no query 'q9' among the queries"]


@pytest.mark.parametrize(("ticked", "queries"), [({}, 0), ({"documentation": "on"}, 1)])
def test_documentation_becomes_queries_where_that_is_ticked(
    ada: Client, ticked: dict[str, str], queries: int
) -> None:
    line = {"language": "python", "func_name": "f", "docstring": "Sort it all.", "code": "def f(x): return x"}
    file = a_file("python_test_0.jsonl", json.dumps(line).encode())
    ada.post(UPLOAD, {"name": "csn", "format": "codesearchnet", "file": file, **ticked})
    assert imported(Job.objects.get()).state == "done"
    assert Collection.objects.filter(kind="queries").count() == queries


def test_pairs_whose_code_the_code_base_lacks_are_refused(ada: Client) -> None:
    rows = [{"doc": f"ask {n}", "code": f"def f{n}(x): return x", "label": 1} for n in range(3)]
    files = {
        "file": a_file("pairs.json", json.dumps(rows).encode()),
        "codebase": a_file("code_idx_map.txt", json.dumps({rows[0]["code"]: 0}).encode()),
    }
    ada.post(UPLOAD, {"name": "part", "format": "cosqa", **files})
    told = imported(Job.objects.get()).message
    assert told.startswith("Refused: 2 records, listed below; the others are stored. 1 label. No benchmark")


def test_titles_make_queries_of_staqc_and_need_a_pickle_too(ada: Client, tmp_path: Path) -> None:
    guide = next(guide for guide in GUIDES if guide.format == Format.STAQC)
    form = {"name": "so", "format": "staqc"}
    answer = ada.post(UPLOAD, {**form, **sent(guide), "titles": a_file("titles.json")})
    assert "Expected a file that ends in .pickle, .pkl." in answer.content.decode()
    ada.post(UPLOAD, {**form, **sent(guide)})
    job = imported(Job.objects.get())
    assert job.message == "1 label; benchmark so, version 1"
    query = Collection.objects.get(kind="queries").members.get()
    assert query.text.head == "Print each name of a list"
    assert not list(tmp_path.rglob("*.pickle"))


def test_functions_of_java_are_extracted_where_that_is_chosen(ada: Client) -> None:
    source = "class A {\n  /** Add two numbers. */\n  int add(int a, int b) {\n    return a + b;\n  }\n}\n"
    file = a_file("a.zip", zipped((("A.java", source), ("a.py", "def f(x): return x"))))
    ada.post(UPLOAD, {"name": "java", "format": "documented", "written_in": "java", "file": file})
    assert imported(Job.objects.get()).result["problems"] == []
    assert Collection.objects.get(kind="queries").members.get().text.head == "Add two numbers."


def test_a_corpus_is_read_out_of_the_zip_that_was_published(ada: Client) -> None:
    def function(name: str) -> str:
        return json.dumps({"language": "java", "func_name": name, "code": f"void {name}() {{}}"})

    parts = (
        ("final/jsonl/train/java_train_0.jsonl", function("f")),
        ("final/jsonl/test/java_test_0.jsonl", function("g") + "\nno json"),
        ("java_licenses.pkl", "no pickle"),
    )
    file = a_file("java.zip", zipped(parts))
    ada.post(UPLOAD, {"name": "csn", "format": "codesearchnet", "file": file})
    job = imported(Job.objects.get())
    assert (job.state, job.result["read"], job.result["stored"]) == ("partial", 4, 2)
    first, second = job.result["problems"]
    assert first.startswith("folder/final/jsonl/test/java_test_0.jsonl, record 2: is not JSON")
    assert "1 file not read: folder/java_licenses.pkl." in second
    assert Collection.objects.get().source == "java.zip"


def test_an_exported_release_becomes_the_same_benchmark(ada: Client, tmp_path: Path) -> None:
    guide = next(guide for guide in GUIDES if guide.format == Format.COSQA_PLUS)
    ada.post(UPLOAD, {"name": "plus", "format": "cosqa-plus", **sent(guide)})
    imported(Job.objects.get())
    first = Benchmark.objects.get()
    call_command("export", "release", "plus", str(tmp_path / "out"))
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    held = tuple((path.relative_to(tmp_path / "out").as_posix(), path.read_text()) for path in files)
    for name in ("again", "again"):
        ada.post(UPLOAD, {"name": name, "format": "release", "file": a_file("plus.zip", zipped(held))})
        job = imported(Job.objects.latest("pk"))
    assert (job.state, job.result["stored"]) == ("done", 0)
    again = Benchmark.objects.get(name="again")
    assert again.digest == first.digest
    member = Collection.objects.get(name="again", kind="queries").members.get()
    assert member.origin == "query.json" and "Missing" not in job.message
