"""Uploads of a part: one file of a release by itself, or one data set of several in a zip."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from annotation.web.collections.upload_guides import BY_FORMAT
from retrieval.models import Benchmark, Collection, Job
from tests.annotation.web.collections.test_upload_pages import UPLOAD, a_file, imported, own_storage, zipped

pytestmark = pytest.mark.django_db
__all__ = ["own_storage"]
"""A fixture for all tests of a file where it is imported."""

FILES = dict(BY_FORMAT["cosqa-plus"].example)
ALONE = "These are queries only: a build searches for them in the functions of another collection."


def uploaded(ada: Client, name: str, content: str, **further: object) -> Job:
    form = {"name": "plus", "format": "cosqa-plus", "file": a_file(name, content.encode()), **further}
    assert ada.post(UPLOAD, form).status_code == 302
    return imported(Job.objects.latest("pk"))


def kinds() -> dict[str, int]:
    return dict(Collection.objects.values_list("kind", "size"))


@pytest.mark.parametrize("name", ["query.json", "test_agent_query.json", "mine.json"])
def test_queries_alone_become_a_collection_of_queries(ada: Client, name: str) -> None:
    job = uploaded(ada, name, FILES["query.json"])
    assert (job.state, job.result["problems"], job.message) == ("done", [], ALONE)
    assert kinds() == {"queries": 1}
    assert not Benchmark.objects.exists()


def test_a_code_base_alone_becomes_snippets(ada: Client) -> None:
    job = uploaded(ada, "codebase.json", FILES["codebase.json"])
    assert (job.state, job.message, kinds()) == ("done", "", {"snippets": 1})


@pytest.mark.parametrize("name", ["pairs.json", "gpt4o_augment_pairs_true.json", "mine.json"])
def test_pairs_alone_lose_neither_code_nor_labels(ada: Client, name: str) -> None:
    job = uploaded(ada, name, FILES["pairs.json"])
    assert (job.state, job.message) == ("done", "1 label; benchmark plus, version 1")
    assert kinds() == {"queries": 1, "snippets": 1}


def test_pairs_with_a_code_base_lose_no_label_either(ada: Client) -> None:
    more = json.dumps([*json.loads(FILES["codebase.json"]), {"code-idx": 1, "code": "def g(x): return x"}])
    job = uploaded(ada, "pairs.json", FILES["pairs.json"], codebase=a_file("codebase.json", more.encode()))
    assert job.message == "1 label; benchmark plus, version 1"
    assert kinds() == {"queries": 1, "snippets": 2}


def test_of_a_zip_with_several_data_sets_one_is_chosen(ada: Client) -> None:
    files = tuple(
        (f"{name}/{inside}", said) for name in ("go", "java") for inside, said in BY_FORMAT["beir"].example
    )
    form = {"name": "csn", "format": "beir"}
    ada.post(UPLOAD, {**form, "file": a_file("csn.zip", zipped(files))})
    job = imported(Job.objects.get())
    assert job.state == "failed"
    assert job.message == (
        "csn.zip: has a data set for each of go, java: choose one as configuration in the form."
    )
    ada.post(UPLOAD, {**form, "config": "java", "file": a_file("csn.zip", zipped(files))})
    assert imported(Job.objects.latest("pk")).state == "done"
    assert set(Collection.objects.values_list("members__origin", flat=True)) == {"csn/java"}
    answer = ada.post(UPLOAD, {**form, "config": "../java", "file": a_file("csn.zip")})
    assert "called like its folders" in answer.content.decode()


def test_a_release_that_withholds_something_says_what_is_missing(ada: Client, tmp_path: Path) -> None:
    uploaded(ada, "pairs.json", FILES["pairs.json"])
    Collection.objects.get(kind="queries").members.update(licence="Proprietary")
    call_command("export", "release", "plus", str(tmp_path / "out"), withhold="forbidden")
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    held = tuple((path.relative_to(tmp_path / "out").as_posix(), path.read_text()) for path in files)
    order = {"name": "again", "format": "release", "file": a_file("plus.zip", zipped(held))}
    assert ada.post(UPLOAD, order).status_code == 302
    job = imported(Job.objects.latest("pk"))
    told = "Missing, as the release withholds it for its licence: 1 query, 1 labelled pair ("
    assert job.state == "done" and job.message.startswith(told)


def test_a_bad_label_is_told_on_the_page_and_the_box_publishes_the_others(ada: Client) -> None:
    pairs = json.dumps([*json.loads(FILES["pairs.json"]), {"query": "sort", "code": "x = 1", "label": 7}])
    assert uploaded(ada, "pairs.json", pairs).state == "partial"
    page = ada.get(reverse("collections")).content.decode()
    assert "done in part" in page and "Upload it again" in page and "No benchmark is published" in page
    assert not Benchmark.objects.exists()
    assert uploaded(ada, "pairs.json", pairs, allow_partial="on").state == "partial"
    notes = Benchmark.objects.get().notes
    assert notes.startswith("Published in part: ")
    assert notes in ada.get(reverse("benchmarks")).content.decode()
    assert notes in ada.get(reverse("benchmark", args=[Benchmark.objects.get().pk])).content.decode()


def test_a_mended_upload_replaces_what_was_stored_by_a_box(ada: Client) -> None:
    pairs = [{"query-idx": 0, "query": "sort a list", "code-idx": 0, "code": "x = 1", "label": 1}]
    assert uploaded(ada, "pairs.json", json.dumps(pairs)).state == "done"
    mended = json.dumps([{**pairs[0], "code": "x = 2"}])
    refused = uploaded(ada, "pairs.json", mended)
    assert refused.state == "partial"
    assert "belongs to another text" in refused.result["problems"][0]
    assert refused.result["problems"][0].endswith("import by the box for that in the form")
    assert uploaded(ada, "pairs.json", mended, replace="on").state == "done"
    versions = Collection.objects.filter(kind="snippets").order_by("version")
    assert [one.members.get().text.text for one in versions] == ["x = 1", "x = 2"]
