"""Majorities of the planned quorum, the others of each rater, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.stats.agreement.labels import (
    BadLabels,
    Labels,
    blind_truth,
    majority_labels,
    other_raters_majority,
)
from tests.ratings import annotator, people, table

NAN = float("nan")


def same(found: object, expected: list[object]) -> None:
    np.testing.assert_array_equal(np.asarray(found), np.array(expected, dtype=float))


def test_a_majority_is_more_than_half_of_the_planned_quorum() -> None:
    """Of three planned: 11* has two; 1** has one, 10* is split; 00* has two again."""
    same(majority_labels(people("1110", "1*00", "****", quorum=3)), [1, NAN, NAN, 0])


def test_more_labels_than_planned_need_more_than_half_of_themselves() -> None:
    same(majority_labels(people("11", "11", "00", "01", quorum=3)), [NAN, 1])


def test_the_others_of_each_rater_count_half_where_they_are_split() -> None:
    same(other_raters_majority(people("10", "1*", "00")), [[0.5, 0.5, 1], [0, NAN, 0]])


def test_who_is_alone_has_no_others() -> None:
    same(other_raters_majority(people("1", "*", "*")), [[NAN, NAN, NAN]])


def test_a_split_is_no_truth() -> None:
    same(blind_truth(people("1", "1", "0")), [[NAN, NAN, 1]])


def test_a_scale_becomes_match_or_not_and_none_stays_none() -> None:
    same(Labels.of_annotator("it", [0, 1, 2, NAN]).matches(2).values[:, 0], [0, 0, 1, NAN])


def test_an_annotator_skipped_what_it_could_not_judge_and_a_rater_only_what_was_asked() -> None:
    assert annotator("1*0").skipped[:, 0].tolist() == [False, True, False]
    assert not people("1*", "**").skipped.any()


def test_a_label_is_never_a_skip() -> None:
    asked = Labels.of_people("it", table("1*"), skipped=[[True], [True]])
    assert asked.skipped[:, 0].tolist() == [False, True]


@pytest.mark.parametrize(
    ("raters", "why"), [(("one",), "1 names for 2 raters"), (("one", "one"), "two raters have one name")]
)
def test_raters_that_do_not_fit_are_refused(raters: tuple[str, ...], why: str) -> None:
    with pytest.raises(BadLabels, match=why):
        Labels.of_people("it", table("1", "0"), raters=raters)


def test_labels_are_pairs_by_raters() -> None:
    with pytest.raises(BadLabels, match="pairs × raters"):
        Labels("it", np.zeros(3), ("R1",), np.zeros(3, dtype=bool))
