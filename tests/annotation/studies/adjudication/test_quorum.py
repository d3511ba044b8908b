"""A strict majority, and how far raters agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.models import Study
from annotation.stats.agreement.labels import Labels, majority_labels
from annotation.studies.adjudication.quorum import MATCH_AT, majority_vote, settle_votes, vote_agreement

Scale = Study.Scale


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
    assert majority_vote(votes) == value
    assert vote_agreement(votes) == pytest.approx(share)


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
    assert majority_vote(votes, 3) == value


@pytest.mark.parametrize(
    ("scale", "votes", "value"),
    [
        (Scale.STEPS, (2, 1, 0), 0),  # two of three: no exact match
        (Scale.STEPS, (2, 1, 1), 1),
        (Scale.STEPS, (2, 2, 0), 2),
        (Scale.STEPS, (1, 0, None), 0),
        (Scale.STEPS, (2, 1, None), None),
        (Scale.GRADED, (3, 2, 0), 2),  # two of three: a match, and the lower of their grades
        (Scale.GRADED, (3, 3, 0), 3),
        (Scale.GRADED, (1, 1, 3), 1),
        (Scale.BINARY, (1, 1, 0), 1),
        (Scale.BINARY, (1, 0, None), None),
        (Scale.PREFERENCE, (1, 0, -1), None),  # a tie is no vote against the first
        (Scale.PREFERENCE, (-1, -1, 1), -1),
    ],
)
def test_match_or_not_decides_and_the_value_is_of_that_side(
    scale: str, votes: tuple[int | None, ...], value: int | None
) -> None:
    assert settle_votes(votes, scale, 3) == value


@given(
    st.sampled_from([Scale.BINARY, Scale.STEPS, Scale.GRADED]),
    st.lists(st.sampled_from([0, 1, 2, 3, None]), min_size=1, max_size=6),
    st.integers(1, 5),
)
def test_figures_and_published_labels_have_one_rule(scale: str, votes: list[int | None], quorum: int) -> None:
    """The reference of the figures is 1, 0 or open just where what is published is."""
    values = np.array([[np.nan if vote is None else float(vote) for vote in votes]])
    reference = majority_labels(Labels.of_people("it", values, quorum).matches(MATCH_AT[scale]))[0]
    value = settle_votes(votes, scale, quorum)
    assert (value is None) == bool(np.isnan(reference))
    assert value is None or (value in votes and (value >= MATCH_AT[scale]) == bool(reference))


@given(st.lists(st.sampled_from([0, 1, 2, 3, None]), min_size=1, max_size=6))
def test_a_value_that_most_gave_stands(votes: list[int | None]) -> None:
    most = majority_vote(votes, 3)
    assert most is None or settle_votes(votes, Scale.GRADED, 3) == most
