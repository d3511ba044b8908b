"""A pin computed again from its page: ordered once, done by a worker, reported where the pin is shown."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.jobs import subprocesses, worker
from annotation.pins import pin_leaderboard, pin_two_builds
from annotation.web.pins import reproduction
from retrieval.models import Benchmark, Job, Pin, RankedList
from tests import factories
from tests.annotation.jobs.test_worker import in_process
from tests.annotation.pins.test_two_builds import builds
from tests.annotation.web.benchmarks.test_views import benchmark_, scored

pytestmark = pytest.mark.django_db
__all__ = ["benchmark_", "builds", "in_process", "scored"]


@pytest.fixture
def pin(scored: Benchmark) -> Pin:
    return pin_leaderboard(scored)


def ordered(client: Client, pin: Pin, start: str = "lists") -> str:
    return client.post(reverse("pin-again", args=[pin.pk]), {"start": start}, follow=True).content.decode()


def fragment(client: Client, pin: Pin) -> str:
    return client.get(reverse("pin-again-jobs", args=[pin.pk])).content.decode()


def test_what_comes_out_equal_is_told_and_asked_for_until_then(
    erin: Client, pin: Pin, in_process: None
) -> None:
    page = ordered(erin, pin)
    assert 'hx-trigger="every 2s"' in page
    assert "This is already under way." in ordered(erin, pin)
    assert subprocesses.perform_one_job(Job.Kind.REPRODUCE) == 1
    job = Job.objects.get()
    assert (job.state, job.created_by) == ("done", factories.erin())
    assert job.result["equal"] and job.done
    told = fragment(erin, pin)
    assert "<strong>equal</strong>" in told and "hx-trigger" not in told and "<html" not in told
    assert subprocesses.perform_one_job(Job.Kind.REPRODUCE) == 0


def test_what_differs_is_listed(erin: Client, pin: Pin, scored: Benchmark, in_process: None) -> None:
    RankedList.objects.filter(run__benchmark=scored, run__pool=scored.pool).delete()
    ordered(erin, pin)
    subprocesses.perform_one_job(Job.Kind.REPRODUCE)
    report = Job.objects.get().result
    assert not report["equal"] and report["differ"] >= len(report["changes"]) > 0
    told = fragment(erin, pin)
    assert "differ" in told and report["changes"][0][0].split("/")[0] in told


def test_runs_are_searched_again_where_that_is_ordered(erin: Client, pin: Pin, in_process: None) -> None:
    ordered(erin, pin, "vectors")
    subprocesses.perform_one_job(Job.Kind.REPRODUCE)
    assert "not searched again" in fragment(erin, pin)


def test_only_what_a_kind_allows_is_ordered(erin: Client, builds: tuple[object, object]) -> None:
    pin = pin_two_builds(*builds)  # type: ignore[arg-type]
    page = erin.get(reverse("pin", args=[pin.pk])).content.decode()
    assert 'value="lists"' in page and 'value="vectors"' not in page
    assert "computed from that" in ordered(erin, pin, "vectors")
    assert "computed from that" in ordered(erin, pin, "nowhere")
    assert not Job.objects.exists()


def test_readers_read_the_report_and_order_none(ray: Client, pin: Pin) -> None:
    assert "Compute it again here" not in ray.get(reverse("pin", args=[pin.pk])).content.decode()
    assert ray.post(reverse("pin-again", args=[pin.pk]), {"start": "lists"}).status_code == 403
    assert ray.get(reverse("pin-again-jobs", args=[pin.pk])).status_code == 200


def test_orders_are_bounded_and_keep_a_worker_at_it(
    erin: Client, pin: Pin, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not worker.has_queued_work()
    ordered(erin, pin)
    assert worker.has_queued_work()
    monkeypatch.setattr(reproduction, "MOST_WAITING", 1)
    assert "let some finish first" in ordered(erin, pin, "vectors")
