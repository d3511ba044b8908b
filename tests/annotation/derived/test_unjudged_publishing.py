"""What filled holes say is published from the page: a small one at once, a large one by a worker."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.derived.publish_job import PublishOrder
from annotation.jobs import subprocesses
from annotation.models import Build, BuildEvent
from annotation.web.derived import unjudged_results as pages
from retrieval.models import Benchmark, Job, Pool, Run
from tests import factories
from tests.annotation.derived.test_unjudged_results import judged, run
from tests.annotation.jobs.test_worker import in_process

__all__ = ["in_process", "run"]  # fixtures
pytestmark = pytest.mark.django_db


def sent(client: Client, build: Build, run: Run) -> str:
    answer = client.post(reverse("benchmark-filled", args=[run.benchmark_id]), {"build": build.pk})
    assert answer.status_code == 302
    return str(answer["Location"])


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three queries of one run are many here."""
    monkeypatch.setattr(pages, "SMALL_SCORED", 2)


def test_a_worker_publishes_a_large_one_and_scores_its_runs(
    ada: Client,
    run: Run,
    large: None,
    in_process: None,
) -> None:
    build = judged(run, 1, 0)
    page = reverse("benchmark-holes", args=[run.benchmark_id])
    for _ in range(2):
        assert sent(ada, build, run) == f"{page}#jobs"
    fragment = reverse("benchmark-holes-jobs", args=[run.benchmark_id])
    text = ada.get(page).content.decode()
    assert f'hx-get="{fragment}"' in text and "Estimate the cost" in text
    assert Benchmark.objects.count() == 1
    assert (
        subprocesses.perform_one_job(Job.Kind.PUBLISH) == 1
        and subprocesses.perform_one_job(Job.Kind.PUBLISH) == 0
    )
    made, job = Benchmark.objects.get(version=2), Job.objects.get()
    assert (job.state, job.done, job.total, job.order["fills"]) == ("done", 3, 3, True)
    assert job.result["benchmark"] == made.pk
    assert made.runs.count() == 1
    assert BuildEvent.objects.get(event="published").user == factories.ada()
    text = ada.get(fragment).content.decode()
    assert f"{reverse('benchmark-compare', args=[made.pk])}?with={run.benchmark_id}" in text
    assert "small, version 2" in text and "hx-get" not in text and "<html" not in text
    assert "with its holes filled" in ada.get(reverse("build-publish-jobs", args=[build.pk])).content.decode()


def test_its_progress_is_told_in_queries(ada: Client, run: Run, large: None) -> None:
    sent(ada, judged(run, 1, 0), run)
    Job.objects.update(state="running", done=2, total=3)
    text = ada.get(reverse("benchmark-holes-jobs", args=[run.benchmark_id])).content.decode()
    assert "2 of 3 queries" in text and "updated every 2 s" in text


def test_what_can_not_be_published_says_why_at_once_or_later(
    ada: Client,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    in_process: None,
) -> None:
    build = judged(run)
    page = reverse("benchmark-holes", args=[run.benchmark_id])
    sent(ada, build, run)
    assert "judged none of the pairs" in ada.get(page).content.decode()
    monkeypatch.setattr(pages, "SMALL_READ", 0)
    sent(ada, build, run)
    assert subprocesses.perform_one_job(Job.Kind.PUBLISH) == 1
    assert [job.state for job in Job.objects.all()] == ["failed"] * 2
    Build.objects.update(state=Build.State.RUNNING)
    sent(ada, build, run)
    assert "is running: publish when it is done" in ada.get(page).content.decode()
    assert Job.objects.count() == 2 and Benchmark.objects.count() == 1


def test_a_build_is_published_as_one_thing_at_a_time(ada: Client, run: Run, large: None) -> None:
    build = judged(run, 1, 0)
    factories.job(PublishOrder(name="small", pool=Pool.COLLECTION), build.pk)
    sent(ada, build, run)
    page = ada.get(reverse("benchmark-holes", args=[run.benchmark_id])).content.decode()
    assert "let that finish first" in page and Job.objects.count() == 1


def test_others_may_not_look_at_orders(erin: Client, run: Run) -> None:
    assert erin.get(reverse("benchmark-holes-jobs", args=[run.benchmark_id])).status_code == 403
