"""Leaving encoders out: what only one of them brought is gone, and the order of systems may be another."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrieval import mining
from retrieval.evaluation.content import content_of, pool_of
from retrieval.evaluation.leaderboard import Queries, build_leaderboard
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.evaluation.robustness.left_out_encoder import (
    NothingToLeaveOut,
    brought_alone,
    encoders_of,
    found_without,
    kept_without,
    leave_out,
)
from retrieval.evaluation.runs.system_run import evaluate_system
from retrieval.evaluation.systems.search import Search, find_system
from retrieval.metrics.names import parse_measures
from retrieval.models import Annotator, Benchmark, Collection, Label, Mining, Pool
from tests import factories

pytestmark = pytest.mark.django_db
QUERIES = ("sort a list", "read file lines")
CODE = (
    "def sort(items):\n    return sorted(items) # a list a list a list",
    "def sort_list(items):\n    return sorted(items)",
    "def read(path):\n    return open(path).readlines() # file lines",
    "def add(a, b):\n    return a + b",
)


@pytest.fixture
def mined(tmp_path: Path) -> Mining:
    queries, snippets = factories.queries(QUERIES), factories.snippets(CODE)
    made = factories.mining(queries, snippets, encoders=["bm25", "bow"], k=1)
    mining.perform_mining(made, tmp_path)
    return made


@pytest.fixture
def made(mined: Mining, tmp_path: Path) -> Benchmark:
    """All candidates are matches; two systems have searched them."""
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {})
    for candidate in mined.candidates.all():
        Label.objects.create(pair=candidate.pair, annotator=by, value=1)
    return published(mined, "small", tmp_path)


def published(of: Mining, name: str, vectors: Path) -> Benchmark:
    """All labels as a benchmark that two systems have searched."""
    done = publish_benchmark(Order(name, of.queries, of.snippets, "", of), Label.objects.all())
    content = content_of(done)
    how = Search("whole", pool_of(content, Pool.CANDIDATES), vectors)
    for one in ("bm25", "bow"):
        evaluate_system(find_system(one), content, Pool.CANDIDATES, how, parse_measures(["mrr"]))
    return done


def test_each_encoder_is_left_out_and_it_is_kept(
    made: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = build_leaderboard(made, Pool.CANDIDATES)
    assert kept_without(board, Queries()) == []
    found = leave_out(board, Queries(), tmp_path)
    assert [one.encoder for one in found] == ["bm25", "bow"]
    for one in found:
        assert 0 <= one.matches == one.labels <= made.size
        assert sorted(one.ranks.values()) == [1, 2]
    monkeypatch.setattr("retrieval.evaluation.robustness.left_out_encoder._computed", None)
    assert kept_without(board, Queries()) == found


def test_a_benchmark_of_the_same_content_has_ranks_of_its_own_runs(
    mined: Mining, made: Benchmark, tmp_path: Path
) -> None:
    leave_out(build_leaderboard(made, Pool.CANDIDATES), Queries(), tmp_path)
    twin = published(mined, "twin", tmp_path)
    assert twin.digest == made.digest
    board = build_leaderboard(twin, Pool.CANDIDATES)
    assert kept_without(board, Queries()) == []
    own = {run.pk for run in board.ordered}
    for one in leave_out(board, Queries(), tmp_path):
        assert one.ranks.keys() == one.values.keys() == own


def test_what_the_others_find_is_a_mining_of_theirs(mined: Mining, tmp_path: Path) -> None:
    alone = factories.mining(mined.queries, mined.snippets, encoders=["bow"], k=1)
    mining.perform_mining(alone, tmp_path)
    expected = {row.query_id: {row.pair.snippet_id} for row in alone.candidates.select_related("pair")}
    assert found_without(mined, "bm25", tmp_path) == expected


def test_labels_that_one_encoder_alone_brought_are_gone(
    made: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrieval.evaluation.robustness.left_out_encoder.found_without", lambda *_: {})
    (first, _) = leave_out(build_leaderboard(made, Pool.CANDIDATES), Queries(), tmp_path)
    assert (first.labels, first.matches) == (0, 0)
    assert set(first.values.values()) == {None}


def candidates(of: Mining) -> set[tuple[int, int]]:
    return set(of.candidates.values_list("query_id", "pair__snippet_id"))


def lost(made: Benchmark, encoder: str, vectors: Path) -> set[tuple[int, int]]:
    """Ids of texts of the candidates that only `encoder` brought."""
    content = content_of(made)
    return {
        (content.queries[number], content.snippets[place])
        for number, places in brought_alone(content, encoder, vectors)
        for place in places
    }


def test_every_mining_of_an_extended_build_is_mined_again(mined: Mining, tmp_path: Path) -> None:
    """The extension goes deeper by one encoder: without it only the first mining's other one is left."""
    deeper = factories.mining(mined.queries, mined.snippets, encoders=["bow"], k=3)
    mining.perform_mining(deeper, tmp_path)
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {})
    for candidate in deeper.candidates.all():
        Label.objects.create(pair=candidate.pair, annotator=by, value=1)
    made = publish_benchmark(
        Order("deep", mined.queries, mined.snippets, "", mined, [deeper]), Label.objects.all()
    )
    alone = factories.mining(mined.queries, mined.snippets, encoders=["bm25"], k=1)
    mining.perform_mining(alone, tmp_path)
    everything = candidates(mined) | candidates(deeper)
    assert encoders_of(made) == ["bm25", "bow"]
    assert lost(made, "bow", tmp_path) == everything - candidates(alone)
    other = factories.mining(mined.queries, mined.snippets, encoders=["bow"], k=1)
    mining.perform_mining(other, tmp_path)
    assert lost(made, "bm25", tmp_path) == everything - candidates(deeper) - candidates(other)


def test_minings_by_one_encoder_each_are_several(mined: Mining, tmp_path: Path) -> None:
    minings = [
        factories.mining(mined.queries, mined.snippets, encoders=[one], k=2) for one in ("bm25", "bow")
    ]
    for one in minings:
        mining.perform_mining(one, tmp_path)
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "small", {})
    Label.objects.create(pair=minings[0].candidates.all()[0].pair, annotator=by, value=1)
    order = Order("two", mined.queries, mined.snippets, "", minings[0], minings[1:])
    made = publish_benchmark(order, Label.objects.all())
    assert encoders_of(made) == ["bm25", "bow"]
    assert lost(made, "bm25", tmp_path) == candidates(minings[0]) - candidates(minings[1])


def test_other_weights_than_it_was_mined_by_are_not_taken_for_them(
    mined: Mining, made: Benchmark, tmp_path: Path
) -> None:
    noted = Mining.objects.filter(pk=mined.pk)
    noted.update(identities={**(mined.identities or {}), "bow": "bow of another day"})
    with pytest.raises(NothingToLeaveOut, match=r"of bow than are here \(bow of another day, not bow\)"):
        list(brought_alone(content_of(Benchmark.objects.get(pk=made.pk)), "bm25", tmp_path))
    noted.update(identities=None)
    with pytest.raises(NothingToLeaveOut, match="does not say which weights"):
        list(brought_alone(content_of(Benchmark.objects.get(pk=made.pk)), "bm25", tmp_path))


def test_one_encoder_or_no_mining_leave_nothing(labelled: Order, tmp_path: Path) -> None:
    plain = publish_benchmark(labelled, Label.objects.all())
    assert Collection.objects.count() == 2
    with pytest.raises(NothingToLeaveOut, match="not mined by several"):
        leave_out(build_leaderboard(plain, Pool.COLLECTION), Queries(), tmp_path)
