"""A strict majority, and how far raters agree."""

from __future__ import annotations

import pytest

from annotation.studies.quorum import agreement, majority


@pytest.mark.parametrize(
    ("votes", "value", "share"),
    [
        ((1, 1, 0), 1, 1 / 3),
        ((1, 1, 0, 0), None, 1 / 3),
        ((1, 0, None), None, 0.0),
        ((1, 1, None, None), None, 1 / 6),
        ((1, 1, 1, None), 1, 1 / 2),
        ((None, None, None), None, 0.0),
        ((2, 1, 0), None, 0.0),
        ((0, 0), 0, 1.0),
        ((), None, 1.0),
    ],
)
def test_a_strict_majority_is_of_all_raters(
    votes: tuple[int | None, ...], value: int | None, share: float
) -> None:
    assert majority(votes) == value
    assert agreement(votes) == pytest.approx(share)


@pytest.mark.parametrize(
    ("votes", "value"),
    [
        ((1, 1), 1),  # the third was excluded: two of three planned
        ((1,), None),  # one of three planned
        ((1, 1, 0, 0), None),  # one more was asked: two of four
        ((1, 1, None, 0), 1),  # two of three values, and of three planned
        ((1, None, None, 1), 1),
        ((1, 0, None, None), None),
    ],
)
def test_it_is_held_against_the_planned_quorum_or_against_more_values(
    votes: tuple[int | None, ...], value: int | None
) -> None:
    assert majority(votes, 3) == value
