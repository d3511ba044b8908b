"""Uploads of a table: its columns are guessed, shown, chosen once, or discarded with the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

from retrieval.models import Benchmark, Collection, Job
from tests.annotation.web.collections.test_upload_pages import (
    UPLOAD,
    a_file,
    columns_of,
    imported,
    own_storage,
)

pytestmark = pytest.mark.django_db
__all__ = ["own_storage"]
"""A fixture for all tests of a file where it is imported."""

TABLE = b"question,answer,judged,note\nsort a list,f(),1,<b>\nread a file,g(),0,x\nsort a list,g(),,x\n"


def a_table(ada: Client, content: bytes = TABLE, name: str = "pairs.csv") -> Job:
    ada.post(UPLOAD, {"name": "mine", "format": "table", "file": a_file(name, content)})
    return Job.objects.get()


def test_columns_are_guessed_shown_and_can_be_changed(ada: Client) -> None:
    job = a_table(ada)
    assert job.state == "columns"
    answer = ada.get(columns_of(job))
    initial = answer.context["form"].initial
    assert (initial["query"], initial["snippet"], initial["label"]) == ("question", "answer", "judged")
    assert "&lt;b&gt;" in answer.content.decode()
    chosen = {
        "query": "question",
        "snippet": "answer",
        "label": "judged",
        "origin": "note",
        "scale": "binary",
    }
    page = ada.post(columns_of(job), chosen, follow=True).content.decode()
    assert "waits for a worker" in page
    assert imported(job).state == "done"
    assert (job.result["read"], job.result["stored"]) == (6, 4)
    assert job.message == "2 labels; benchmark mine, version 1"
    origins = Collection.objects.get(name="mine", kind="snippets").members.values_list("origin", flat=True)
    assert set(origins) == {"<b>", "x"}
    assert Benchmark.objects.get().positives == 1


def test_columns_are_chosen_once(ada: Client) -> None:
    job = a_table(ada)
    ada.post(columns_of(job), {"query": "question", "scale": "binary"})
    answer = ada.post(columns_of(job), {"query": "note", "scale": "binary"}, follow=True)
    assert "have been chosen already" in answer.content.decode()
    job.refresh_from_db()
    assert job.order["options"]["query"] == "question"


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({}, "Name the column of the queries, of the functions, or both."),
        ({"query": "question", "label": "judged"}, "A label belongs to a query and a function"),
        ({"query": "question", "snippet": "question"}, "both the queries and the functions"),
        ({"query": "elsewhere"}, "not one of the available choices"),
    ],
)
def test_a_choice_of_no_use_is_told(ada: Client, chosen: dict[str, str], said: str) -> None:
    job = a_table(ada)
    answer = ada.post(columns_of(job), {**chosen, "scale": "binary"})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    job.refresh_from_db()
    assert job.state == "columns"


def test_an_upload_is_discarded_with_its_file(ada: Client, tmp_path: Path) -> None:
    job = a_table(ada)
    answer = ada.post(columns_of(job), {"discard": "1"}, follow=True)
    assert "was discarded" in answer.content.decode()
    assert not Job.objects.exists()
    assert not list(tmp_path.rglob("*.csv"))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("header.csv", b"a,b\n", "header.csv: has no records"),
        ("pairs.jsonl", b"no json\n", "record 1: is not JSON"),
        ("pairs.csv.gz", b"no gzip", "cannot be read to its end"),
    ],
)
def test_a_table_that_cant_be_read_is_not_kept(
    ada: Client, tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    answer = ada.post(UPLOAD, {"name": "mine", "format": "table", "file": a_file(name, content)})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert said in page
    assert str(tmp_path) not in page
    assert not Job.objects.exists()
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_large_header_is_capped(ada: Client) -> None:
    names = ",".join(f"c{number}" for number in range(300))
    job = a_table(ada, f"query,{names}\n{','.join(['x' * 500] * 301)}\n".encode())
    page = ada.get(columns_of(job))
    assert (len(page.context["page"]["header"]), page.context["page"]["more"]) == (12, 188)
    assert "x" * 161 not in page.content.decode()
