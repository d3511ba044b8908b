"""A query's own snippet among its distractors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.metrics.distractors import (
    POOL,
    draw_distractors,
    reciprocal_rank_among,
    reciprocal_rank_in_list,
)


@pytest.mark.parametrize(
    ("own", "distractors", "rank"),
    [(0.9, [0.1, 0.8], 1), (0.5, [0.9, 0.1, 0.6], 3), (0.5, [0.5, 0.1], 2), (0.5, [], 1)],
)
def test_rank(own: float, distractors: list[float], rank: int) -> None:
    assert reciprocal_rank_among(own, distractors) == 1 / rank


def test_a_model_that_cannot_tell_snippets_apart_comes_last() -> None:
    assert reciprocal_rank_among(0.0, [0.0] * (POOL - 1)) == 1 / 1000


def test_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        reciprocal_rank_among(float("nan"), [0.0])


def test_distractors_are_no_matches_differ_and_are_as_many_as_the_paper_has() -> None:
    matches = {3, 17, 4_711}
    chosen = draw_distractors(100_000, matches, 5, 2)
    assert len(set(chosen.tolist())) == len(chosen) == POOL - 1
    assert not matches & set(chosen.tolist())
    assert chosen.tolist() == draw_distractors(100_000, matches, 5, 2).tolist()
    assert chosen.tolist() != draw_distractors(100_000, matches, 6, 2).tolist()
    assert chosen.tolist() != draw_distractors(100_000, matches, 5, 3).tolist()


def test_of_a_small_collection_all_others_are_distractors() -> None:
    assert sorted(draw_distractors(5, {1}, 0, 0).tolist()) == [0, 2, 3, 4]


@given(st.integers(0, 99))
def test_another_match_changes_one_distractor(match: int) -> None:
    before, after = draw_distractors(1_500, set(), 1, 1), draw_distractors(1_500, {match}, 1, 1)
    assert len(set(before.tolist()) - set(after.tolist())) <= 1


@pytest.mark.parametrize(
    ("hits", "chosen", "value"),
    [
        ([False, True], [True, False], 1 / 2),
        ([False, False, True], [False, True, False], 1 / 2),
        ([True], [False], 1),
        ([False], [True], 1 / 1000),
        ([], [], 1 / 1000),
    ],
)
def test_rank_in_a_list(hits: list[bool], chosen: list[bool], value: float) -> None:
    assert reciprocal_rank_in_list(hits, chosen, 999, 1) == value


def test_a_query_without_a_match_has_no_rank_in_a_list() -> None:
    assert reciprocal_rank_in_list([False], [True], 999, 0) is None
