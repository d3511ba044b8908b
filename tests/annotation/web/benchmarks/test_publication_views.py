"""The page on which an admin has a build's pairs published as a benchmark, and the job that does it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.builds.pipeline import claims
from annotation.builds.results import publication
from annotation.builds.results.publication import Wish
from annotation.derived import round_merge
from annotation.derived.publish_job import PublishOrder, benchmark_published_by
from annotation.jobs import subprocesses, worker
from annotation.models import Build, BuildEvent
from annotation.web.benchmarks import publication as pages
from retrieval.filters import NO_RULE
from retrieval.jobs import LEASE
from retrieval.models import Annotator, Benchmark, Job, Label, Mining
from tests import factories, filling, studies
from tests.annotation.jobs.test_worker import in_process  # noqa: F401  (a fixture)

pytestmark = pytest.mark.django_db
ORDER = {"name": "plus", "pool": "candidates"}


@pytest.fixture
def build() -> Build:
    return factories.said(factories.opened("first <i>"), (1, 0, None, 1, 0, 0, 1, 1, 0))


@pytest.fixture(autouse=True)
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine pairs are many here."""
    monkeypatch.setattr(pages, "SMALL", 8)


def address(build: Build) -> str:
    return reverse("build-publish", args=[build.pk])


def fragment(build: Build) -> str:
    return reverse("build-publish-jobs", args=[build.pk])


def ordered(build: Build, **columns: object) -> Job:
    known = {name: columns.pop(name) for name in PublishOrder.model_fields if name in columns}
    return factories.job(PublishOrder.model_validate({**ORDER, **known}), build.pk, **columns)


def test_it_counts_labels_by_source_before_anything_is_published(ada: Client, build: Build) -> None:
    text = ada.get(address(build) + "?counted").content.decode()
    assert "first &lt;i&gt;" in text and "agents" in text and "unjudged" in text
    assert 'hx-trigger="load"' not in text
    assert not Benchmark.objects.exists()


def test_it_says_what_to_do_about_queries_without_a_match(ada: Client) -> None:
    build = filling.source(matched=1)
    text = ada.get(address(build) + "?counted").content.decode()
    assert "2 queries have no match among the functions found:" in text
    assert (
        reverse("build-extend", args=[build.pk]) in text and reverse("build-missing", args=[build.pk]) in text
    )
    assert (
        "no match among"
        not in ada.get(address(filling.source("all", matched=3)) + "?counted").content.decode()
    )
    page = ada.get(reverse("build", args=[build.pk])).content.decode()
    assert "may have one further down" in page


def test_it_warns_of_functions_that_no_mining_could_propose(ada: Client, build: Build) -> None:
    warning = "No mining could propose 1 function of the collection"
    assert warning in ada.get(address(build) + "?counted").content.decode()
    Mining.objects.update(rule=int(NO_RULE))
    cache.clear()
    assert "No mining could propose" not in ada.get(address(build) + "?counted").content.decode()


def test_many_pairs_are_counted_once_the_page_is_there_and_few_at_once(
    ada: Client, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    def counts(wish: Wish) -> None:
        pytest.fail("who only opens the page waits for no count")

    with monkeypatch.context() as patched:
        patched.setattr(pages, "preview_publication", counts)
        text = ada.get(address(build)).content.decode()
    assert 'hx-get="?counted" hx-trigger="load" hx-select="#outlook"' in text
    assert 'href="?counted"' in text and 'name="pool"' in text
    monkeypatch.setattr(pages, "SMALL", 9)
    assert "hx-get" not in (text := ada.get(address(build)).content.decode()) and "unjudged" in text


def test_what_was_counted_is_kept_until_something_is_said_or_merged(
    ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = factories.said(factories.opened("twice", rounds=2), (1, 0, 0), (1, 1, 0))
    counted: list[Wish] = []

    def count(wish: Wish) -> publication.PublicationOutlook:
        counted.append(wish)
        return publication.preview_publication(wish)

    monkeypatch.setattr(pages, "preview_publication", count)

    def pairs_shown() -> tuple[int, int]:
        outlook = ada.get(address(build) + "?counted").context["page"]["outlook"]
        return len(counted), outlook.judged

    for number, rule in enumerate((round_merge.Rule.ANY_MATCH, round_merge.Rule.UNANIMOUS), 1):
        round_merge.request_round_merge(build, rule)
        round_merge.advance_waiting_merges()
        assert pairs_shown() == pairs_shown() == (number, 3 if rule is round_merge.Rule.ANY_MATCH else 2)
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "a file", {})
    Label.objects.create(pair=factories.cases(build)[2].pair, annotator=by, value=1)
    assert pairs_shown() == (3, 3)
    round_merge.request_round_merge(build, round_merge.Rule.ANY_MATCH)
    round_merge.advance_waiting_merges()
    assert pairs_shown() == (4, 3), "the same labels as before, though no new one was needed"


def test_the_build_leads_to_it_once_it_is_over(ada: Client, build: Build) -> None:
    assert address(build) in ada.get(reverse("build", args=[build.pk])).content.decode()
    running = factories.opened("second")
    assert address(running) not in ada.get(reverse("build", args=[running.pk])).content.decode()
    assert "it is published once it is over" in ada.get(address(running)).content.decode()


def test_a_build_in_rounds_leads_to_their_merge_before_it_is_published(ada: Client, build: Build) -> None:
    Build.objects.filter(pk=build.pk).update(rounds=2)
    refused = ada.get(address(build)).content.decode()

    assert reverse("build-merge", args=[build.pk]) in refused
    running = factories.opened("second")
    assert reverse("build-merge", args=[running.pk]) not in ada.get(address(running)).content.decode()


def test_a_worker_publishes_and_the_page_leads_to_the_benchmark(
    ada: Client,
    build: Build,
    in_process: None,  # noqa: F811
) -> None:
    answer = ada.post(address(build), ORDER, follow=True)
    assert answer.redirect_chain == [(address(build), 302)]
    text = answer.content.decode()
    assert f'hx-get="{fragment(build)}"' in text and "<form method" not in text.split("<main")[1]
    assert not Benchmark.objects.exists() and worker.has_queued_work()
    assert (
        subprocesses.perform_one_job(Job.Kind.PUBLISH) == 1
        and subprocesses.perform_one_job(Job.Kind.PUBLISH) == 0
    )
    made, job = Benchmark.objects.get(), Job.objects.get()
    assert (made.name, made.pool, made.size) == ("plus", "candidates", 8)
    assert (job.state, job.done, job.total, job.lease_until) == ("done", 9, 9, None)
    assert benchmark_published_by(job) == made
    assert BuildEvent.objects.get(event="published").user == factories.ada()
    text = ada.get(fragment(build)).content.decode()
    assert reverse("benchmark", args=[made.pk]) in text and "plus, version 1" in text
    assert "hx-get" not in text and "<html" not in text and "Publish this build again" in text
    assert "What will be published" in ada.get(address(build)).content.decode()


def test_few_pairs_are_published_at_once(ada: Client, build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "SMALL", 9)
    answer = ada.post(address(build), ORDER, follow=True)
    made, job = Benchmark.objects.get(), Job.objects.get()
    assert answer.redirect_chain == [(reverse("benchmark", args=[made.pk]), 302)]
    assert "Published as plus@1" in answer.content.decode()
    assert (job.state, benchmark_published_by(job), job.lease_until) == ("done", made, None)
    Build.objects.filter(pk=build.pk).update(state=Build.State.RUNNING)
    answer = ada.post(address(build), ORDER, follow=True)
    assert answer.redirect_chain == [(address(build), 302)]
    assert "it is published once it is over" in Job.objects.first().message  # type: ignore[union-attr]


def test_few_pairs_wait_where_another_browser_is_at_them(
    ada: Client, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "SMALL", 9)
    ordered(build, state="running", lease_until=timezone.now() + LEASE)
    assert ada.post(address(build), ORDER)["Location"] == address(build)
    assert not Benchmark.objects.exists() and subprocesses.perform_one_job(Job.Kind.PUBLISH) == 0


def test_a_second_click_lands_on_the_same_job(ada: Client, build: Build) -> None:
    for _ in range(2):
        assert ada.post(address(build), ORDER).status_code == 302
    assert Job.objects.count() == 1
    Job.objects.update(state="running")
    assert ada.post(address(build), ORDER).status_code == 302
    answer = ada.post(address(build), {**ORDER, "name": "<other>"})
    assert answer.status_code == 422 and "let that finish first" in answer.content.decode()
    assert Job.objects.count() == 1


def test_the_database_has_one_open_job_a_build(build: Build) -> None:
    ordered(build, state="running")
    ordered(build, state="done")
    with pytest.raises(IntegrityError), transaction.atomic():
        ordered(build, name="other")


def test_publishing_the_same_again_gives_the_same_version(
    ada: Client,
    build: Build,
    in_process: None,  # noqa: F811
) -> None:
    for _ in range(2):
        ada.post(address(build), ORDER)
        assert subprocesses.perform_one_job(Job.Kind.PUBLISH) == 1
    assert Benchmark.objects.count() == 1
    made = {(job.state, job.result["benchmark"]) for job in Job.objects.all()}
    assert made == {("done", Benchmark.objects.get().pk)}


def test_its_progress_is_shown(ada: Client, build: Build) -> None:
    ordered(build, name="plus <i>", state="running", done=3, total=9)
    text = ada.get(fragment(build)).content.decode()
    assert "3 of 9 pairs" in text and "plus &lt;i&gt;" in text and "updated every 2 s" in text


def test_before_the_first_pair_it_is_at_reading(ada: Client, build: Build) -> None:
    ordered(build, state="running", done=0, total=9)
    text = ada.get(fragment(build)).content.decode()
    assert "reading …" in text and 'max="9">' in text and "0 of 9" not in text


def test_progress_counts_every_pair_judged_or_not(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publication, "ROWS_A_READ", 4)
    seen: list[int] = []
    made = publication.publish_benchmark(Wish("plus", build.mining, build), tick=seen.append)
    assert seen == [4, 4, 1] and made.size == 8


def test_what_can_not_be_published_says_why(ada: Client, in_process: None) -> None:  # noqa: F811
    nothing = factories.said(factories.opened("empty"), [None] * 9)
    ada.post(address(nothing), ORDER)
    assert subprocesses.perform_one_job(Job.Kind.PUBLISH) == 1
    job = Job.objects.get()
    assert job.state == "failed" and "there is nothing to publish" in job.message
    assert not Benchmark.objects.exists()
    text = ada.get(address(nothing)).content.decode()
    assert "there is nothing to publish" in text and "<form method" in text.split("<main")[1]


@pytest.mark.parametrize(("ended", "state"), [(-15, "waiting"), (-9, "failed"), (1, "failed")])
def test_a_child_that_dies_fails_its_job_and_one_that_is_stopped_leaves_it(
    build: Build, monkeypatch: pytest.MonkeyPatch, ended: int, state: str
) -> None:
    def child(command: list[str], still_wanted: Callable[[], bool]) -> int:
        assert still_wanted()
        return ended

    monkeypatch.setattr(subprocesses, "run_child_command", child)
    job = ordered(build)
    assert subprocesses.perform_one_job(Job.Kind.PUBLISH) == 1
    job.refresh_from_db()
    assert (job.state, "publish again" in job.message) == (state, state == "failed")


def test_a_job_that_a_dead_worker_left_is_taken_up_again(build: Build, in_process: None) -> None:  # noqa: F811
    job = ordered(build, state="running", lease_until=timezone.now() + timedelta(minutes=1))
    assert subprocesses.perform_one_job(Job.Kind.PUBLISH) == 0
    claims.free_all()
    assert subprocesses.perform_one_job(Job.Kind.PUBLISH) == 1
    job.refresh_from_db()
    assert job.state == "done"


def test_what_is_missing_is_told(ada: Client, build: Build) -> None:
    answer = ada.post(address(build), {"name": " ", "pool": "elsewhere"})
    assert answer.status_code == 422 and not Job.objects.exists()


def test_others_may_not(erin: Client, build: Build) -> None:
    assert erin.get(address(build)).status_code == 403
    assert erin.get(fragment(build)).status_code == 403


def test_it_is_closed_to_an_admin_who_rates_blind(ada: Client, build: Build) -> None:
    ordered(build, state="failed")
    studies.rater("ada", studies.study(pairs=[factories.cases(build)[0].pair]))
    assert ada.get(address(build)).status_code == ada.get(fragment(build)).status_code == 403


def test_a_job_that_is_not_there() -> None:
    with pytest.raises(CommandError, match="no job 9"):
        call_command("job", "9")
