"""A benchmark is compared with training data from its page: ordered, done by a worker, shown with texts."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.jobs import subprocesses
from retrieval.models import Benchmark, Job
from tests import factories
from tests.annotation.jobs.test_worker import in_process  # noqa: F401  (a fixture)
from tests.annotation.web.benchmarks.test_scoring_pages import benchmark_  # noqa: F401  (a fixture)

pytestmark = pytest.mark.django_db


def page(client: Client, benchmark: Benchmark, **asked: str) -> str:
    return client.get(reverse("benchmark-contamination", args=[benchmark.pk]), asked).content.decode()


def test_texts_that_are_in_both_are_shown_with_counts_and_files(
    ada: Client,
    benchmark_: Benchmark,  # noqa: F811
    in_process: None,  # noqa: F811
) -> None:
    hostile = factories.SNIPPETS[0]
    learned = factories.snippets(
        [hostile, "def f():\n    return '<script>alert(1)</script>'\n"], name="<b>train</b>"
    )
    assert "Texts that are in both" not in page(ada, benchmark_)
    where = reverse("benchmark-contamination", args=[benchmark_.pk])
    sent = ada.post(where, {"collection": learned.pk}, follow=True)
    assert sent.status_code == 200 and 'hx-get="' in sent.content.decode()
    assert subprocesses.perform_one_job(Job.Kind.LEAKS) == 1
    job = Job.objects.get()
    assert (job.state, job.result["counts"]["functions"]) == (
        "done",
        {"texts": 2, "same": 1, "near": 0, "share": 0.5},
    )
    text = page(ada, benchmark_)
    assert "Texts that are in both" in text and "function, same text" in text
    assert "&lt;b&gt;train&lt;/b&gt;" in text and "<b>train" not in text
    assert "Of 2 matches 1 have their function there, 0 their query, too." in text
    rows = ada.get(where, {"job": str(job.pk), "table": "texts", "format": "csv"}).content.decode()
    assert "same text" in rows and "small-0" not in rows.splitlines()[0]
    fragment = ada.get(reverse("benchmark-contamination-jobs", args=[benchmark_.pk])).content.decode()
    assert f"?job={job.pk}#h-shared" in fragment


def test_nothing_is_ordered_without_a_collection_or_by_who_may_not(
    ada: Client,
    erin: Client,
    benchmark_: Benchmark,  # noqa: F811
) -> None:
    where = reverse("benchmark-contamination", args=[benchmark_.pk])
    assert ada.post(where, {"collection": "9999999"}).status_code == 422
    assert ada.post(where, {}).status_code == 422
    assert erin.post(where, {"collection": "1"}).status_code == 403
    assert erin.get(where).status_code == 403
    assert not Job.objects.exists()
