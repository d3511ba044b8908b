"""Uploading ranked lists on a benchmark's page: scored and kept, or refused with what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import LazySettings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from retrieval.evaluation.publishing import Order, publish
from retrieval.models import Annotator, Benchmark, Label, Pair, Run
from tests import factories

pytestmark = pytest.mark.django_db
GOOD = "queries-0 Q0 snippets-0 1 2 x\nqueries-1 Q0 elsewhere 1 1 x\nnobody Q0 snippets-1 1 1 x\n"


@pytest.fixture
def benchmark_() -> Benchmark:
    queries, snippets = factories.queries(), factories.snippets()
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {})
    for place in (0, 1):
        ids = (queries.members.get(position=place).text_id, snippets.members.get(position=place).text_id)
        Label.objects.create(pair=Pair.objects.keep_all([ids])[0], annotator=by, value=1)
    return publish(Order("small", queries, snippets, "by hand"), Label.objects.all())


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
    assert "mine is scored on 2 queries, 0 of them without results" in text
    assert "1 queries (in 1 rows; the first is &#x27;nobody&#x27; in line 3) are unknown" in text
    assert "0.500" in text


def test_codesearchnets_csv_is_read_too(ada: Client, benchmark_: Benchmark) -> None:
    sent(ada, benchmark_, "language,query,url\npython,queries-0,snippets-0\n", "a.csv")
    assert Run.objects.get().scores.count() == 7


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "a.run: is empty"),
        ("what is this\n", "a.run, line 1"),
        (GOOD + GOOD, "line 4"),
        ("nobody Q0 snippets-0 1 1 x\n", "No query of a.run is one of small@1"),
        ("queries-0 Q0 <script> 1 1 x\n", "No snippet of a.run is one of small@1"),
    ],
)
def test_what_can_not_be_scored_is_refused_with_the_reason(
    ada: Client, benchmark_: Benchmark, text: str, said: str
) -> None:
    status, page = sent(ada, benchmark_, text)
    assert status == 422
    assert said in page
    assert "<script> 1" not in page
    assert not Run.objects.exists()


def test_a_file_that_is_too_large_is_named_the_command(
    ada: Client, benchmark_: Benchmark, settings: LazySettings
) -> None:
    settings.UPLOAD_LIMIT_BYTES = 10
    status, page = sent(ada, benchmark_, GOOD)
    assert status == 422
    assert "manage.py evaluate BENCHMARK --run" in page


def test_names_of_files_lead_nowhere(ada: Client, benchmark_: Benchmark, tmp_path: Path) -> None:
    sent(ada, benchmark_, GOOD, "../../x.run")
    assert Run.objects.get().source == "x.run"


def test_readers_do_not_upload(ray: Client, benchmark_: Benchmark) -> None:
    assert ray.get(reverse("benchmark-upload", args=[benchmark_.pk])).status_code == 403
    assert "Upload a run" not in ray.get(reverse("benchmark", args=[benchmark_.pk])).content.decode()
