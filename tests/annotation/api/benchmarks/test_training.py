"""Trainings over the API: ordered for each seed, followed, cancelled, continued."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from annotation.jobs import subprocesses
from retrieval.models import Benchmark, Job
from tests.annotation.jobs.test_worker import in_process
from tests.retrieval.training.test_benchmark_data import make_benchmark

pytestmark = pytest.mark.django_db
__all__ = ["in_process"]
QUICK = {"system": "nbow", "seeds": [1, 2], "epochs": 1, "batch_size": 8}


@pytest.fixture
def made(tmp_path: Path, settings: LazySettings) -> Benchmark:
    settings.COSQA_HOME = tmp_path
    return make_benchmark()


def post(client: Client, path: str, body: dict[str, Any], status: int) -> Any:
    answer = client.post(f"/api/{path}", json.dumps(body), content_type="application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


def test_each_seed_is_a_job_whose_result_has_the_encoder_and_the_card(
    ada: Client, made: Benchmark, in_process: None
) -> None:
    jobs = post(ada, f"benchmarks/{made.pk}/trainings", {**QUICK, "without": []}, 201)
    assert [job["order"]["settings"]["seed"] for job in jobs] == [1, 2]
    assert [job["kind"] for job in jobs] == ["train", "train"]
    assert subprocesses.perform_one_job(Job.Kind.TRAIN) == 1
    told = ada.get(f"/api/jobs/{jobs[0]['id']}").json()
    assert told["state"] == "done" and told["result"]["encoder"].startswith("nbow:/")
    assert len(told["result"]["card"]["hash"]) == 64
    cancelled = post(ada, f"jobs/{jobs[1]['id']}/cancel", {}, 200)
    assert cancelled["state"] == "cancelled"
    assert post(ada, f"jobs/{jobs[1]['id']}/continue", {}, 200)["state"] == "waiting"
    assert "not complete" in str(post(ada, f"jobs/{jobs[0]['id']}/continue", {}, 409))


@pytest.mark.parametrize(
    ("wrong", "place"),
    [
        ({"system": "bm25"}, "system"),
        ({"seeds": [1, 1]}, "seeds"),
        ({"seeds": [-1]}, "seeds"),
        ({"epochs": 0}, "epochs"),
        ({"learning_rate": 1}, "learning_rate"),
        ({"unknown": 1}, "unknown"),
    ],
)
def test_wrong_values_are_refused_by_their_name(
    ada: Client, made: Benchmark, wrong: dict[str, Any], place: str
) -> None:
    assert place in json.dumps(post(ada, f"benchmarks/{made.pk}/trainings", QUICK | wrong, 422))
    assert not Job.objects.exists()


def test_experts_order_no_training(erin: Client, made: Benchmark) -> None:
    post(erin, f"benchmarks/{made.pk}/trainings", QUICK, 403)
