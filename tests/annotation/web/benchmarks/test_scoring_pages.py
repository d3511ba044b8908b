"""Having an encoder score a benchmark from its page: ordered, done by a worker, cancelled, refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.jobs import subprocesses, worker
from annotation.web.benchmarks import score_jobs as pages
from retrieval import mining
from retrieval.evaluation import leaderboard as boards
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.evaluation.robustness import label_noise
from retrieval.evaluation.runs.score_jobs import ScoreOrder, What
from retrieval.mining import known_encoders
from retrieval.models import Annotator, Benchmark, Job, KeptFigures, Label, Pair, Pool, Run
from tests import factories
from tests.annotation.builds.pipeline.test_advance import Make
from tests.annotation.jobs.test_worker import in_process  # noqa: F401  (a fixture)
from tests.retrieval.encoders.rerankers.conftest import cross_encoder  # noqa: F401  (a fixture)

pytestmark = pytest.mark.django_db


@pytest.fixture
def benchmark_() -> Benchmark:
    queries, snippets = factories.queries(), factories.snippets()
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {})
    for place in (0, 1):
        ids = (queries.members.get(position=place).text_id, snippets.members.get(position=place).text_id)
        Label.objects.create(pair=Pair.objects.keep_all([ids])[0], annotator=by, value=1)
    return publish_benchmark(Order("small", queries, snippets, "by hand"), Label.objects.all())


@pytest.fixture
def mined(tmp_path: Path) -> Benchmark:
    """Its candidates were mined by two encoders."""
    queries, snippets = factories.queries(), factories.snippets()
    of = factories.mining(queries, snippets, encoders=["bm25", "bow"], k=2)
    mining.perform_mining(of, tmp_path)
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {})
    for candidate in of.candidates.all():
        Label.objects.create(pair=candidate.pair, annotator=by, value=1)
    return publish_benchmark(Order("mined", queries, snippets, "by hand", of), Label.objects.all())


def sent(client: Client, benchmark: Benchmark, *names: str, **more: str) -> tuple[int, str]:
    form = {"encoders": list(names), "text_option": "whole", "pool": "collection", **more}
    answer = client.post(reverse("benchmark-score", args=[benchmark.pk]), form, follow=True)
    return answer.status_code, answer.content.decode()


def of_system(name: str) -> ScoreOrder:
    return ScoreOrder(what=What.SYSTEM, system=name, text_option="whole", pool=Pool.COLLECTION)


def fragment(client: Client, benchmark: Benchmark) -> str:
    return client.get(reverse("benchmark-score-jobs", args=[benchmark.pk])).content.decode()


def computed(client: Client, benchmark: Benchmark, what: str, **more: str) -> str:
    form = {"what": what, "pool": "collection", **more}
    return client.post(reverse("benchmark-figures", args=[benchmark.pk]), form, follow=True).content.decode()


def test_a_worker_has_the_encoder_search_and_the_page_leads_to_the_leaderboard(
    ada: Client,
    benchmark_: Benchmark,
    in_process: None,  # noqa: F811
) -> None:
    status, text = sent(ada, benchmark_, "bm25", text_option="without docstring")
    assert status == 200 and 'hx-get="' in text and "updated every 2 s" in text
    assert not Run.objects.exists() and worker.has_queued_work()
    assert (
        subprocesses.perform_one_job(Job.Kind.SCORE) == 1
        and subprocesses.perform_one_job(Job.Kind.SCORE) == 0
    )
    run, job = Run.objects.get(), Job.objects.get()
    assert (run.system, run.encoders, run.text_option) == ("bm25", ["bm25"], "without docstring")
    assert (job.state, job.result["run"], job.message, job.lease_until) == ("done", run.pk, "", None)
    assert not worker.has_queued_work() and KeptFigures.objects.exists()
    text = fragment(ada, benchmark_)
    assert f"{reverse('benchmark', args=[benchmark_.pk])}?pool=collection" in text
    assert "bm25 is scored on 2 queries" in text and "hx-get" not in text and "<html" not in text
    assert "bm25" in ada.get(reverse("benchmark", args=[benchmark_.pk])).content.decode()


def test_several_encoders_search_by_their_mean(
    ada: Client,
    benchmark_: Benchmark,
    in_process: None,  # noqa: F811
) -> None:
    sent(ada, benchmark_, "bm25", "bow")
    assert subprocesses.perform_one_job(Job.Kind.SCORE) == 1
    assert Run.objects.get().encoders == ["bm25", "bow"]


def test_the_one_that_is_typed_enters_the_mean_with_those_that_are_ticked(
    ada: Client, benchmark_: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COSQA_EMBEDDINGS_BASE_URL", "http://localhost:9/v1")
    monkeypatch.setenv("COSQA_EMBEDDINGS_API_KEY", "any")
    status, _ = sent(ada, benchmark_, "bm25", other="endpoint:small")
    assert (status, Job.objects.get().order["system"]) == (200, "bm25+endpoint:small")


def test_a_typed_name_that_may_be_a_folder_or_a_mean_is_refused(
    ada: Client, benchmark_: Benchmark, tmp_path: Path
) -> None:
    (tmp_path / "a+bm25").mkdir()
    status, text = sent(ada, benchmark_, "bow", other=f"codebert:{tmp_path}/a+bm25")
    assert status == 422 and "may mean the folder" in text
    assert not Job.objects.exists()


def test_workers_for_minings_take_it_up(
    ada: Client,
    benchmark_: Benchmark,
    tools_with: Make,
    in_process: None,  # noqa: F811
) -> None:
    sent(ada, benchmark_, "bow")
    tools, _ = tools_with()
    assert worker.drain_queue("mining", tools) == 1
    assert Job.objects.get().state == "done"


@pytest.mark.parametrize(
    ("names", "other", "said"),
    [
        ((), "", "Choose at least one encoder"),
        (("codebert",), "", "codebert"),
        ((), "codebert:/no/such/folder", "/no/such/folder"),
        ((), "nobody-knows-it", "nobody-knows-it"),
        (("bm25",), "codebert:/no/such/folder", "/no/such/folder"),
        (("bm25",), "bm25", "each once"),
        (("bm25",), "codebert:/no/such/folder+bm25", "each once"),
        (("made-up",), "", "made-up"),
    ],
)
def test_what_can_not_search_here_is_refused_with_the_reason(
    ada: Client, benchmark_: Benchmark, names: tuple[str, ...], other: str, said: str
) -> None:
    status, text = sent(ada, benchmark_, *names, other=other)
    assert status == 422 and said in text.partition('role="alert"')[2]
    assert not Job.objects.exists()


def test_without_the_weights_the_form_says_what_is_missing_and_how_to_get_it(
    ada: Client, benchmark_: Benchmark
) -> None:
    why = known_encoders.why_missing("codebert")
    assert why
    status, text = sent(ada, benchmark_, "codebert")
    assert status == 422
    assert why.split(";")[0].split("'")[0].strip() in text.replace("&#x27;", "'")
    page = ada.get(reverse("benchmark-score", args=[benchmark_.pk])).content.decode()
    assert "not ready on this machine" in page


def test_weights_that_are_gone_when_a_worker_looks_fail_it_with_the_reason(
    ada: Client,
    benchmark_: Benchmark,
    in_process: None,  # noqa: F811
) -> None:
    pages.order_scoring(benchmark_, factories.ada(), of_system("codebert"))
    assert subprocesses.perform_one_job(Job.Kind.SCORE) == 1
    job = Job.objects.get()
    assert job.state == "failed" and "codebert" in job.message and not Run.objects.exists()
    assert "codebert" in fragment(ada, benchmark_)


def test_of_several_machines_one_that_has_the_weights_takes_it_up(
    ada: Client,
    benchmark_: Benchmark,
    settings: LazySettings,
    in_process: None,  # noqa: F811
) -> None:
    settings.CELERY_BROKER_URL = "memory://"
    for name in ("codebert", "bow"):
        pages.order_scoring(benchmark_, factories.ada(), of_system(name))
    assert (
        subprocesses.perform_one_job(Job.Kind.SCORE) == 1
        and subprocesses.perform_one_job(Job.Kind.SCORE) == 0
    )
    assert dict(Job.objects.values_list("order__system", "state")) == {"codebert": "waiting", "bow": "done"}


def test_a_second_click_finds_the_first_order(ada: Client, benchmark_: Benchmark) -> None:
    for _ in range(2):
        sent(ada, benchmark_, "bm25")
    sent(ada, benchmark_, "bm25", text_option="signature + docstring")
    assert Job.objects.count() == 2


def test_many_that_wait_are_enough(
    ada: Client, benchmark_: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "MOST_WAITING", 1)
    sent(ada, benchmark_, "bm25")
    status, text = sent(ada, benchmark_, "bow")
    assert status == 422 and "let them finish first" in text and Job.objects.count() == 1


def test_an_order_is_cancelled_and_is_not_done(ada: Client, benchmark_: Benchmark) -> None:
    _, text = sent(ada, benchmark_, "bm25")
    address = reverse("benchmark-score-cancel", args=[benchmark_.pk])
    assert address in text
    number = str(Job.objects.get().pk)
    text = ada.post(address, {"job": number}, follow=True).content.decode()
    assert Job.objects.get().state == "cancelled" and address not in text and not worker.has_queued_work()
    assert subprocesses.perform_one_job(Job.Kind.SCORE) == 0
    for wrong in (number, "0", "x"):
        assert "has already finished" in ada.post(address, {"job": wrong}, follow=True).content.decode()


def test_a_running_one_that_is_cancelled_ends_its_child(
    ada: Client, benchmark_: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent(ada, benchmark_, "bm25")

    def child(command: list[str], still_wanted: Callable[[], bool]) -> int:
        assert still_wanted()
        number = str(Job.objects.get(state="running").pk)
        ada.post(reverse("benchmark-score-cancel", args=[benchmark_.pk]), {"job": number})
        assert not still_wanted()
        return -9

    monkeypatch.setattr(subprocesses, "run_child_command", child)
    assert subprocesses.perform_one_job(Job.Kind.SCORE) == 1
    assert Job.objects.get().state == "cancelled"


def test_how_far_it_is_is_shown(ada: Client, benchmark_: Benchmark) -> None:
    sent(ada, benchmark_, "bm25")
    Job.objects.update(state="running", done=1, total=3, message="index")
    text = fragment(ada, benchmark_)
    assert "1 of 3 steps" in text and "index" in text


def test_what_a_page_can_not_wait_for_is_ordered_there(
    ada: Client,
    ray: Client,
    benchmark_: Benchmark,
    monkeypatch: pytest.MonkeyPatch,
    in_process: None,  # noqa: F811
) -> None:
    for name in ("bm25", "bow"):
        sent(ada, benchmark_, name)
        subprocesses.perform_one_job(Job.Kind.SCORE)
    KeptFigures.objects.all().delete()
    monkeypatch.setattr(boards, "MOST_AT_ONCE", 0)
    monkeypatch.setattr(label_noise, "MOST_AT_ONCE", 0)
    page = reverse("benchmark", args=[benchmark_.pk])
    text = ada.get(page).content.decode()
    assert "Means alone" in text and "Compute intervals and differences" in text
    assert "cosqa leaderboard" not in text
    assert "cosqa leaderboard" in ray.get(page).content.decode()
    text = computed(ada, benchmark_, "figures", metric="mrr", errors="0.1")
    assert "Intervals, differences and label errors" in text
    assert subprocesses.perform_one_job(Job.Kind.SCORE) == 1
    job = Job.objects.get(order__what="figures")
    assert job.state == "done"
    text = ada.get(page, {"metric": "mrr", "errors": "0.1"}).content.decode()
    assert "Means alone" not in text and "Stays above" in text
    assert "errors=0.1" in fragment(ada, benchmark_)


def test_each_encoder_is_left_out_from_the_page(
    ada: Client,
    mined: Benchmark,
    in_process: None,  # noqa: F811
) -> None:
    for name in ("bm25", "bow"):
        sent(ada, mined, name, pool="candidates")
        subprocesses.perform_one_job(Job.Kind.SCORE)
    page = f"{reverse('benchmark', args=[mined.pk])}?pool=candidates"
    assert "Leave each encoder out" in ada.get(page).content.decode()
    computed(ada, mined, "without", pool="candidates")
    assert subprocesses.perform_one_job(Job.Kind.SCORE) == 1
    assert Job.objects.get(order__what="without").state == "done"
    text = ada.get(page).content.decode()
    assert "without bow" in text and "Leave each encoder out" not in text


def test_what_can_not_be_computed_says_why(
    ada: Client,
    benchmark_: Benchmark,
    in_process: None,  # noqa: F811
) -> None:
    assert "Choose what is to be computed" in computed(ada, benchmark_, "nothing")
    computed(ada, benchmark_, "without", metric="mrr")
    assert subprocesses.perform_one_job(Job.Kind.SCORE) == 1
    assert "none can be left out" in fragment(ada, benchmark_)


def test_readers_order_nothing(ray: Client, benchmark_: Benchmark) -> None:
    for name in ("benchmark-score", "benchmark-score-jobs"):
        assert ray.get(reverse(name, args=[benchmark_.pk])).status_code == 403
    for name in ("benchmark-score-cancel", "benchmark-figures"):
        assert ray.post(reverse(name, args=[benchmark_.pk])).status_code == 403
    assert "Score an encoder" not in ray.get(reverse("benchmark", args=[benchmark_.pk])).content.decode()


def test_an_order_that_is_not_there_is_told() -> None:
    with pytest.raises(CommandError, match="no job 9"):
        call_command("job", "9")


def test_a_reranker_is_chosen_on_the_page_and_the_leaderboard_says_what_it_did(
    ada: Client,
    benchmark_: Benchmark,
    cross_encoder: Path,  # noqa: F811
    in_process: None,  # noqa: F811
) -> None:
    name = f"cross-encoder:{cross_encoder}"
    status, _ = sent(ada, benchmark_, "bm25", rerank=name, depth="2")
    assert (status, Job.objects.get().order["system"]) == (200, f"bm25 >2> {name}")
    assert subprocesses.perform_one_job(Job.Kind.SCORE) == 1
    assert Run.objects.get().system == f"bm25 >2> {name}"
    text = ada.get(reverse("benchmark", args=[benchmark_.pk])).content.decode()
    assert "reranker on the first 2 results: 6 pairs in" in text
    answer = ada.get(f"/api/benchmarks/{benchmark_.pk}/leaderboard").json()
    second = answer["systems"][0]["second_stage"]
    assert (second["first_stage"], second["reranker"], second["depth"]) == ("bm25", name, 2)
    assert (second["pairs"], second["usd"]) == (6, 0)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"rerank": "made-up"}, "no reranker is called"),
        ({"rerank": "cross-encoder:/no/such/folder"}, "is not a folder"),
        ({"rerank": "cross-encoder:/f", "depth": "0"}, "greater than or equal to 1"),
        ({"rerank": "cross-encoder:/f", "depth": "5000"}, "less than or equal to 1000"),
        ({"rerank": "<b>:/f"}, "&lt;b&gt;"),
    ],
)
def test_a_reranker_that_can_not_be_used_is_refused_with_why(
    ada: Client, benchmark_: Benchmark, more: dict[str, str], said: str
) -> None:
    status, text = sent(ada, benchmark_, "bm25", **more)
    assert status == 422 and said in text and not Job.objects.exists()
