"""What is noted of an order for a leaderboard, and what is left of one that was cancelled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from retrieval.evaluation.runs.score_jobs import (
    ScoreOrder,
    What,
    encoders_of,
    find_missing_requirement,
    perform_score_job,
)
from retrieval.jobs import cancel_job, once_of
from retrieval.management import progress
from retrieval.management.progress import Stages
from retrieval.models import Benchmark, Job, Pool, Run
from tests import factories


def job(benchmark: Benchmark, number: int = 0, **columns: object) -> Job:
    given = {"what": "system", "system": "bm25", "text_option": "whole", "pool": benchmark.pool}
    order = ScoreOrder.model_validate({**given, **columns})
    return factories.job(order, benchmark.pk, state="running", once=f"{number:064x}")


@pytest.fixture(autouse=True)
def home(settings: LazySettings, tmp_path: Path) -> None:
    settings.COSQA_HOME = tmp_path


def test_doing_it_twice_keeps_one_run(benchmark_: Benchmark) -> None:
    for number in range(2):
        perform_score_job(job(benchmark_, number))
    run = Run.objects.get()
    for row in Job.objects.all():
        assert (row.state, row.result["run"], row.message) == ("done", run.pk, "")
        assert "bm25 is scored on 2 queries" in row.result["notes"][0]


def test_one_that_was_cancelled_meanwhile_stays_so(benchmark_: Benchmark) -> None:
    row = job(benchmark_)
    assert cancel_job(row) and not cancel_job(row)
    perform_score_job(row)
    row.refresh_from_db()
    assert (row.state, row.result) == ("cancelled", {})


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"system": "made-up"}, "made-up"),
        ({"system": "codebert:/no/such/folder"}, "/no/such/folder"),
        ({"pool": "candidates"}, "not made of a mining"),
        ({"text_option": "half"}, "no text option"),
        ({"what": "without", "options": {"fewest": 1, "most": None}}, "none can be left out"),
    ],
)
def test_what_can_not_be_done_says_why(benchmark_: Benchmark, columns: dict[str, Any], said: str) -> None:
    row = job(benchmark_, **columns)
    perform_score_job(row)
    row.refresh_from_db()
    assert row.state == "failed" and said in row.message and row.finished_at


def test_stages_are_noted_when_they_begin_and_when_they_end(
    benchmark_: Benchmark, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_NOTES", 1e9)
    row = job(benchmark_)
    tell = Stages(row)
    noted = []
    for stage, done in (("encode", 1), ("encode", 2), ("encode", 4), ("search", 1)):
        tell(stage, done, 4)
        noted.append(Job.objects.values_list("message", "done", "total").get(pk=row.pk))
    assert noted == [("encode", 1, 4), ("encode", 1, 4), ("encode", 4, 4), ("search", 1, 4)]


def test_what_a_machine_lacks_is_known_before(benchmark_: Benchmark) -> None:
    assert encoders_of(job(benchmark_, 1, system="bm25+bow")) == ["bm25", "bow"]
    assert not find_missing_requirement(job(benchmark_, 2)) and "codebert" in find_missing_requirement(
        job(benchmark_, 3, system="codebert")
    )
    assert not find_missing_requirement(job(benchmark_, 4, system="made-up")), (
        "no machine has it: one is to say so"
    )
    assert not find_missing_requirement(job(benchmark_, 5, what="figures", system=""))


def test_the_same_columns_are_the_same_order(benchmark_: Benchmark) -> None:
    first = ScoreOrder(what=What.SYSTEM, system="bm25", pool=Pool.COLLECTION)
    second = ScoreOrder.model_validate(dict(reversed(first.model_dump().items())))
    assert once_of(first, benchmark_.pk) == once_of(second, benchmark_.pk)
    assert once_of(first, benchmark_.pk) != once_of(first.model_copy(update={"system": "bow"}), benchmark_.pk)
    assert once_of(first, benchmark_.pk) != once_of(first, benchmark_.pk + 1)
