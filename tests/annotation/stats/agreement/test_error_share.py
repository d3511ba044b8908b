"""Which labels are wrong, and how many labels drawn one by one would say as much."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.stats.agreement.error_share import Wrong, share_of, wrong_labels
from annotation.stats.agreement.page import Study
from annotation.stats.agreement.sample import Draws, Sample
from tests.ratings import annotator, each_its_query, people


def of(sample: Sample, wrong: str) -> Wrong:
    """Of labels of one kind, 1 where it is wrong."""
    found = np.array([float(mark) for mark in wrong])
    share = share_of(sample, Draws.of(sample), found, 1 - found)
    assert share
    return share


def test_the_rows_of_a_study_by_hand() -> None:
    """Of three 1s one is wrong, of two 0s one."""
    truth = ("11010",) * 3
    study = Study(each_its_query(5), (people(*truth),), (annotator("11100"),), "own tests")
    found = wrong_labels(study)
    assert set(found) == {"agent", "own tests", "always 0", "always 1"}
    assert (found["agent"].matches, found["agent"].others) == (Wrong(1 / 3, 3, 3), Wrong(1 / 2, 2, 2))
    assert found["always 0"].matches is None and found["always 1"].others is None


def test_labels_of_their_own_queries_count_for_one_each() -> None:
    assert of(each_its_query(40), "1000" * 10) == Wrong(0.25, 40, 40)
    assert of(each_its_query(9), "0" * 9) == Wrong(0, 9, 9)


def test_labels_of_one_query_that_are_wrong_together_count_for_one_query() -> None:
    """Forty queries of four labels each are as unsure as some forty labels."""
    sample = Sample.of(np.repeat(np.arange(40), 4))
    together, apart = of(sample, ("1111" + "0" * 12) * 10), of(sample, "1000" * 40)
    assert (together.share, together.of) == (0.25, 160)
    assert together.worth == pytest.approx(39, rel=0.1)
    assert apart.worth == 40, "no draw differs, so each query counts for one"


def test_none_wrong_counts_for_as_many_as_there_are_queries() -> None:
    assert of(Sample.of([1, 1, 1, 2, 2, 2]), "000000") == Wrong(0, 6, 2)


def test_pairs_count_by_their_inclusion_probability() -> None:
    """Weights 1 and 3: 3 of 8 parts are wrong; and the Kish size of (1 … 3 …) where none is, 8² ÷ 20."""
    sample = Sample.of(np.arange(4), [1, 1, 1 / 3, 1 / 3])
    assert of(sample, "0010").share == pytest.approx(3 / 8)
    assert of(sample, "0000").worth == pytest.approx(64 / 20)


@pytest.mark.parametrize("seed", range(3))
def test_shares_of_unequal_pairs_are_never_worth_more_than_there_are(seed: int) -> None:
    random = np.random.default_rng(seed)
    sample = Sample.of(random.integers(0, 12, 50), random.uniform(0.1, 1, 50))
    found = of(sample, "".join(map(str, random.integers(0, 2, 50))))
    assert 0 < found.worth <= found.of == 50


def test_nothing_of_a_kind_has_no_share() -> None:
    none = np.zeros(3)
    assert share_of(each_its_query(3), Draws.even(3), none, none) is None
