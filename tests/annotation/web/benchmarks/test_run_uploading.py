"""Uploading ranked lists on a benchmark's page: scored and kept, or refused with what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone

from annotation.builds.pipeline import claims
from annotation.jobs import subprocesses, worker
from annotation.web.benchmarks import run_upload as pages
from retrieval.evaluation.leaderboard import RANGES
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.evaluation.runs.jobs import RunOrder
from retrieval.evaluation.runs.system_run import DEFAULT_MEASURES
from retrieval.models import Annotator, Benchmark, Job, KeptFigures, Label, Pair, Run
from tests import factories, studies
from tests.annotation.builds.pipeline.test_advance import Make
from tests.annotation.jobs.test_worker import in_process  # noqa: F401  (a fixture)

pytestmark = pytest.mark.django_db
GOOD = "queries-0 Q0 snippets-0 1 2 x\nqueries-1 Q0 elsewhere 1 1 x\nnobody Q0 snippets-1 1 1 x\n"


@pytest.fixture(autouse=True)
def uploads(tmp_path: Path, settings: LazySettings) -> Iterator[Path]:
    """The folder of uploaded files."""
    folder = tmp_path / "uploads"
    storage = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": folder}}
    with override_settings(STORAGES={**settings.STORAGES, "default": storage}):
        yield folder


def kept(uploads: Path) -> list[Path]:
    return [path for path in uploads.rglob("*") if path.is_file()]


@pytest.fixture
def benchmark_() -> Benchmark:
    queries, snippets = factories.queries(), factories.snippets()
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {})
    for place in (0, 1):
        ids = (queries.members.get(position=place).text_id, snippets.members.get(position=place).text_id)
        Label.objects.create(pair=Pair.objects.keep_all([ids])[0], annotator=by, value=1)
    return publish_benchmark(Order("small", queries, snippets, "by hand"), Label.objects.all())


def sent(
    client: Client, benchmark: Benchmark, text: str, name: str = "a.run", **more: str
) -> tuple[int, str]:
    form = {"system": "mine", "pool": "collection", **more}
    form["file"] = SimpleUploadedFile(name, text.encode())  # type: ignore[assignment]
    answer = client.post(reverse("benchmark-upload", args=[benchmark.pk]), form, follow=True)
    return answer.status_code, answer.content.decode()


def test_a_run_is_scored_and_stands_in_the_leaderboard(ada: Client, benchmark_: Benchmark) -> None:
    status, text = sent(ada, benchmark_, GOOD, text_option="whole")
    run = Run.objects.get()
    assert status == 200
    assert (run.system, run.source, run.text_option) == ("mine", "a.run", "whole")
    assert "mine is scored on 2 queries, 0 without results" in text
    assert "1 query (in 1 row; the first is &#x27;nobody&#x27; in line 3)" in text
    assert "0.500" in text


def test_codesearchnets_csv_is_read_too(ada: Client, benchmark_: Benchmark) -> None:
    sent(ada, benchmark_, "language,query,url\npython,queries-0,snippets-0\n", "a.csv")
    assert Run.objects.get().scores.count() == len(DEFAULT_MEASURES.split(","))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a.run: is empty"),
        ("what is this\n", "a.run, line 1"),
        (GOOD + GOOD, "line 4"),
        ("nobody Q0 snippets-0 1 1 x\n", "No query of a.run is one of small@1"),
        ("queries-0 Q0 <script> 1 1 x\n", "No function of a.run is one of small@1"),
    ],
)
def test_what_can_not_be_scored_is_refused_with_the_reason(
    ada: Client, benchmark_: Benchmark, uploads: Path, text: str, said: str
) -> None:
    status, page = sent(ada, benchmark_, text)
    assert status == 422
    assert said in page
    assert "<script> 1" not in page
    assert not Run.objects.exists() and not Job.objects.exists() and kept(uploads) == []


def test_a_file_that_is_too_large_is_named_the_command(
    ada: Client, benchmark_: Benchmark, settings: LazySettings
) -> None:
    settings.UPLOAD_LIMIT_BYTES = 10
    status, page = sent(ada, benchmark_, GOOD)
    assert status == 422
    assert "cosqa evaluate BENCHMARK --run" in page


def test_names_of_files_lead_nowhere(ada: Client, benchmark_: Benchmark, tmp_path: Path) -> None:
    sent(ada, benchmark_, GOOD, "../../x.run")
    assert Run.objects.get().source == "x.run"


def test_readers_do_not_upload(ray: Client, benchmark_: Benchmark) -> None:
    assert ray.get(reverse("benchmark-upload", args=[benchmark_.pk])).status_code == 403
    assert "Upload a run" not in ray.get(reverse("benchmark", args=[benchmark_.pk])).content.decode()
    assert ray.get(reverse("benchmark-upload-jobs", args=[benchmark_.pk])).status_code == 403


def test_a_small_file_is_scored_at_once_and_listed(ada: Client, benchmark_: Benchmark, uploads: Path) -> None:
    for _ in range(2):
        sent(ada, benchmark_, GOOD, "ä" * 190 + ".run")
    first, second = Job.objects.all()
    assert first.result["run"] == second.result["run"] == Run.objects.get().pk
    assert (first.state, first.done, first.total, first.lease_until) == ("done", 3, 3, None)
    assert kept(uploads) == []
    page = ada.get(reverse("benchmark-upload", args=[benchmark_.pk])).content.decode()
    assert f"run {first.result['run']}" in page and "hx-get" not in page.split("<main")[1]


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any file is a large one."""
    monkeypatch.setattr(pages, "SMALL_BYTES", 0)


@pytest.fixture
def waiting(ada: Client, benchmark_: Benchmark, large: None) -> Job:
    sent(ada, benchmark_, GOOD)
    return Job.objects.get()


def fragment(benchmark: Benchmark) -> str:
    return reverse("benchmark-upload-jobs", args=[benchmark.pk])


def test_a_worker_scores_a_large_file_and_the_page_leads_to_the_leaderboard(
    ada: Client,
    benchmark_: Benchmark,
    large: None,
    uploads: Path,
    in_process: None,  # noqa: F811
) -> None:
    status, text = sent(ada, benchmark_, GOOD, "my <i>.run")
    assert status == 200 and f'hx-get="{fragment(benchmark_)}"' in text
    assert "my &lt;i&gt;.run" in text and "Upload and score" in text
    assert len(kept(uploads)) == 1 and not Run.objects.exists() and worker.has_queued_work()
    assert [subprocesses.perform_one_job(Job.Kind.RUN) for _ in range(2)] == [1, 0]
    run, job = Run.objects.get(), Job.objects.get()
    assert (run.system, run.source) == ("mine", "my <i>.run")
    assert (job.state, job.result["run"], job.done, job.total, job.lease_until) == (
        "done",
        run.pk,
        3,
        3,
        None,
    )
    assert kept(uploads) == [] and not job.files and not worker.has_queued_work()
    assert KeptFigures.objects.count() == len(RANGES), "the board of each number of matches"
    text = ada.get(fragment(benchmark_)).content.decode()
    assert f"{reverse('benchmark', args=[benchmark_.pk])}?pool=collection" in text
    assert "mine is scored on 2 queries" in text and "left out, as unknown to" in text
    assert "hx-get" not in text and "<html" not in text


def test_a_second_one_that_waits_comes_before_the_rest_of_the_board(
    ada: Client,
    benchmark_: Benchmark,
    waiting: Job,
    in_process: None,  # noqa: F811
) -> None:
    sent(ada, benchmark_, GOOD, system="other")
    assert subprocesses.perform_one_job(Job.Kind.RUN) == 1 and KeptFigures.objects.count() == 1
    assert subprocesses.perform_one_job(Job.Kind.RUN) == 1 and KeptFigures.objects.count() > len(RANGES)


def test_a_large_file_that_is_refused_says_line_and_reason_and_is_gone(
    ada: Client,
    benchmark_: Benchmark,
    large: None,
    uploads: Path,
    in_process: None,  # noqa: F811
) -> None:
    sent(ada, benchmark_, GOOD + "queries-0 Q0 snippets-0 1\n", "bad.run")
    assert subprocesses.perform_one_job(Job.Kind.RUN) == 1
    job = Job.objects.get()
    assert job.state == "failed" and job.message.startswith("bad.run, line 4: expected 6 columns (query Q0")
    assert not Run.objects.exists() and kept(uploads) == []
    text = ada.get(fragment(benchmark_)).content.decode()
    assert "bad.run, line 4" in text and "upload the file again" in text and str(uploads) not in text


def test_a_second_click_finds_the_first_order_and_another_file_is_another_one(
    ada: Client, benchmark_: Benchmark, waiting: Job, uploads: Path
) -> None:
    sent(ada, benchmark_, GOOD)
    Job.objects.update(state="running")
    sent(ada, benchmark_, GOOD)
    assert Job.objects.get() == waiting and len(kept(uploads)) == 1
    sent(ada, benchmark_, GOOD, system="other")
    sent(ada, benchmark_, GOOD + "queries-1 Q0 snippets-1 2 0 x\n")
    assert Job.objects.count() == 3 == len(kept(uploads))


def test_of_two_clicks_at_one_moment_one_file_is_kept(
    benchmark_: Benchmark, waiting: Job, uploads: Path
) -> None:
    file, order = SimpleUploadedFile("a.run", GOOD.encode()), RunOrder.of(waiting)
    assert pages.store_run_job(order, benchmark_, file, factories.ada(), small=True) == (waiting, False)
    assert len(kept(uploads)) == 1
    with pytest.raises(IntegrityError), transaction.atomic():
        factories.job(order, benchmark_.pk)


def test_how_far_it_is_is_shown(ada: Client, benchmark_: Benchmark, waiting: Job) -> None:
    Job.objects.update(state="running", done=1, total=3)
    text = ada.get(fragment(benchmark_)).content.decode()
    assert "1 of 3 queries" in text and "updated every 2 s" in text


def test_many_that_wait_are_enough(ada: Client, benchmark_: Benchmark, waiting: Job) -> None:
    for number in range(pages.MOST_WAITING):
        status, text = sent(ada, benchmark_, GOOD, system=f"system {number}")
    assert status == 422 and "let them finish first" in text
    assert Job.objects.count() == pages.MOST_WAITING


@pytest.mark.parametrize(("ended", "state"), [(-15, "waiting"), (-9, "failed"), (1, "failed")])
def test_a_child_that_dies_fails_its_job_and_one_that_is_stopped_leaves_it(
    waiting: Job, uploads: Path, monkeypatch: pytest.MonkeyPatch, ended: int, state: str
) -> None:
    def child(command: list[str], still_wanted: Callable[[], bool]) -> int:
        assert still_wanted()
        return ended

    monkeypatch.setattr(subprocesses, "run_child_command", child)
    assert subprocesses.perform_one_job(Job.Kind.RUN) == 1
    waiting.refresh_from_db()
    assert (waiting.state, "upload again" in waiting.message) == (state, state == "failed")
    assert len(kept(uploads)) == (state == "waiting")


def test_a_job_that_a_dead_worker_left_is_taken_up_again(waiting: Job, in_process: None) -> None:  # noqa: F811
    Job.objects.update(state="running", lease_until=timezone.now() + timedelta(minutes=1))
    assert subprocesses.perform_one_job(Job.Kind.RUN) == 0
    claims.free_all()
    assert subprocesses.perform_one_job(Job.Kind.RUN) == 1
    waiting.refresh_from_db()
    assert waiting.state == "done" and Run.objects.count() == 1


def test_workers_for_files_take_it_up(waiting: Job, tools_with: Make, in_process: None) -> None:  # noqa: F811
    tools, _ = tools_with()
    assert worker.drain_queue("files", tools) == 1
    waiting.refresh_from_db()
    assert waiting.state == "done" and worker.drain_queue("files", tools) == 0


def test_a_file_that_is_gone_is_told(waiting: Job, uploads: Path, in_process: None) -> None:  # noqa: F811
    for path in kept(uploads):
        path.unlink()
    assert subprocesses.perform_one_job(Job.Kind.RUN) == 1
    waiting.refresh_from_db()
    assert waiting.state == "failed" and waiting.message.startswith("a.run: cannot be read: No such file")


def test_it_is_closed_to_an_admin_who_rates_blind(ada: Client, benchmark_: Benchmark, waiting: Job) -> None:
    studies.rater("ada", studies.study(pairs=list(Pair.objects.all()[:1])))
    assert ada.get(fragment(benchmark_)).status_code == 403


def test_a_job_that_is_not_there() -> None:
    with pytest.raises(CommandError, match="no job 9"):
        call_command("job", "9")
