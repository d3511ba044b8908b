from __future__ import annotations

from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries, Settings

from annotation.pages import collections as pages
from retrieval.models import ImportJob
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


def test_collections_are_listed_and_lead_to_their_members(ada: Client) -> None:
    made = factories.snippets()
    page = ada.get(reverse("collections")).content.decode()
    assert reverse("collection", args=[made.pk]) in page


def test_without_any_the_way_in_is_named(ada: Client) -> None:
    assert "manage.py import cosqa" in ada.get(reverse("collections")).content.decode()


def test_members_are_shown_with_source_licence_and_rule(ada: Client) -> None:
    page = ada.get(reverse("collection", args=[factories.snippets().pk]))
    content = page.content.decode()
    assert "snippets-0" in content
    assert "MIT" in content
    testable = page.context["page"].rules[0]
    assert (testable.count, testable.total) == (3, 4)


def test_members_come_in_pages_both_ways(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "PAGE", 2)
    address = reverse("collection", args=[factories.snippets().pk])

    def positions(**cursor: int) -> tuple[list[int], int | None, int | None]:
        page = ada.get(address, cursor).context["page"]
        return [member.position for member in page.members], page.before, page.after

    assert positions() == ([0, 1], None, 1)
    assert positions(after=1) == ([2, 3], 2, None)
    assert positions(before=2) == ([0, 1], None, 1)


def test_a_page_behind_the_last_member_says_so(ada: Client) -> None:
    address = reverse("collection", args=[factories.queries().pk])
    assert "No members here" in ada.get(address, {"after": 99}).content.decode()
    assert ada.get(address, {"after": "x"}).status_code == 200


def test_reads_do_not_grow_with_the_members(
    ada: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for name, many in (("few", 2), ("many", 40)):
        made = factories.snippets([f"def f{n}(x):\n    return x + {n}\n" for n in range(many)], name)
        with django_assert_num_queries(9):
            ada.get(reverse("collection", args=[made.pk]))


def test_uploading_makes_a_job_for_a_worker(ada: Client) -> None:
    answer = ada.post(
        UPLOAD,
        {"name": "dev", "format": "cosqa", "file": a_file(), "codebase": a_file("codes.txt", b"{}")},
        follow=True,
    )
    job = ImportJob.objects.get()
    assert (job.name, job.state, job.created_by) == ("dev", "waiting", factories.ada())
    with job.file.open() as file, job.codebase.open() as codebase:
        assert (file.read(), codebase.read()) == (b"[]", b"{}")
    page = answer.content.decode()
    assert "waits for a worker" in page
    assert 'hx-trigger="every 2s"' in page


def test_python_needs_no_code_base(ada: Client) -> None:
    ada.post(UPLOAD, {"name": "mine", "format": "python", "file": a_file("mine.py", b"x = 1")})
    assert not ImportJob.objects.get().codebase


@pytest.mark.parametrize(
    ("format_", "file"),
    [
        ("python", "thing-1.0.tar.gz"),
        ("documented", "thing.whl"),
        ("codesearchnet", "python_test_0.jsonl.gz"),
        ("staqc", "code.pickle"),
        ("ncs", "questions.json"),
    ],
)
def test_every_format_is_offered_and_takes_its_files(ada: Client, format_: str, file: str) -> None:
    assert f'value="{format_}"' in ada.get(UPLOAD).content.decode()
    for _ in range(2):  # the second one's file gets another name, with the same end
        ada.post(UPLOAD, {"name": "mine", "format": format_, "file": a_file(file, b"x")})
    for job in ImportJob.objects.all():
        assert str(job.file.name).endswith(file.removeprefix("thing-1.0").removeprefix(file.split(".")[0]))


@pytest.mark.parametrize(
    ("form", "file", "said"),
    [
        ({"name": ""}, "mine.py", "This field is required"),
        ({"format": "cosqa"}, "dev.json", "choose its file too"),
        ({"format": "python"}, "mine.exe", "ends in .py, .whl, .zip"),
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
    assert not ImportJob.objects.exists()


def test_a_larger_file_is_told_the_command(ada: Client, settings: Settings) -> None:
    settings.UPLOAD_LIMIT_BYTES = 10
    form = {"name": "big", "format": "python", "file": a_file("big.py", b"x" * 11)}
    page = ada.post(UPLOAD, form).content.decode()
    assert "manage.py import python PATH --name NAME" in page
    assert not ImportJob.objects.exists()


def test_jobs_show_counts_and_problems_and_stop_asking_when_all_are_over(ada: Client) -> None:
    factories.import_job(state="failed", read=5, stored=3, unreadable=2, problems=["record 4: no code"])
    fragment = ada.get(reverse("import-jobs")).content.decode()
    assert "<html" not in fragment
    assert "record 4: no code" in fragment
    assert "hx-trigger" not in fragment
    factories.import_job(state="running")
    assert "hx-trigger" in ada.get(reverse("import-jobs")).content.decode()


@pytest.mark.parametrize("name", ["collections", "upload", "import-jobs"])
def test_only_admins_may(erin: Client, name: str) -> None:
    assert erin.get(reverse(name)).status_code == 403
