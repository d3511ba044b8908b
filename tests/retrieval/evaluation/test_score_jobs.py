"""What is noted of an order for a leaderboard, and what is left of one that was cancelled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from retrieval.evaluation.score_jobs import cancel, digest_of, encoders_of, lacks, perform
from retrieval.management import progress
from retrieval.management.progress import Stages
from retrieval.models import Benchmark, Run, ScoreJob
from tests import factories


def job(benchmark: Benchmark, number: int = 0, **columns: object) -> ScoreJob:
    given = {"what": "system", "system": "bm25", "text_option": "whole", "pool": benchmark.pool}
    kept = {**given, "state": "running", "digest": f"{number:064x}", **columns}
    return ScoreJob.objects.create(benchmark=benchmark, created_by=factories.ada(), **kept)


def test_doing_it_twice_keeps_one_run(benchmark_: Benchmark, tmp_path: Path) -> None:
    for number in range(2):
        perform(job(benchmark_, number), tmp_path)
    run = Run.objects.get()
    assert set(ScoreJob.objects.values_list("state", "run", "message")) == {("done", run.pk, "")}
    assert "bm25 is scored on 2 queries" in ScoreJob.objects.all()[0].notes[0]


def test_one_that_was_cancelled_meanwhile_stays_so(benchmark_: Benchmark, tmp_path: Path) -> None:
    row = job(benchmark_)
    assert cancel(row) and not cancel(row)
    perform(row, tmp_path)
    row.refresh_from_db()
    assert (row.state, row.run) == ("cancelled", None)


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
def test_what_can_not_be_done_says_why(
    benchmark_: Benchmark, tmp_path: Path, columns: dict[str, Any], said: str
) -> None:
    row = job(benchmark_, **columns)
    perform(row, tmp_path)
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
        noted.append(ScoreJob.objects.values_list("message", "done", "total").get(pk=row.pk))
    assert noted == [("encode", 1, 4), ("encode", 1, 4), ("encode", 4, 4), ("search", 1, 4)]


def test_what_a_machine_lacks_is_known_before(benchmark_: Benchmark) -> None:
    assert encoders_of(job(benchmark_, 1, system="bm25+bow")) == ["bm25", "bow"]
    assert not lacks(job(benchmark_, 2)) and "codebert" in lacks(job(benchmark_, 3, system="codebert"))
    assert not lacks(job(benchmark_, 4, system="made-up")), "no machine has it: one is to say so"
    assert not lacks(job(benchmark_, 5, what="figures", system=""))


def test_the_same_columns_are_the_same_order(benchmark_: Benchmark) -> None:
    first, second = {"what": "system", "system": "bm25"}, {"system": "bm25", "what": "system"}
    assert digest_of(benchmark_, first) == digest_of(benchmark_, second)
    assert digest_of(benchmark_, first) != digest_of(benchmark_, {**first, "system": "bow"})
