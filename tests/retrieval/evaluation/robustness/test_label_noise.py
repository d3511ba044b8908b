"""Label noise: what is flipped, who stays above whom, and when nothing is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from retrieval.evaluation.content import Content, content_of
from retrieval.evaluation.judged_pairs import JudgedPairs, ranks_in
from retrieval.evaluation.leaderboard import Queries, build_leaderboard, digests_of
from retrieval.evaluation.robustness.label_noise import (
    ASSUMED,
    ErrorRates,
    Noise,
    drawn_means,
    noise_of,
)
from retrieval.evaluation.runs.system_run import evaluate_file
from retrieval.metrics.from_ranks import Ranked, per_query
from retrieval.metrics.names import parse_measures
from retrieval.metrics.resampling import RANKING_SEED, SIMULATED_DRAWS
from retrieval.models import Benchmark, KeptFigures, Pool, Run


@pytest.fixture
def content(benchmark_: Benchmark) -> Content:
    return content_of(benchmark_)


@pytest.fixture
def runs(content: Content, tmp_path: Path) -> list[Run]:
    """The good one has all matches first, the bad one none."""
    lists = {"good": ((0, 2), (1,)), "bad": ((1, 3), (0,))}
    for name, of in lists.items():
        path = tmp_path / name
        path.write_text(
            "".join(
                f"queries-{query} Q0 snippets-{snippet} {rank} {-rank} me\n"
                for query, snippets in enumerate(of)
                for rank, snippet in enumerate(snippets, 1)
            )
        )
        evaluate_file(path, name, content, Pool.COLLECTION, parse_measures(["mrr", "ndcg_within"]))
    return build_leaderboard(content.benchmark, Pool.COLLECTION, "mrr").ordered


def drawn(content: Content, runs: list[Run], rates: ErrorRates, metric: str = "mrr") -> Noise | None:
    return noise_of(content.benchmark, runs, digests_of(runs), metric, Queries(), rates)


def test_ranks_are_those_of_the_lists(content: Content, runs: list[Run]) -> None:
    pairs = JudgedPairs.of(content)
    assert pairs.query.tolist() == [0, 0, 0, 1, 2]
    assert pairs.place.tolist() == [0, 1, 2, 1, 3]
    good = pairs.ranked(runs[0])
    assert dict(zip(good.order.tolist(), good.rank.tolist(), strict=True))[2] == 2
    dropped = pairs.ranked(runs[0], {0: np.array([0])})
    assert dict(zip(dropped.order.tolist(), dropped.rank.tolist(), strict=True))[2] == 1


def test_a_list_without_the_place_has_no_rank() -> None:
    assert ranks_in(np.array([7, 3], dtype=np.uint32), np.array([3, 5, 7])).tolist() == [2, 0, 1]
    assert ranks_in(np.array([], dtype=np.uint32), np.array([3])).tolist() == [0]


def test_without_errors_nothing_changes(content: Content, runs: list[Run]) -> None:
    found = drawn(content, runs, ErrorRates(0, 0, "none"))
    assert found is not None
    assert (found.above, found.ranks, found.draws) == ([1.0], [(1, 1), (2, 2)], SIMULATED_DRAWS)


def test_when_every_label_is_wrong_the_order_is_the_other_one(content: Content, runs: list[Run]) -> None:
    found = drawn(content, runs, ErrorRates(1, 1, "all"))
    assert found is not None
    assert found.above == [0.0]
    assert found.ranks == [(2, 2), (1, 1)]


def test_the_same_seed_gives_the_same_draws_and_they_are_kept(
    content: Content, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = drawn(content, runs, ASSUMED)
    assert first is not None
    assert 0.5 < first.above[0] <= 1.0
    monkeypatch.setattr("retrieval.evaluation.robustness.label_noise.simulate_label_noise", None)
    assert drawn(content, runs, ASSUMED) == first


def test_means_are_over_queries_that_have_a_match_in_the_draw(content: Content, runs: list[Run]) -> None:
    pairs = JudgedPairs.of(content)
    ranked = [pairs.ranked(run) for run in runs]
    everything = np.array([True, True, False])
    means = drawn_means(pairs.relevance, ranked, "mrr", everything, ErrorRates(1, 0, ""), draws=2)
    assert means.tolist() == [[0.0, 0.0], [0.0, 0.0]]  # no match is left: nothing to be measured by


def test_nothing_is_said_of_one_run_or_of_a_metric_that_ranks_do_not_decide(
    content: Content, runs: list[Run]
) -> None:
    assert drawn(content, runs[:1], ASSUMED) is None
    assert drawn(content, runs, ASSUMED, "ndcg_within") is None


def test_a_page_does_not_wait_for_many_labels(
    content: Content, runs: list[Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("retrieval.evaluation.robustness.label_noise.MOST_AT_ONCE", 1)
    assert drawn(content, runs, ASSUMED) is None
    kept = KeptFigures.objects.count()
    waited = noise_of(content.benchmark, runs, digests_of(runs), "mrr", Queries(), ASSUMED, wait=True)
    assert waited == drawn(content, runs, ASSUMED)
    assert KeptFigures.objects.count() == kept + 1


def test_no_error_among_few_labels_leaves_the_order_open(content: Content, runs: list[Run]) -> None:
    point, few, many = (drawn(content, runs, ErrorRates(0, 0, "a study", of, of)) for of in (0, 2, 1_000_000))
    assert point and few and many
    assert (point.above, many.above) == ([1.0], [1.0])
    assert 0.7 < few.above[0] < 1.0
    assert drawn(content, runs, ErrorRates(0, 0, "a study", 2, 2)) == few


def test_shares_are_drawn_by_jeffreys_and_given_ones_stay() -> None:
    """Beta(a, b) has mean a / (a + b) and variance mean (1 - mean) / (a + b + 1)."""
    random = np.random.default_rng(1)
    rates = ErrorRates(0.0, 1 / 3, "", 9, 3)
    pairs = np.array([rates.drawn(random) for _ in range(20_000)])
    for column, (wrong, right) in enumerate(((0.5, 9.5), (1.5, 2.5))):
        mean, of = wrong / (wrong + right), wrong + right
        assert pairs[:, column].mean() == pytest.approx(mean, abs=0.005)
        assert pairs[:, column].var() == pytest.approx(mean * (1 - mean) / (of + 1), rel=0.05)
    assert {ErrorRates(0.061, 0.5, "", 0, 0).drawn(random) for _ in range(5)} == {(0.061, 0.5)}


def test_shares_that_are_given_flip_the_same_labels_as_before() -> None:
    """Nothing is drawn of them, so pins of them stay what they are."""
    relevance = np.array([1.0, 1.0, 0.0, 0.0])
    ranked = Ranked.of(np.zeros(4, dtype=np.int64), np.arange(1, 5), 1)
    random = np.random.default_rng(RANKING_SEED)
    expected = []
    for _ in range(5):
        flipped = np.where(random.random(4) < np.array([0.3, 0.3, 0.1, 0.1]), 1 - relevance, relevance)
        expected.append(float(np.nan_to_num(per_query("mrr", ranked, flipped)).mean()))
    rates = ErrorRates(0.3, 0.1, "")
    means = drawn_means(relevance, [ranked], "mrr", np.array([True]), rates, draws=5)
    assert means.tolist() == [expected]


def test_shares_lie_between_0_and_1() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        ErrorRates(1.5, 0, "")
    with pytest.raises(ValueError, match="a number of labels"):
        ErrorRates(0.5, 0, "", -1)
