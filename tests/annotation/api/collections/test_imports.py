"""Imports by upload, jobs and filtered collections over the API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from pytest_django import Settings

from retrieval.models import Collection, Job
from tests import factories
from tests.annotation.web.collections.test_upload_pages import own_storage
from tests.calls import get, pages, post

__all__ = ["own_storage"]
pytestmark = pytest.mark.django_db
TABLE = (
    b'question,code\nsort a list,def f(x): return sorted(x)\nempty,\nadd two,"def g(a, b): return a + b"\n'
)


def send(client: Client, status: int = 201, **fields: Any) -> Any:
    answer = client.post("/api/collections/imports", fields)
    assert answer.status_code == status, answer.content
    return answer.json()


def table(content: bytes = TABLE) -> SimpleUploadedFile:
    return SimpleUploadedFile("mine.csv", content)


def perform(job: dict[str, Any]) -> None:
    call_command("job", job["id"])


def test_a_table_with_named_columns_is_imported_and_its_bad_record_told(ada: Client) -> None:
    columns = json.dumps({"query": "question", "function": "code"})
    job = send(ada, name="mine", format="table", file=table(), columns=columns)
    assert (job["kind"], job["state"]) == ("import", "waiting")
    perform(job)
    done = get(ada, f"jobs/{job['id']}")
    assert (done["state"], len(done["problems"])) == ("partial", 1)
    assert "record 3" in done["problems"][0]
    assert done["result"]["stored"] == 4, "two queries and two functions"
    assert Collection.objects.get(name="mine", kind="queries").size == 2


def test_columns_are_guessed_where_that_is_asked(ada: Client) -> None:
    job = send(ada, name="mine", format="table", file=table(), columns="guess")
    assert (job["state"], job["order"]["options"]["snippet"]) == ("waiting", "code")


def test_a_table_waits_for_its_columns(ada: Client) -> None:
    job = send(ada, name="mine", format="table", file=table())
    assert job["state"] == "columns"
    seen = get(ada, f"collections/imports/{job['id']}/columns")
    assert seen["columns"] == ["question", "code"]
    assert seen["guessed"]["function"] == "code"
    assert seen["rows"][0]["question"] == "sort a list"
    path = f"collections/imports/{job['id']}/columns"
    refused = post(ada, path, {"query": "nothing"}, 422)
    assert refused["errors"][0]["where"] == "query"
    assert post(ada, path, {"query": "question"})["state"] == "waiting"
    assert post(ada, path, {"query": "question"}, 409)["type"] == "urn:cosqa:control-refused"


@pytest.mark.parametrize(
    ("columns", "said"),
    [("{", "JSON"), ("{}", "name the column"), ('{"x": "y"}', "Extra"), ('{"query": "gone"}', "gone")],
)
def test_bad_columns_keep_nothing(ada: Client, columns: str, said: str) -> None:
    refused = send(ada, 422, name="mine", format="table", file=table(), columns=columns)
    assert said.lower() in refused["detail"].lower()
    assert not Job.objects.exists()


def test_a_table_at_an_address_has_its_columns_named_beforehand(ada: Client) -> None:
    far: dict[str, Any] = {"name": "far", "format": "table", "file_from": "https://example.org/mine.csv"}
    assert "name its columns" in send(ada, 422, **far, columns="guess")["detail"]
    job = send(ada, **far, columns='{"query": "question"}')
    assert (job["state"], job["order"]["options"]["query"]) == ("waiting", "question")


def test_what_the_page_refuses_is_told_by_the_name_of_the_field(ada: Client) -> None:
    refused = send(ada, 422, name="mine", format="python")
    assert refused["type"] == "urn:cosqa:invalid-request"
    assert [error["where"] for error in refused["errors"]] == ["file"]
    assert send(ada, 422, name="mine", format="nonsense", file=table())["errors"][0]["where"] == "format"


def test_labels_name_their_collections(ada: Client) -> None:
    factories.queries(name="asked")
    factories.snippets(name="code")
    file = SimpleUploadedFile("qrels.txt", b"q1 0 s1 1\n")
    given: dict[str, Any] = {"name": "judged", "format": "qrels", "file": file}
    job = send(ada, **given, queries="asked", functions="code")
    assert job["order"]["options"]["queries"] == Collection.objects.get(name="asked").pk
    given["file"] = SimpleUploadedFile("qrels.txt", b"q1 0 s1 1\n")
    refused = send(ada, 422, **given, queries="asked", functions="gone")
    assert refused["type"] == "urn:cosqa:no-such-name"


def test_an_import_is_cancelled_once(ada: Client) -> None:
    job = send(ada, name="mine", format="table", file=table(), columns="guess")
    assert post(ada, f"jobs/{job['id']}/cancel", {})["state"] == "cancelled"
    assert "is over" in post(ada, f"jobs/{job['id']}/cancel", {}, 409)["detail"]
    waiting = send(ada, name="mine", format="table", file=table())
    assert post(ada, f"jobs/{waiting['id']}/cancel", {})["state"] == "cancelled"
    assert not Job.objects.filter(pk=waiting["id"]).exists(), "as the page discards it"


def test_jobs_are_listed_by_pages_and_kinds(ada: Client, erin: Client) -> None:
    for number in range(3):
        send(ada, name=f"c{number}", format="table", file=table(), columns="guess")
    assert [job["order"]["name"] for job in pages(ada, "jobs", 2)] == ["c2", "c1", "c0"]
    assert pages(ada, "jobs", 2, kind="export") == []
    assert pages(erin, "jobs", 2) == [], "of imports only admins know"


def test_a_filtered_collection_is_made(ada: Client) -> None:
    snippets = factories.snippets(name="code")
    path = f"collections/{snippets.pk}/filters"
    job = post(ada, path, {"name": "tested", "filters": ["testable"]}, 201)
    perform(job)
    assert Collection.objects.get(name="tested").filtered_from == snippets
    refused = post(ada, path, {"name": "tested", "filters": ["nonsense"]}, 422)
    assert refused["errors"][0]["where"] == "filters"


def test_corpus_tables_as_json_and_as_a_file(ada: Client, settings: Settings, tmp_path: Path) -> None:
    snippets = factories.snippets(name="code")
    tables = get(ada, f"collections/{snippets.pk}/corpus")
    assert next(iter(tables.values()))["columns"]
    answer = ada.get(f"/api/collections/{snippets.pk}/corpus?table={next(iter(tables))}&format=csv")
    assert answer["Content-Type"].startswith("text/csv")
    assert ada.get(f"/api/collections/{snippets.pk}/corpus?table=gone").status_code == 404
