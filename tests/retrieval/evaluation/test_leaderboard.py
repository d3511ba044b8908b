"""Runs side by side: order, differences, filters, and what makes a comparison unfair."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from retrieval.evaluation.content import Content, content_of
from retrieval.evaluation.leaderboard import RANGES, build_leaderboard, precompute_leaderboards
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.evaluation.runs.system_run import evaluate_file, evaluate_system
from retrieval.evaluation.systems.search import Search, find_system
from retrieval.metrics.names import parse_measures
from retrieval.models import Benchmark, KeptFigures, Label, Pool, Run, Score
from tests import factories


@pytest.fixture
def content(benchmark_: Benchmark) -> Content:
    return content_of(benchmark_)


def run(content: Content, folder: Path, name: str, *lists: tuple[int, ...], names: str = "mrr") -> Run:
    """A run file with the snippets of query 0, 1 …"""
    lines = [
        f"queries-{query} Q0 snippets-{snippet} {rank} {-rank} me\n"
        for query, of_query in enumerate(lists)
        for rank, snippet in enumerate(of_query, 1)
    ]
    path = folder / name
    path.write_text("".join(lines))
    return evaluate_file(path, name, content, Pool.COLLECTION, parse_measures(names.split(","))).run


def test_the_best_comes_first_and_each_is_set_against_the_next(content: Content, tmp_path: Path) -> None:
    worse = run(content, tmp_path, "worse", (1, 0), (0, 1))
    better = run(content, tmp_path, "better", (0, 1), (1, 0))
    board = build_leaderboard(content.benchmark, Pool.COLLECTION)
    assert [one.run for one in board.standings] == [better, worse]
    (apart,) = board.differences
    assert (apart.better, apart.other) == (better, worse)
    assert apart.value == pytest.approx(0.5)
    assert apart.interval.low == apart.interval.high == pytest.approx(0.5)
    assert 0.4 < apart.p < 0.6  # two queries can't show more
    assert board.queries == 2


def test_queries_are_chosen_by_their_number_of_matches(content: Content, tmp_path: Path) -> None:
    run(content, tmp_path, "mine", (1, 0), (1,))
    values = {}
    for fewest, most in ((1, None), (1, 1), (2, None), (5, None), (0, 0)):
        board = build_leaderboard(content.benchmark, Pool.COLLECTION, "mrr", fewest, most)
        values[fewest, most] = (board.queries, board.standings[0].figures["mrr"].value)
    assert values == {
        (1, None): (2, 0.75),
        (1, 1): (1, 1.0),
        (2, None): (1, 0.5),
        (5, None): (0, None),
        (0, 0): (0, None),
    }


def test_the_newest_run_of_a_system_stands_for_it(content: Content, tmp_path: Path) -> None:
    run(content, tmp_path, "mine", (1, 0))
    second = run(content, tmp_path, "mine", (0, 1))
    assert [one.run for one in build_leaderboard(content.benchmark, Pool.COLLECTION).standings] == [second]


def test_lists_that_come_again_stand_for_their_system_again(content: Content, tmp_path: Path) -> None:
    first = run(content, tmp_path, "mine", (1, 0))
    run(content, tmp_path, "mine", (0, 1))
    assert run(content, tmp_path, "mine", (1, 0)) == first
    (found,) = (one.run for one in build_leaderboard(content.benchmark, Pool.COLLECTION).standings)
    assert (found, found.created_at) == (first, first.created_at)
    assert found.scored_at > first.scored_at


def test_a_run_without_the_metric_comes_last_and_is_in_no_difference(
    content: Content, tmp_path: Path
) -> None:
    asked = run(content, tmp_path, "asked", (1, 0), names="mrr,map")
    other = run(content, tmp_path, "other", (0, 1), names="mrr")
    board = build_leaderboard(content.benchmark, Pool.COLLECTION, "map")
    assert [one.run for one in board.standings] == [asked, other]
    assert board.metric == "map"
    assert not board.differences
    assert build_leaderboard(content.benchmark, Pool.COLLECTION, "nonsense").metric == "mrr"


def test_runs_of_another_pool_are_not_beside_them(content: Content, tmp_path: Path) -> None:
    run(content, tmp_path, "mine", (1, 0))
    board = build_leaderboard(content.benchmark, Pool.CANDIDATES)
    assert (board.standings, board.metric, board.queries) == ([], "", 2)


def test_who_has_fewer_judged_results_is_marked(content: Content, tmp_path: Path) -> None:
    run(content, tmp_path, "judged", (0, 1), (1,))
    run(content, tmp_path, "unjudged", (3, 0), (0, 1))
    found = build_leaderboard(content.benchmark, Pool.COLLECTION).standings
    assert {one.run.system: one.less_judged for one in found} == {"judged": False, "unjudged": True}


def test_who_helped_to_mine_is_marked(labelled: Order, tmp_path: Path) -> None:
    mining = factories.mining(labelled.queries, labelled.snippets, encoders=["bm25"])
    made = publish_benchmark(
        Order("small", labelled.queries, labelled.snippets, "", mining), Label.objects.all()
    )
    for name in ("bm25", "bow"):
        how = Search("whole", None, tmp_path)
        evaluate_system(find_system(name), content_of(made), Pool.COLLECTION, how, parse_measures(["mrr"]))
    found = build_leaderboard(made, Pool.COLLECTION).standings
    assert {one.run.system: one.helped_to_mine for one in found} == {"bm25": True, "bow": False}


def test_who_helped_an_extension_to_mine_is_marked_too(labelled: Order, tmp_path: Path) -> None:
    minings = [
        factories.mining(labelled.queries, labelled.snippets, encoders=[name]) for name in ("bm25", "bow")
    ]
    order = replace(labelled, mining=minings[0], further=minings[1:], searched=Pool.COLLECTION)
    made = content_of(publish_benchmark(order, Label.objects.all()))
    run(made, tmp_path, "bow", (0, 1), (1,))
    run(made, tmp_path, "mine+bm25", (0, 1), (1,))
    run(made, tmp_path, "mine", (0, 1), (1,))
    run(made, tmp_path, "endpoint:small+bm25", (0, 1), (1,))
    run(made, tmp_path, "codebert:+bow-it", (0, 1), (1,))
    found = build_leaderboard(made.benchmark, Pool.COLLECTION).standings
    marked = {one.run.system: one.helped_to_mine for one in found}
    helped = {"bow": True, "mine+bm25": True, "endpoint:small+bm25": True}
    assert marked == {**helped, "mine": False, "codebert:+bow-it": False}


def test_figures_are_computed_once(content: Content, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, lists in (("good", ((0, 1), (1, 0))), ("bad", ((1, 0), (0, 1)))):
        run(content, tmp_path, name, *lists)
    first = build_leaderboard(content.benchmark, Pool.COLLECTION)
    assert KeptFigures.objects.count() == 3  # one of each run, and the differences
    for named in ("_figures", "_apart"):
        monkeypatch.setattr(f"retrieval.evaluation.leaderboard.{named}", None)
    again = build_leaderboard(content.benchmark, Pool.COLLECTION)
    assert (again.standings, again.differences) == (first.standings, first.differences)


def test_a_new_run_is_computed_and_the_others_are_not(content: Content, tmp_path: Path) -> None:
    run(content, tmp_path, "one", (0, 1), (1, 0))
    build_leaderboard(content.benchmark, Pool.COLLECTION)
    kept = set(KeptFigures.objects.values_list("pk", flat=True))
    run(content, tmp_path, "two", (1, 0), (0, 1))
    assert len(build_leaderboard(content.benchmark, Pool.COLLECTION).standings) == 2
    assert kept < set(KeptFigures.objects.values_list("pk", flat=True))


def test_systems_with_the_same_scores_are_both_kept(
    content: Content, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "its twin"):
        run(content, tmp_path, name, (0, 1), (1, 0))
    first = build_leaderboard(content.benchmark, Pool.COLLECTION)
    monkeypatch.setattr("retrieval.evaluation.leaderboard._figures", None)
    again = build_leaderboard(content.benchmark, Pool.COLLECTION, wait=False)
    assert len(again.standings) == 2
    assert again.standings == first.standings


def test_other_scores_other_queries_and_other_code_are_computed_again(
    content: Content, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(content, tmp_path, "mine", (1, 0), (1,))
    assert _mean(content) == 0.75
    assert (
        build_leaderboard(content.benchmark, Pool.COLLECTION, "", 2).standings[0].figures["mrr"].value == 0.5
    )
    score = Score.objects.get()
    score.values, score.digest = bytes(score.judged), "f" * 64
    score.save()
    assert _mean(content) == 1.0
    monkeypatch.setattr("retrieval.evaluation.leaderboard.code_version", lambda: "other")
    assert _mean(content) == 1.0
    assert set(KeptFigures.objects.values_list("code_version", flat=True)) == {"other"}


def test_scores_from_before_they_had_a_hash_go_by_their_row(content: Content, tmp_path: Path) -> None:
    run(content, tmp_path, "mine", (1, 0), (1,))
    Score.objects.update(digest="")
    assert _mean(content) == _mean(content) == 0.75


def _mean(content: Content) -> float | None:
    return build_leaderboard(content.benchmark, Pool.COLLECTION).standings[0].figures["mrr"].value


def test_what_pages_show_is_kept_beforehand(
    content: Content, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, lists in (("worse", ((1, 0), (0, 1))), ("better", ((0, 1), (1, 0)))):
        run(content, tmp_path, name, *lists, names="mrr,recall@1")
    ticks: list[int] = []
    precompute_leaderboards(content.benchmark, Pool.COLLECTION, lambda: ticks.append(1))
    assert len(ticks) == 2 + len(RANGES) - 1
    monkeypatch.setattr("retrieval.evaluation.leaderboard.compute_mean_figures", None)
    monkeypatch.setattr("retrieval.evaluation.leaderboard.neighbours_apart", None)
    for fewest, most in RANGES:
        build_leaderboard(content.benchmark, Pool.COLLECTION, "", fewest, most)
    for metric in ("mrr", "recall@1"):
        build_leaderboard(content.benchmark, Pool.COLLECTION, metric)


def test_a_page_waits_for_no_large_leaderboard(
    content: Content, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(content, tmp_path, "worse", (1, 0), (0, 1))
    run(content, tmp_path, "better", (0, 1), (1, 0))
    monkeypatch.setattr("retrieval.evaluation.leaderboard.MOST_AT_ONCE", 3)
    page = build_leaderboard(content.benchmark, Pool.COLLECTION, wait=False)
    assert (page.unmeasured, page.differences, KeptFigures.objects.count()) == (True, [], 0)
    assert [one.figures["mrr"].interval for one in page.standings] == [None, None]
    whole = build_leaderboard(content.benchmark, Pool.COLLECTION)
    assert [one.figures["mrr"].value for one in whole.standings] == [
        one.figures["mrr"].value for one in page.standings
    ]
    kept = build_leaderboard(content.benchmark, Pool.COLLECTION, wait=False)
    assert (kept.unmeasured, kept.differences) == (False, whole.differences)
    assert kept.standings[0].figures["mrr"].interval is not None
