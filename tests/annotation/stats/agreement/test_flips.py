"""Flips between two labels by query: by hand, and whether their intervals hold."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

from annotation.stats.agreement.flips import figures_of
from annotation.stats.agreement.tango_interval import tango_lower_bound
from annotation.stats.intervals import Mean, Z, clopper_pearson, wilson_interval

STUDIES: Final = 400
Array = np.ndarray[Any, Any]


def test_figures_of_counts_that_can_be_done_by_hand() -> None:
    """Of 100 pairs 40 and 30 agree, 20 and 10 flip: p_o = 0.7, p_e = 0.6 · 0.5 + 0.4 · 0.5 = 0.5, κ = 0.4."""
    told = figures_of(np.array([[20, 20, 0, 10], [20, 0, 10, 20]]))

    values = {name: getattr(told, name).value for name in ("to_match", "to_no_match", "agreement", "shift")}
    assert values == pytest.approx({"to_match": 0.1, "to_no_match": 0.2, "agreement": 0.7, "shift": -0.1})
    assert told.kappa and told.kappa.value == pytest.approx(0.4)
    assert holds(told.to_match, 0.1) and holds(told.shift, -0.1)


def test_without_flips_the_interval_is_not_empty_and_kappa_of_one_value_is_undefined() -> None:
    told = figures_of(np.array([[3, 0, 0, 0], [2, 0, 0, 0]]))

    assert told.kappa is None
    assert told.to_match and (told.to_match.low, told.to_match.value) == (0, 0)
    assert told.to_match.high and told.to_match.high > 0.3
    assert told.shift and told.shift.low and told.shift.low < -0.3
    assert figures_of(np.zeros((0, 4), dtype=np.int64)).agreement is None


def test_one_query_counts_as_one_pair() -> None:
    told = figures_of(np.array([[3, 1, 0, 0]]))
    assert told.agreement and (told.agreement.low, told.agreement.high) == clopper_pearson(0.75, 1)
    assert told.shift and told.shift.value == -0.25
    assert (told.shift.low, told.shift.high) == (
        tango_lower_bound(0, 0.25, 1, Z),
        -tango_lower_bound(0.25, 0, 1, Z),
    )


def test_pairs_that_are_each_of_their_query_have_wilsons() -> None:
    told = figures_of(np.repeat([[1, 0, 0, 0], [0, 0, 1, 0]], [97, 3], axis=0))
    assert told.agreement and (told.agreement.low, told.agreement.high) == pytest.approx(
        wilson_interval(97, 100)
    )


def test_few_flips_are_held_as_often_as_intervals_say() -> None:
    """Of 40 queries of five pairs 2 % go to match: percentiles held that in 86 %, the shift in 81 %."""
    generator, held = np.random.default_rng(51), np.zeros(2)
    rates: Array = generator.beta(6 * 0.02, 6 * 0.98, (2, STUDIES, 40))
    for ups, downs in zip(*generator.binomial([[[3]], [[2]]], rates), strict=True):
        told = figures_of(np.column_stack([2 - downs, downs, ups, 3 - ups]))
        held += holds(told.to_match, 0.02 * 3 / 5), holds(told.shift, 0.02 / 5)
    assert (held / STUDIES >= 0.93).all(), held / STUDIES


def holds(found: Mean | None, value: float) -> bool:
    assert found and found.low is not None and found.high is not None
    return found.low <= value <= found.high
