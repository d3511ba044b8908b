"""The upload form with an address instead of a file: judged by its spelling, ordered, cancelled."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from retrieval.jobs import path_of_job_file
from retrieval.models import Job
from tests.annotation.web.collections.test_upload_pages import UPLOAD, a_file, own_storage

__all__ = ["own_storage"]
pytestmark = pytest.mark.django_db
AN_ADDRESS = "https://example.org/sets/codes.jsonl?download=1"


def test_an_address_stands_for_a_file(ada: Client) -> None:
    form = {"name": "far", "format": "codesearchnet", "file_from": AN_ADDRESS}
    page = ada.post(UPLOAD, form, follow=True).content.decode()
    job = Job.objects.get()
    assert (job.state, job.order["addresses"]) == ("waiting", {"file": AN_ADDRESS})
    assert job.files["file"].endswith("/codes.jsonl")
    assert not path_of_job_file(job).exists()
    assert f"from {AN_ADDRESS}" in page
    assert reverse("import-cancel", args=[job.pk]) in page


def test_a_second_file_has_an_address_of_its_own(ada: Client) -> None:
    form = {"name": "plus", "format": "cosqa-plus", "codebase_from": "hf:a/b/codebase.json"}
    ada.post(UPLOAD, {**form, "file": a_file("query.json"), "titles_from": "hf:a/b/other.pickle"})
    job = Job.objects.get()
    assert job.order["addresses"] == {"codebase": "hf:a/b/codebase.json"}
    assert path_of_job_file(job).exists()


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({}, "Choose a file, or give its address."),
        ({"file_from": "ftp://example.org/a.jsonl"}, "Expected https://"),
        ({"file_from": "/etc/passwd.jsonl"}, "Expected https://"),
        ({"file_from": "https:///a.jsonl"}, "Expected https://"),
        ({"file_from": "https://example.org:x/a.jsonl"}, "Expected https://"),
        ({"file_from": "https://example.org/a b.jsonl"}, "without blanks"),
        ({"file_from": "https://ann:secret@example.org/a.jsonl"}, "name or password"),
        ({"file_from": "https://example.org/.."}, "end in the name of a file"),
        ({"file_from": "https://example.org/a.exe"}, "ends in .jsonl"),
        ({"file_from": AN_ADDRESS, "file": a_file("a.jsonl")}, "leave one out"),
    ],
)
def test_an_address_of_no_use_is_told(ada: Client, form: dict[str, object], said: str) -> None:
    answer = ada.post(UPLOAD, {"name": "far", "format": "codesearchnet", **form})
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Job.objects.exists()


def test_an_import_is_cancelled_and_can_be_ordered_again(ada: Client) -> None:
    ada.post(UPLOAD, {"name": "far", "format": "codesearchnet", "file_from": AN_ADDRESS})
    job = Job.objects.get()
    page = ada.post(reverse("import-cancel", args=[job.pk]), follow=True).content.decode()
    job.refresh_from_db()
    assert job.state == "cancelled"
    assert not job.files
    assert "was cancelled" in page
    again = re.search(r'href="(/collections/upload/\?[^"]*)"', page)
    assert again
    assert AN_ADDRESS in ada.get(again[1].replace("&amp;", "&")).content.decode()
    assert "is over" in ada.post(reverse("import-cancel", args=[job.pk]), follow=True).content.decode()
