"""Pinned leaderboards: computed again from lists and labels, and what is said when something was changed."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from annotation.pins import NoSuchPin, NothingToPin, find_pin_by_hash, pin_leaderboard, reproduce_pin
from retrieval.evaluation.content import content_of
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.evaluation.runs.system_run import evaluate_file
from retrieval.metrics.names import parse_measures
from retrieval.models import (
    Annotator,
    Benchmark,
    BenchmarkLabel,
    KeptFigures,
    Label,
    Pair,
    Pin,
    Pool,
    RankedList,
    Run,
    Score,
)
from tests import factories

pytestmark = pytest.mark.django_db

LABELS = {(0, 0): 1, (0, 1): 0, (0, 2): 1, (1, 1): 1, (2, 3): 0}


@pytest.fixture
def benchmark_() -> Benchmark:
    queries, snippets = factories.queries(), factories.snippets()
    annotator = Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {"source": "by hand"})
    for (query, snippet), value in LABELS.items():
        texts = queries.members.get(position=query).text_id, snippets.members.get(position=snippet).text_id
        Label.objects.create(
            pair=Pair.objects.keep_all([texts])[0], annotator=annotator, round=1, value=value
        )
    return publish_benchmark(Order("small", queries, snippets, "by hand"), Label.objects.all())


def run(benchmark: Benchmark, folder: Path, name: str, *lists: tuple[int, ...]) -> Run:
    lines = [
        f"queries-{query} Q0 snippets-{snippet} {rank} {-rank} me\n"
        for query, of_query in enumerate(lists)
        for rank, snippet in enumerate(of_query, 1)
    ]
    path = folder / name
    path.write_text("".join(lines))
    wanted = parse_measures(["mrr", "ndcg@10"])
    return evaluate_file(path, name, content_of(benchmark), Pool.COLLECTION, wanted).run


@pytest.fixture
def pin(benchmark_: Benchmark, tmp_path: Path) -> Pin:
    run(benchmark_, tmp_path, "better", (0, 1), (1, 0))
    run(benchmark_, tmp_path, "worse", (1, 0), (0, 1))
    return pin_leaderboard(benchmark_, metric="mrr")


def test_figures_are_equal_when_nothing_was_touched(pin: Pin) -> None:
    found = reproduce_pin(pin)
    assert (found.equal, found.changes, found.grounds) == (True, (), ())
    assert [one["p"] for one in pin.value["differences"]] != []
    assert {round(one["mrr"]["value"], 3) for one in pin.value["figures"].values()} == {0.5, 1.0}


def test_they_are_computed_from_lists_and_labels_and_not_from_what_was_kept(pin: Pin) -> None:
    KeptFigures.objects.all().delete()
    Score.objects.all().delete()
    assert reproduce_pin(pin).equal


def test_the_same_figures_have_one_pin(pin: Pin) -> None:
    benchmark = Benchmark.objects.get()
    assert pin_leaderboard(benchmark, metric="mrr") == pin
    assert pin_leaderboard(benchmark, metric="ndcg@10") != pin
    assert Pin.objects.count() == 2


def test_a_later_run_changes_no_pin(pin: Pin, tmp_path: Path) -> None:
    run(Benchmark.objects.get(), tmp_path, "third", (3,), (3,))
    assert reproduce_pin(pin).equal
    assert pin_leaderboard(Benchmark.objects.get(), metric="mrr") != pin


def test_a_label_that_somebody_changed_is_found(pin: Pin) -> None:
    BenchmarkLabel.objects.filter(relevance=1).order_by("pk")[:1].get().delete()
    found = reproduce_pin(pin)
    assert not found.equal
    assert "labels" in {one.where for one in found.grounds}


def test_a_query_that_lost_all_its_matches_is_told_as_what_differs(pin: Pin) -> None:
    of_query = BenchmarkLabel.objects.filter(pair__query=BenchmarkLabel.objects.earliest("pk").pair.query)
    of_query.update(relevance=0)
    found = reproduce_pin(pin)
    assert not found.equal
    assert any(one.where.endswith("/value") for one in found.changes)


def test_a_list_that_somebody_changed_is_found(pin: Pin) -> None:
    spoilt = RankedList.objects.filter(run__system="better").first()
    assert spoilt is not None
    RankedList.objects.filter(pk=spoilt.pk).update(data=np.array([3], "<u4").tobytes())
    found = reproduce_pin(pin)
    assert not found.equal
    assert any(one.where.startswith("lists") for one in found.grounds)
    assert any("/mrr/value" in one.where and one.before == 1.0 for one in found.changes)


def test_a_run_that_is_gone_is_missing(pin: Pin) -> None:
    Run.objects.filter(system="worse").delete()
    found = reproduce_pin(pin)
    assert any(one.now is None and "worse" in one.where for one in found.changes)


def test_another_version_of_the_code_is_told_and_changes_nothing_by_itself(pin: Pin) -> None:
    Pin.objects.filter(pk=pin.pk).update(ground=pin.ground | {"code": pin.ground["code"] | {"numpy": "1.0"}})
    found = reproduce_pin(Pin.objects.get())
    assert found.equal
    assert [one.where for one in found.grounds] == ["code/numpy"]


def test_nothing_is_pinned_where_there_is_no_run(benchmark_: Benchmark) -> None:
    with pytest.raises(NothingToPin, match="small@1 has no run over"):
        pin_leaderboard(benchmark_)


@pytest.mark.parametrize("name", ["", "abc", "zzzzzz", "ABCDEF", "000000"])
def test_a_name_that_is_none_is_told(name: str) -> None:
    with pytest.raises(NoSuchPin):
        find_pin_by_hash(name)


def test_the_commands_pin_list_and_reproduce(benchmark_: Benchmark, tmp_path: Path) -> None:
    run(benchmark_, tmp_path, "better", (0, 1), (1, 0))
    name = told("pin", "--benchmark", "small", "--matches", "1-1").strip()
    assert name in told("pin", "--list")
    assert "\nequal\n" in told("reproduce", name)
    assert json.loads(told("reproduce", name[:6], "--json"))["equal"] is True
    BenchmarkLabel.objects.all().delete()
    with pytest.raises(SystemExit) as ended:
        told("reproduce", name)
    assert ended.value.code == 3
    for bad in (["--benchmark", "none"], ["--study", "none"], ["--benchmark", "small", "--matches", "x"]):
        with pytest.raises(CommandError):
            told("pin", *bad)
    with pytest.raises(CommandError, match="No run on small@1 has recall@7"):
        told("pin", "--benchmark", "small", "--metric", "recall@7")
    with pytest.raises(CommandError, match="No pin begins"):
        told("reproduce", "0123456789ab")


def test_a_range_of_matches_is_read_as_the_leaderboard_reads_it(
    benchmark_: Benchmark, tmp_path: Path
) -> None:
    run(benchmark_, tmp_path, "better", (0, 1), (1, 0))
    name = told("pin", "--benchmark", "small", "--matches", "1").strip()
    subject = find_pin_by_hash(name).subject
    assert (subject["fewest"], subject["most"]) == (1, 1)
    assert told("pin", "--benchmark", "small", "--matches", "1-").strip() != name
    with pytest.raises(CommandError, match="No query of small@1 has so many matches"):
        told("pin", "--benchmark", "small", "--matches", "9-3")


def told(*command: str) -> str:
    out = StringIO()
    call_command(*command, stdout=out, stderr=StringIO())
    return out.getvalue()
