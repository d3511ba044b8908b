"""Neural Code Search's measures from ranks of first answers."""

import pytest

from retrieval.metrics.ncs import (
    count_answered_questions,
    first_rank,
    mean_reciprocal_rank,
    summarize_first_ranks,
)


def test_frank_is_the_rank_of_the_first_answer() -> None:
    assert first_rank([False, True, True]) == 2
    assert first_rank([False]) is None
    assert first_rank([]) is None


def test_summary_written_out() -> None:
    found = summarize_first_ranks([1, None, 5, 6, 11])
    assert found.answered == {1: 1, 5: 2, 10: 3}
    assert found.mrr == pytest.approx((1 + 0 + 1 / 5 + 1 / 6 + 1 / 11) / 5)
    assert found.questions == 5


def test_no_questions_have_no_mean() -> None:
    assert mean_reciprocal_rank([]) is None
    assert count_answered_questions([], 10) == 0
