from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.web.collections import page as pages
from retrieval.collections import derivation
from retrieval.models import Collection, Job
from tests import factories

pytestmark = pytest.mark.django_db


def test_collections_are_listed_and_lead_to_their_members(ada: Client) -> None:
    made = factories.snippets()
    page = ada.get(reverse("collections")).content.decode()
    assert reverse("collection", args=[made.pk]) in page


def test_an_import_that_waits_says_for_what(ada: Client) -> None:
    job = factories.import_job(name="up")
    said = "another job is still running"
    assert said in ada.get(reverse("import-jobs")).content.decode()
    Job.objects.filter(pk=job.pk).update(state=Job.State.DONE)
    assert said not in ada.get(reverse("import-jobs")).content.decode()


def test_without_any_the_way_in_is_named(ada: Client) -> None:
    assert "cosqa import cosqa" in ada.get(reverse("collections")).content.decode()


def test_members_are_shown_with_source_licence_and_rule(ada: Client) -> None:
    page = ada.get(reverse("collection", args=[factories.snippets().pk]))
    content = page.content.decode()
    assert "snippets-0" in content
    assert "MIT" in content
    testable = page.context["page"]["rules"][0]
    assert (testable[1], page.context["page"]["surveyed"]) == (3, 4)


def test_a_filtered_collection_says_what_its_filters_refused(ada: Client) -> None:
    made = derivation.derive_collection("tested", factories.snippets(), ["testable"])
    content = ada.get(reverse("collection", args=[made.pk])).content.decode()
    assert "<dt>Refused: testable</dt><dd>1</dd>" in content
    Collection.objects.filter(pk=made.pk).update(size=1)
    assert "completes it" in ada.get(reverse("collection", args=[made.pk])).content.decode()


def test_members_come_in_pages_both_ways(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "PAGE", 2)
    address = reverse("collection", args=[factories.snippets().pk])

    def positions(**cursor: int) -> tuple[list[int], int | None, int | None]:
        page = ada.get(address, cursor).context["page"]
        return [member.position for member in page["members"]], page["before"], page["after"]

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
        with django_assert_num_queries(8):
            ada.get(reverse("collection", args=[made.pk]))


def test_jobs_show_counts_and_problems_and_stop_asking_when_all_are_over(ada: Client) -> None:
    result = {"read": 5, "stored": 3, "unreadable": 2, "problems": ["record 4: no code"]}
    factories.import_job(state="failed", result=result)
    fragment = ada.get(reverse("import-jobs")).content.decode()
    assert "<html" not in fragment
    assert "record 4: no code" in fragment
    assert "5 read" in fragment and "3 stored" in fragment and "2 unreadable" in fragment
    assert "hx-trigger" not in fragment
    factories.import_job(state="running")
    assert "hx-trigger" in ada.get(reverse("import-jobs")).content.decode()


def test_a_running_job_shows_what_share_of_its_bytes_is_read_where_that_is_known(ada: Client) -> None:
    job = factories.import_job(state="running", done=45, total=100)
    text = ada.get(reverse("import-jobs")).content.decode()
    assert '45 % read</div><progress class="meter" aria-label="small" max="100" value="45">' in text
    for changed in ({"done": 0, "total": 0}, {"done": 45, "total": 100, "state": "done"}):
        type(job).objects.filter(pk=job.pk).update(**changed)
        assert "% read" not in ada.get(reverse("import-jobs")).content.decode()


@pytest.mark.parametrize("name", ["collections", "import-jobs"])
def test_only_admins_may(erin: Client, name: str) -> None:
    assert erin.get(reverse(name)).status_code == 403


def refused_of(unreadable: int, kept: int) -> dict[str, object]:
    """The result of an import of which so many records were refused, and so many of these are told."""
    problems = ["small.json, record 1: no"] * kept
    return {"read": 200, "stored": 0, "unreadable": unreadable, "problems": problems}


def test_a_job_says_of_how_many_refused_records_its_problems_are_the_first(ada: Client) -> None:
    factories.import_job(state="done", result=refused_of(130, 100))
    factories.import_job(state="done", result=refused_of(1, 1))
    text = ada.get(reverse("collections")).content.decode()
    assert "the first 100 of 130 refused records" in text and ">1 refused record<" in text


def test_a_failed_import_leads_back_to_the_form_filled_in(ada: Client) -> None:
    factories.import_job(state="failed", format="beir", name="my & own")
    page = ada.get(reverse("collections")).content.decode()
    address = "/collections/upload/?format=beir&amp;name=my+%26+own"
    assert f'href="{address}"' in page
    form = ada.get(address.replace("&amp;", "&")).context["form"]
    assert form.initial == {"name": "my & own", "format": "beir"}


def test_a_table_leads_to_its_columns(ada: Client) -> None:
    job = factories.import_job(state="columns", format="table")
    for page in ("collections", "dashboard"):
        assert reverse("upload-columns", args=[job.pk]) in ada.get(reverse(page)).content.decode()
