"""Benchmarks over the API: published, searched, scored, compared, exported, pinned."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from pytest_django import Settings

from annotation.models import Build, SeenBenchmark
from annotation.web.benchmarks import publication, run_upload
from retrieval.models import Benchmark, Job, Pin
from tests import factories, studies
from tests.annotation.web.collections.test_upload_pages import own_storage
from tests.calls import get, pages, post
from tests.retrieval.exporting.conftest import benchmark

__all__ = ["own_storage"]
pytestmark = pytest.mark.django_db
RUN = b"queries-0 Q0 snippets-0 1 2 x\nqueries-1 Q0 snippets-1 1 1 x\n"


@pytest.fixture(autouse=True)
def home(settings: Settings, tmp_path: Path) -> None:
    settings.COSQA_HOME = tmp_path


@pytest.fixture
def build() -> Build:
    return factories.said(factories.opened("night"), (1, 0, None, 1, 0, 0, 1, 1, 0))


@pytest.fixture
def made(ada: Client, build: Build) -> Benchmark:
    """Published of the build by the API, in the request itself."""
    job = post(ada, f"builds/{build.pk}/benchmarks", {}, 201)
    assert (job["state"], job["result"]["title"]) == ("done", "night, version 1")
    return Benchmark.objects.get(pk=job["result"]["benchmark"])


def upload(client: Client, of: Benchmark, status: int = 201, content: bytes = RUN, **fields: Any) -> Any:
    file = SimpleUploadedFile("mine.run", content)
    answer = client.post(f"/api/benchmarks/{of.pk}/runs", {"system": "mine", "file": file, **fields})
    assert answer.status_code == status, answer.content
    return answer.json()


def test_what_publishing_gives_is_told_before(ada: Client, build: Build) -> None:
    told = get(ada, f"builds/{build.pk}/publication")
    assert (told["pairs"], told["judged"], told["unjudged"]) == (9, 8, 1)
    assert told["counts"] == [{"source": "agent", "matches": 4, "no_matches": 4}]


def test_a_build_is_published_and_the_benchmark_listed(ada: Client, made: Benchmark) -> None:
    [row] = get(ada, "benchmarks", name="night")["items"]
    assert (row["version"], row["labels"], row["matches"]) == (1, 8, 4)
    assert get(ada, f"benchmarks/{made.pk}") == row
    assert get(ada, "benchmarks", name="other")["items"] == []


def test_many_pairs_are_published_by_a_worker(
    ada: Client, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publication, "SMALL", 8)
    job = post(ada, f"builds/{build.pk}/benchmarks", {"name": "many"}, 201)
    assert job["state"] == "waiting"
    other = post(ada, f"builds/{build.pk}/benchmarks", {"name": "else"}, 422)
    assert "published as 'many' already" in other["detail"]
    call_command("job", job["id"])
    assert get(ada, f"jobs/{job['id']}")["result"]["title"] == "many, version 1"


def test_a_run_is_uploaded_and_stands_in_the_leaderboard(ada: Client, made: Benchmark) -> None:
    job = upload(ada, made)
    assert job["state"] == "done"
    [run] = get(ada, f"benchmarks/{made.pk}/runs")["items"]
    assert (run["id"], run["system"], run["source"]) == (job["result"]["run"], "mine", "mine.run")
    board = get(ada, f"benchmarks/{made.pk}/leaderboard", metric="mrr@10")
    assert (board["benchmark"], board["metric"], board["queries"]) == ("night@1", "mrr@10", 3)
    [system] = board["systems"]
    figure = system["figures"]["mrr@10"]
    assert figure["low"] <= figure["value"] <= figure["high"]
    assert system["run"] == run["id"]


def test_the_leaderboard_is_taken_as_a_file(ada: Client, made: Benchmark) -> None:
    upload(ada, made)
    answer = ada.get(f"/api/benchmarks/{made.pk}/leaderboard?format=csv&show=mrr@10")
    assert answer["Content-Type"].startswith("text/csv")
    assert b"mine" in answer.content
    assert ada.get(f"/api/benchmarks/{made.pk}/leaderboard?format=csv&table=differences").status_code == 404


def test_a_refused_run_is_not_kept(ada: Client, made: Benchmark) -> None:
    refused = upload(ada, made, 422, b"no run at all\n")
    assert refused["errors"][0]["where"] == "file"
    assert not Job.objects.filter(kind="run").exists()
    assert upload(ada, made, 422, pool="elsewhere")["errors"][0]["where"] == "pool"


def test_a_large_run_waits_for_a_worker(
    ada: Client, made: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_upload, "SMALL_QUERIES", 0)
    job = upload(ada, made)
    assert job["state"] == "waiting"
    call_command("job", job["id"])
    assert get(ada, f"jobs/{job['id']}")["state"] == "done"


def test_encoders_search_and_are_scored(ada: Client, made: Benchmark) -> None:
    job = post(ada, f"benchmarks/{made.pk}/scores", {"encoders": ["bm25", "bow"]}, 201)
    assert (job["state"], job["order"]["system"]) == ("waiting", "bm25+bow")
    call_command("job", job["id"])
    assert get(ada, f"jobs/{job['id']}")["state"] == "done"
    [system] = get(ada, f"benchmarks/{made.pk}/leaderboard")["systems"]
    assert (system["system"], system["helped_to_mine"]) == ("bm25+bow", True)
    refused = post(ada, f"benchmarks/{made.pk}/scores", {"encoders": ["nonsense"]}, 422)
    assert refused["errors"][0]["where"] == "encoders"


def test_training_data_is_compared_by_name(ada: Client, made: Benchmark) -> None:
    order = {"collection": made.snippets.name, "kind": "functions"}
    job = post(ada, f"benchmarks/{made.pk}/contamination", order, 201)
    assert (job["kind"], job["order"]["collection"]) == ("leaks", made.snippets.pk)
    call_command("job", job["id"])
    done = get(ada, f"jobs/{job['id']}")
    assert done["state"] == "done" and done["result"]["counts"]
    refused = post(ada, f"benchmarks/{made.pk}/contamination", {"collection": "nothing"}, 422)
    assert "nothing" in refused["detail"]


def test_distractors_are_ordered_once(ada: Client, made: Benchmark) -> None:
    job = post(ada, f"benchmarks/{made.pk}/distractors", {"most": 2, "seed": 7}, 201)
    assert (job["kind"], job["order"]["most"], job["order"]["seed"]) == ("bugs", 2, 7)
    assert post(ada, f"benchmarks/{made.pk}/distractors", {"most": 2, "seed": 7}, 201)["id"] == job["id"]
    assert post(ada, f"benchmarks/{made.pk}/distractors", {"most": 9}, 422)["errors"]


def test_labels_by_similarity_are_ordered_once(ada: Client, made: Benchmark) -> None:
    job = post(ada, f"benchmarks/{made.pk}/similarity", {"language": "java", "depth": 3}, 201)
    assert (job["kind"], job["order"]["language"], job["order"]["answers"]) == ("similar", "java", 0)
    by_name = {"answers": made.snippets.name}
    assert post(ada, f"benchmarks/{made.pk}/similarity", by_name, 201)["id"] == job["id"]
    assert post(ada, f"benchmarks/{made.pk}/similarity", {"threshold": 2}, 422)["errors"]
    post(ada, f"benchmarks/{made.pk}/similarity", {"answers": "nowhere"}, 422)


def test_figures_that_take_long_are_ordered(ada: Client, made: Benchmark) -> None:
    upload(ada, made)
    job = post(ada, f"benchmarks/{made.pk}/figures", {"metric": "mrr@10", "matches": "1"}, 201)
    assert job["order"]["options"]["found"] == "1"
    call_command("job", job["id"])
    assert get(ada, f"jobs/{job['id']}")["state"] == "done"


def test_versions_are_compared(ada: Client, made: Benchmark) -> None:
    other = benchmark()
    found = get(ada, f"benchmarks/{made.pk}/comparison/{other.pk}")
    assert (found["second"], found["systems"]) == ("night@1", [])
    same = get(ada, f"benchmarks/{made.pk}/comparison/{made.pk}", 422)
    assert same["type"] == "urn:cosqa:not-one-version"


def test_an_export_is_written_and_fetched(ada: Client, made: Benchmark) -> None:
    job = post(ada, f"benchmarks/{made.pk}/exports", {"format": "beir"}, 201)
    path = f"/api/benchmarks/{made.pk}/exports/{job['id']}/file"
    assert ada.get(path).status_code == 404, "nobody has written it"
    call_command("job", job["id"])
    answer = ada.get(path)
    assert 'filename="night-v1-beir.zip"' in answer["Content-Disposition"]
    with zipfile.ZipFile(io.BytesIO(b"".join(answer))) as archive:
        assert "corpus.jsonl" in archive.namelist()
    assert SeenBenchmark.objects.filter(user=factories.ada()).exists()


def test_a_split_needs_a_seed(ada: Client, made: Benchmark) -> None:
    refused = post(ada, f"benchmarks/{made.pk}/exports", {"by_repository": True}, 422)
    assert refused["errors"][0]["where"] == "seed"
    both = post(ada, f"benchmarks/{made.pk}/exports", {"published_split": True, "seed": 1}, 422)
    assert both["errors"][0]["where"] == "seed"


def test_a_pin_is_taken_read_and_computed_again(ada: Client, made: Benchmark) -> None:
    upload(ada, made)
    wanted = {"kind": "leaderboard", "subject": "night", "metric": "mrr@10"}
    pin = post(ada, "pins", wanted, 201)
    assert pin["name"] == Pin.objects.get().name
    assert pin["id"] == post(ada, "pins", {**wanted, "subject": "night@1"}, 201)["id"], "once"
    assert [row["id"] for row in pages(ada, "pins", 1)] == [pin["id"]]
    assert get(ada, f"pins/{pin['id']}")["value"] == pin["value"]
    job = post(ada, f"pins/{pin['id']}/reproductions", {}, 201)
    assert job["id"] == post(ada, f"pins/{pin['id']}/reproductions", {}, 201)["id"]
    call_command("job", job["id"])
    assert get(ada, f"jobs/{job['id']}")["result"]["equal"] is True
    corpus = post(ada, "pins", {"kind": "corpus", "subject": "night"}, 201)
    refused = post(ada, f"pins/{corpus['id']}/reproductions", {"start": "replies"}, 409)
    assert "can’t be computed from that" in refused["detail"]


@pytest.mark.parametrize("kind", ["build", "corpus"])
def test_other_figures_are_pinned(ada: Client, erin: Client, build: Build, kind: str) -> None:
    Build.objects.update(state="done")
    pin = post(ada, "pins", {"kind": kind, "subject": "night", "of": "build"}, 201)
    assert pin["kind"] == kind
    status = 201 if kind == "corpus" else 403
    post(erin, "pins", {"kind": kind, "subject": "night", "of": "build"}, status)


def test_pins_name_what_is_there(ada: Client, build: Build) -> None:
    gone = {"kind": "leaderboard", "subject": "gone"}
    assert post(ada, "pins", gone, 422)["type"] == "urn:cosqa:no-such-name"
    assert "needs `against`" in post(ada, "pins", {"kind": "builds", "subject": "night"}, 422)["detail"]


def test_who_rates_a_query_of_it_sees_no_benchmark(ada: Client, made: Benchmark) -> None:
    post(ada, "pins", {"kind": "corpus", "subject": "night"}, 201)
    job = post(ada, f"benchmarks/{made.pk}/exports", {}, 201)
    study = studies.study(created_by=None, pairs=[made.labels.all()[0].pair])
    part = studies.rater("rita", study)
    part.user = factories.ada()
    part.save()
    told = json.dumps([get(ada, path) for path in ("benchmarks", "pins", "jobs")])
    assert "night" not in told
    for path in (f"benchmarks/{made.pk}", f"benchmarks/{made.pk}/leaderboard", f"jobs/{job['id']}"):
        assert get(ada, path, 403)["type"] == "urn:cosqa:kept-blind"
