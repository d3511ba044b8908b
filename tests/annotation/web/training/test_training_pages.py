"""Trainings from a benchmark's page: ordered, done by a worker, stopped, continued, refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client
from django.urls import reverse

from annotation.jobs import subprocesses, worker
from annotation.web.training import form as forms
from retrieval.models import Benchmark, Job, Run
from retrieval.training import training_job
from tests import factories
from tests.annotation.jobs.test_worker import in_process
from tests.retrieval.training.test_benchmark_data import make_benchmark

pytestmark = pytest.mark.django_db
__all__ = ["in_process"]
QUICK = {
    "system": "nbow",
    "seeds": "5",
    "epochs": "2",
    "batch_size": "8",
    "minutes": "0",
    "text_option": "whole",
    "split_seed": "1",
    "checkpoint_steps": "0",
}


@pytest.fixture
def made(tmp_path: Path, settings: LazySettings) -> Benchmark:
    settings.COSQA_HOME = tmp_path
    return make_benchmark()


def sent(client: Client, made: Benchmark, **more: Any) -> tuple[int, str]:
    answer = client.post(reverse("benchmark-train", args=[made.pk]), QUICK | more, follow=True)
    return answer.status_code, answer.content.decode()


def training_of(client: Client, made: Benchmark, job: Job) -> str:
    return client.get(reverse("benchmark-training", args=[made.pk, job.pk])).content.decode()


def posted(client: Client, what: str, made: Benchmark, job: Job | str) -> str:
    number = job if isinstance(job, str) else str(job.pk)
    address = reverse(f"benchmark-train-{what}", args=[made.pk])
    return client.post(address, {"job": number}, follow=True).content.decode()


def perform() -> int:
    return subprocesses.perform_one_job(Job.Kind.TRAIN)


def test_a_training_is_ordered_done_and_its_encoder_is_offered(
    ada: Client, made: Benchmark, in_process: None, tmp_path: Path
) -> None:
    status, text = sent(ada, made, score_on=[made.pk])
    assert status == 200 and "updated every 2 s" in text and worker.has_queued_work()
    assert perform() == 1
    job = Job.objects.get(kind="train")
    assert job.state == "done", job.message
    folder = tmp_path / "trained" / f"nbow-job-{job.pk}"
    assert job.result["encoder"] == f"nbow:{folder}" and (folder / "training.json").is_file()
    assert job.result["card"]["settings"]["seed"] == 5 and job.result["card"]["settings"]["epochs"] == 2
    text = training_of(ada, made, job)
    assert 'hx-trigger="every 2s"' not in text and text.count("<polyline") >= 2
    assert job.result["card"]["hash"] in text and "after training" in text and "bm25" in text
    assert f"nbow:{folder}" in ada.get(reverse("benchmark-score", args=[made.pk])).content.decode()
    assert subprocesses.perform_one_job(Job.Kind.SCORE) == 1
    score = Job.objects.get(kind="score")
    assert Run.objects.get().encoders == [f"nbow:{folder}"] and score.state == "done"
    assert any("trained with 18 queries and 16 functions" in note for note in score.result["notes"])


def test_each_seed_is_a_training_of_its_own_and_the_same_is_ordered_once(
    ada: Client, made: Benchmark
) -> None:
    for _ in range(2):
        assert sent(ada, made, seeds="1, 2 3", shuffles_labels="on")[0] == 200
    found = Job.objects.filter(kind="train").order_by("pk")
    assert [job.order["settings"] for job in found] == [
        {"epochs": 2, "batch_size": 8, "shuffles_labels": True, "seed": seed} for seed in (1, 2, 3)
    ]


def test_one_without_seeds_has_the_seed_of_its_recipe(ada: Client, made: Benchmark) -> None:
    sent(ada, made, seeds="", epochs="", batch_size="")
    job = Job.objects.get()
    assert job.order["settings"] == {}
    text = training_of(ada, made, job)
    assert '<dt>Epochs</dt><dd class="wrap-anywhere">300</dd>' in text
    assert 'hx-trigger="every 2s"' in text


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"system": "bm25"}, "Select a valid choice"),
        ({"other": "bm25"}, "can&#x27;t be trained here"),
        ({"other": "codebert:/no/such"}, "/no/such is not a folder"),
        ({"system": ""}, "Choose a system"),
        ({"seeds": "1, x"}, "Write whole numbers"),
        ({"seeds": "-1"}, "Write whole numbers"),
        ({"seeds": "1 1"}, "each seed once"),
        ({"seeds": " ".join(map(str, range(11)))}, "At most 10"),
        ({"learning_rate": "2"}, "learning rate has to be"),
        ({"learning_rate": "nan"}, "Enter a number"),
        ({"hard_negatives": "1"}, "has no hard negatives"),
        ({"epochs": "0"}, "greater than or equal to 1"),
        ({"without": ["99999"]}, "not one of the available choices"),
    ],
)
def test_what_can_not_be_trained_is_refused_with_the_reason(
    ada: Client, made: Benchmark, wrong: dict[str, Any], said: str
) -> None:
    status, text = sent(ada, made, **wrong)
    assert status == 422 and said in text and not Job.objects.exists()


def test_many_that_wait_are_enough(ada: Client, made: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "MOST_WAITING", 1)
    status, text = sent(ada, made, seeds="1 2")
    assert status == 422 and "let some finish first" in text and not Job.objects.exists()


def test_a_stopped_training_continues_from_its_checkpoint(
    ada: Client, made: Benchmark, in_process: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent(ada, made, epochs="3")
    job = Job.objects.get()
    steps = list[int]()
    real = training_job.CurveNotes.__call__

    def stop_after_an_epoch(notes: Any, loss: Any, dev: Any) -> None:
        real(notes, loss, dev)
        if len(dev) == 2 and not steps:
            steps.append(len(dev))
            raise KeyboardInterrupt

    monkeypatch.setattr(training_job, "SECONDS_BETWEEN_CURVES", 0)
    monkeypatch.setattr(training_job.CurveNotes, "__call__", stop_after_an_epoch)
    with pytest.raises(KeyboardInterrupt):
        perform()
    assert [entry["epoch"] for entry in Job.objects.get().result["curves"]["dev"]] == [1, 2]
    assert "Stop" in training_of(ada, made, job)
    posted(ada, "stop", made, job)
    assert Job.objects.get().state == "cancelled" and not worker.has_queued_work() and perform() == 0
    text = training_of(ada, made, job)
    assert reverse("benchmark-train-continue", args=[made.pk]) in text
    posted(ada, "continue", made, job)
    assert Job.objects.get().state == "waiting" and perform() == 1
    done = Job.objects.get()
    assert done.state == "done", done.message
    assert [entry["epoch"] for entry in done.result["card"]["result"]["dev"]] == [1, 2, 3]


def test_one_that_time_has_stopped_says_so_and_continues(
    ada: Client, made: Benchmark, in_process: None
) -> None:
    sent(ada, made, minutes="0.0000001", epochs="50")
    assert perform() == 1
    job = Job.objects.get()
    assert (job.state, job.result["card"]["result"]["stopped"]) == ("done", "by time")
    assert job.message.startswith("Stopped by time after")
    text = training_of(ada, made, job)
    assert "The time was over before the last epoch" in text
    assert job.result["card"]["result"]["epochs"] < 50
    steps = job.result["card"]["result"]["steps"]
    posted(ada, "continue", made, job)
    assert perform() == 1
    job.refresh_from_db()
    assert job.result["card"]["result"]["steps"] > steps


def test_what_is_over_is_neither_stopped_nor_continued(
    ada: Client, made: Benchmark, in_process: None
) -> None:
    sent(ada, made)
    perform()
    job = Job.objects.get()
    assert "has already finished" in posted(ada, "stop", made, job)
    assert "can’t be continued" in posted(ada, "continue", made, job)
    assert "can’t be continued" in posted(ada, "continue", made, "x")
    assert Job.objects.get().state == "done"


def test_a_child_that_is_still_ending_is_not_wanted_once_its_job_waits_again(
    ada: Client, made: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent(ada, made)
    job = Job.objects.get()

    def child(command: list[str], still_wanted: Callable[[], bool]) -> int:
        assert still_wanted()
        posted(ada, "stop", made, job)
        posted(ada, "continue", made, job)
        assert not still_wanted()
        return -9

    monkeypatch.setattr(subprocesses, "run_child_command", child)
    assert perform() == 1 and Job.objects.get().state == "waiting"


def test_a_failed_one_says_why_and_can_be_continued(ada: Client, made: Benchmark, in_process: None) -> None:
    sent(ada, made, split_seed="1")
    job = Job.objects.get()
    Job.objects.filter(pk=job.pk).update(order=job.order | {"without": [str(made)]})
    assert perform() == 1
    job.refresh_from_db()
    assert job.state == "failed" and "no match in its training part" in job.message
    assert "Continue" in training_of(ada, made, job)


def test_a_machine_without_the_weights_leaves_it_to_another(
    ada: Client, made: Benchmark, settings: LazySettings, in_process: None
) -> None:
    settings.CELERY_BROKER_URL = "memory://"
    forms.order_trainings(made, factories.ada(), [training_job.TrainOrder(system="codebert")])
    assert perform() == 0 and Job.objects.get().state == "waiting"


def test_a_training_of_another_benchmark_is_not_found(ada: Client, made: Benchmark) -> None:
    job = factories.job(training_job.TrainOrder(system="nbow"), made.pk + 1)
    assert ada.get(reverse("benchmark-training", args=[made.pk, job.pk])).status_code == 404


def test_only_admins_see_and_order_trainings(ray: Client, erin: Client, made: Benchmark) -> None:
    for client in (ray, erin):
        for name in ("benchmark-train", "benchmark-train-jobs"):
            assert client.get(reverse(name, args=[made.pk])).status_code == 403
        assert sent(client, made)[0] == 403
        for what in ("stop", "continue"):
            address = reverse(f"benchmark-train-{what}", args=[made.pk])
            assert client.post(address, {"job": "1"}).status_code == 403
    assert not Job.objects.exists()
