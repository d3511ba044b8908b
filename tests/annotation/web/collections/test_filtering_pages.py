from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.jobs import subprocesses
from annotation.web.collections import filter_page as pages
from retrieval.collections.derivation import SNIPPET_FILTERS
from retrieval.collections.filter_job import FilterOrder, perform_filter_job
from retrieval.models import Collection, Job
from tests import factories
from tests.annotation.jobs.test_worker import in_process  # noqa: F401 -- a fixture

pytestmark = pytest.mark.django_db
TWICE = "def f(values):\n    return sorted(values)\n"


def address(collection: Collection, name: str = "collection-filters") -> str:
    return reverse(name, args=[collection.pk])


def choices(ada: Client, collection: Collection) -> dict[str, pages.FilterChoice]:
    return {choice.name: choice for choice in ada.get(address(collection)).context["choices"]}


def test_every_filter_is_offered_with_counts_and_refused_examples(ada: Client) -> None:
    snippets = factories.snippets()
    found = choices(ada, snippets)
    assert list(found) == list(SNIPPET_FILTERS)
    assert (found["testable"].refused, found["testable"].looked_at) == (1, 4)
    content = ada.get(address(snippets)).content.decode()
    assert "snippets-3: def nothing():" in content
    assert "counted later" in content


def test_licences_are_counted_in_all_snippets(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "SAMPLED", 2)
    snippets = factories.snippets()
    for position, licence in enumerate(["ask us", "MIT License", "Apache 2.0", ""]):
        snippets.members.filter(position=position).update(licence=licence)
    found = choices(ada, snippets)["redistributable"]
    assert (found.refused, found.looked_at) == (2, 4)
    page = ada.get(address(snippets)).content.decode()
    assert "a licence that is known to allow sharing" in page
    assert "ask us snippets-0: def" in page


def test_queries_have_their_own_filters(ada: Client) -> None:
    queries = factories.queries(["sort a list", "os.path.join", "how to sort a list"])
    found = choices(ada, queries)
    assert {name: one.refused for name, one in found.items()} == {
        "english": 0,
        "no_identifier": 1,
        "distinct": 1,
    }


def test_flags_are_counted_for_all_and_parsers_see_a_sample(
    ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "SAMPLED", 2)
    snippets = factories.snippets()
    found = choices(ada, snippets)
    assert (found["testable"].looked_at, found["python"].looked_at) == (4, 2)
    assert "of 2 looked at" in ada.get(address(snippets)).content.decode()


def test_a_collection_is_ordered_and_made_by_a_worker(ada: Client, in_process: None) -> None:  # noqa: F811
    snippets = factories.snippets([*factories.SNIPPETS, TWICE])
    chosen = {"filters": ["testable", "distinct"], "name": "tested"}
    page = ada.post(address(snippets), chosen, follow=True).content.decode()
    assert 'hx-trigger="every 2s"' in page
    assert subprocesses.perform_one_job(Job.Kind.FILTER) == 1
    job = Job.objects.get()
    assert (job.state, job.order["filters"], job.message) == ("done", ["testable", "distinct"], "")
    made = Collection.objects.get(pk=job.result["collection"])
    assert (made.name, made.size) == ("tested", 4)
    fragment = ada.get(address(snippets, "collection-filter-jobs")).content.decode()
    assert address(made, "collection") in fragment
    assert "hx-trigger" not in fragment
    told = ada.get(address(made, "collection")).content.decode()
    assert "Examples of what was refused" in told and "snippets-3: def nothing():" in told


def test_all_is_counted_by_a_worker_where_that_is_ordered(
    ada: Client,
    in_process: None,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pages, "SAMPLED", 2)
    snippets = factories.snippets([*factories.SNIPPETS, TWICE, TWICE.replace("return ", "return  ")])
    assert "Count all" in ada.get(address(snippets)).content.decode()
    for _ in range(2):
        page = ada.post(address(snippets), {"count": "1"}, follow=True).content.decode()
    assert Job.objects.count() == 1
    assert "Counts of every filter" in page and "Count all" not in page
    assert subprocesses.perform_one_job(Job.Kind.FILTER) == 1
    page = ada.get(address(snippets)).content.decode()
    found = choices(ada, snippets)
    assert (found["python"].looked_at, found["distinct"].looked_at) == (6, 6)
    assert found["distinct"].refused == 1
    assert "the counts below" in page and "Count all" not in page and "counted later" not in page
    assert Collection.objects.count() == 1
    Collection.objects.filter(pk=snippets.pk).update(size=7)
    assert "Count all" in ada.get(address(snippets)).content.decode()


def test_queries_are_counted_at_once(ada: Client) -> None:
    queries = factories.queries()
    assert "Count all" not in ada.get(address(queries)).content.decode()
    ada.post(address(queries), {"count": "1"})
    assert not Job.objects.exists()


def test_the_same_order_is_given_once(ada: Client) -> None:
    snippets = factories.snippets()
    for filters in (["testable"], ["testable"], ["python"]):
        answer = ada.post(address(snippets), {"filters": filters, "name": "tested"})
    assert Job.objects.count() == 1
    assert "being made now with other filters" in answer.content.decode()


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"name": "new"}, "Choose at least one filter."),
        ({"filters": ["english"], "name": "new"}, "is not one of the available choices"),
        ({"filters": ["python"], "name": ""}, "This field is required"),
        ({"filters": ["python"], "name": "small"}, "There is an imported collection called"),
    ],
)
def test_what_is_wrong_is_said_and_the_choice_is_kept(
    ada: Client, sent: dict[str, object], said: str
) -> None:
    snippets = factories.snippets()
    sent = {name: snippets.name if value == "small" else value for name, value in sent.items()}
    answer = ada.post(address(snippets), sent)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not Job.objects.exists()
    if sent.get("filters") == ["python"]:
        assert 'value="python" checked' in answer.content.decode()


def test_what_nothing_passes_fails_and_leaves_no_collection(ada: Client) -> None:
    snippets = factories.snippets(["def f():\n    pass\n"])
    ada.post(address(snippets), {"filters": ["testable"], "name": "tested"})
    job = Job.objects.get()
    perform_filter_job(job)
    job.refresh_from_db()
    assert (job.state, job.result) == ("failed", {})
    assert "passes testable" in ada.get(address(snippets)).content.decode()
    assert not Collection.objects.filter(name="tested").exists()


def test_too_many_orders_are_refused(ada: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MOST_WAITING", 1)
    snippets = factories.snippets()
    for name in ("one", "two"):
        answer = ada.post(address(snippets), {"filters": ["testable"], "name": name})
    assert answer.status_code == 422
    assert "1 orders of this collection are waiting" in answer.content.decode()


def test_a_running_order_tells_its_stage_and_rate(ada: Client) -> None:
    snippets = factories.snippets()
    order = FilterOrder(name="tested", filters=("testable",))
    columns = {"state": "running", "done": 2, "total": 4, "message": "read: 9 members a second"}
    factories.job(order, snippets.pk, **columns)
    fragment = ada.get(address(snippets, "collection-filter-jobs")).content.decode()
    assert "read: 9 members a second" in fragment and "2 of 4 members" in fragment


@pytest.mark.parametrize("name", ["collection-filters", "collection-filter-jobs"])
def test_only_admins_may(erin: Client, name: str) -> None:
    assert erin.get(address(factories.snippets(), name)).status_code == 403
