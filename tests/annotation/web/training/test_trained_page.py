"""The page of trained systems: tables, files, warnings, and what papers report."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from retrieval.models import Benchmark, Run
from tests.retrieval.training.test_benchmark_data import TASKS, make_benchmark

pytestmark = pytest.mark.django_db
QUICK = ("--epochs", "1", "--batch-size", "8")


@pytest.fixture
def tested(tmp_path: Path, settings: LazySettings) -> Benchmark:
    """Eight queries that search; a system was trained three times without them and their functions."""
    settings.COSQA_HOME = tmp_path
    whole, tested = make_benchmark(), make_benchmark([f"please {task} for me" for task in TASKS[:8]])
    for seed in ("1", "2", "3"):
        out = ("--out", str(tmp_path / f"apart-{seed}"), "--without", str(tested), "--seed", seed)
        call_command("train", str(whole), "--system", "nbow", *QUICK, *out)
        call_command("evaluate", str(tested), "--encoder", f"nbow:{tmp_path}/apart-{seed}")
    return tested


def page_of(client: Client, benchmark: Benchmark, **params: str) -> str:
    return client.get(reverse("benchmark-trained", args=[benchmark.pk]), params).content.decode()


def test_a_reader_sees_each_system_with_seeds_intervals_and_spread(ray: Client, tested: Benchmark) -> None:
    text = page_of(ray, tested)
    assert "1, 2, 3" in text and "spread of mrr" in text and "8 queries with a match" in text
    assert "As reported" in text and "can&#x27;t here: weights are missing" in text and "0.952" in text
    assert "train at least 3" not in text
    # 9 of its 20 functions are judged, so that none of these was learned.
    learned = Run.objects.latest("pk").options["trained"]["functions"]
    assert 0 < learned <= 11
    assert f"{learned} functions of this benchmark were in the training set" in text
    assert "intervals are too short" in text
    assert "Train a system" not in text, "readers train nothing"


def test_a_training_that_asked_its_queries_takes_them_out_and_is_named(
    ray: Client, tested: Benchmark, tmp_path: Path
) -> None:
    call_command("train", str(tested), "--system", "nbow", *QUICK, "--out", str(tmp_path / "same"))
    call_command("evaluate", str(tested), "--encoder", f"nbow:{tmp_path}/same")
    trained = Run.objects.get(system=f"nbow:{tmp_path}/same").options["trained"]
    assert trained["learned"] == str(tested) and trained["functions"] > 0
    text = page_of(ray, tested)
    assert "asked in a training, and left out here for all systems" in text
    assert "in the training set, so its figures may be too high" in text
    assert "train at least 3" in text


def test_tables_are_files_and_the_api_has_the_same(ray: Client, tested: Benchmark) -> None:
    answer = ray.get(reverse("benchmark-trained", args=[tested.pk]), {"table": "trained", "format": "csv"})
    rows = list(csv.reader(io.StringIO(answer.content.decode())))
    assert answer["Content-Disposition"].endswith('-trained.csv"') and rows[0][:3] == [
        "system",
        "trained on",
        "seeds",
    ]
    told = ray.get(f"/api/benchmarks/{tested.pk}/trained", {"metric": "mrr"}).json()
    assert set(told) == {"trained", "reported"}
    one = ray.get(f"/api/benchmarks/{tested.pk}/trained", {"table": "reported", "format": "json"})
    assert json.loads(one.content) == told["reported"]
    missing = {"table": "none", "format": "csv"}
    assert ray.get(reverse("benchmark-trained", args=[tested.pk]), missing).status_code == 404


def test_without_a_trained_system_the_page_says_what_to_do(ada: Client, ray: Client) -> None:
    made = make_benchmark()
    assert "Then score on" in page_of(ada, made) and "An admin can train one" in page_of(ray, made)
    assert "CodeBERT" in page_of(ray, made, metric="nonsense", pool="nonsense")
