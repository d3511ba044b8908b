"""From a sample to all labels of a build."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.agreement import Draws, Sample, Stratum
from annotation.agreement.whole import Whole, whole


def told(labels: list[float], truth: list[float], strata: list[int], build: tuple[Stratum, ...]) -> Whole:
    sample = Sample.of(np.arange(len(labels)), strata=strata)
    return whole(sample, Draws.of(sample), "agent", np.array(labels), np.array(truth), build)


def test_the_plain_error_weighs_strata_by_their_size() -> None:
    """Stratum 0 (900 pairs): 1 of 4 wrong; stratum 1 (100): 2 of 4. 0.9 · 0.25 + 0.1 · 0.5."""
    found = told(
        [0, 0, 0, 0, 1, 1, 1, 1],
        [0, 0, 0, 1, 1, 1, 0, 0],
        [0] * 4 + [1] * 4,
        (Stratum(0, 900, 0), Stratum(1, 100, 100)),
    )
    assert found.plain_error.value == found.error.value == pytest.approx(0.275)
    assert (found.pairs, found.judged) == (1000, 8)


def test_labels_of_all_pairs_move_the_estimate_as_far_as_they_say_something() -> None:
    """All errors are on label 1: 2 of 4 wrong there, 0 of 4 on label 0. The build has 10 % ones, the sample
    half: 0.1 · 0.5, where the plain mean says 0.25. The true share of matches: 0.1 · 0.5 as well.
    """
    found = told([1, 1, 1, 1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0, 0], [0] * 8, (Stratum(0, 1000, 100),))
    assert found.error.value == pytest.approx(0.05)
    assert found.plain_error.value == pytest.approx(0.25)
    assert found.prevalence.value == pytest.approx(0.05)


def test_a_stratum_without_a_judged_pair_leaves_everything_unknown() -> None:
    found = told([1, 0], [1, 0], [0, 0], (Stratum(0, 10, 5), Stratum(1, 10, 5)))
    assert found.prevalence.value is None and "stratum" in found.prevalence.words


def test_no_error_shows_the_rule_of_three() -> None:
    found = told([1.0, 0] * 50, [1.0, 0] * 50, [0] * 100, (Stratum(0, 1000, 500),))
    assert found.error.value == 0 and found.error.high == pytest.approx(0.037, abs=1e-3)
    assert "none in 100" in found.error.words


def test_pairs_without_label_or_reference_are_not_judged() -> None:
    nan = float("nan")
    found = told([1, nan, 0, 1], [1, 1, nan, 0], [0] * 4, (Stratum(0, 100, 100),))
    assert found.judged == 2
