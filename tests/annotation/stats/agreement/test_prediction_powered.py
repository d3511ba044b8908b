"""From a sample to all labels of a build."""

from __future__ import annotations

import random
from statistics import fmean

import numpy as np
import pytest

from annotation.schemas.studies.studies import SampleWish, Stratifier
from annotation.stats.agreement.prediction_powered import Stratum, Whole, estimate_whole_build
from annotation.stats.agreement.sample import Draws, Sample
from annotation.studies.sampling.draw import draw_sample
from annotation.studies.sampling.frame import Unit


def told(labels: list[float], truth: list[float], strata: list[int], build: tuple[Stratum, ...]) -> Whole:
    sample = Sample.of(np.arange(len(labels)), strata=strata)
    return estimate_whole_build(sample, Draws.of(sample), "agent", np.array(labels), np.array(truth), build)


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
    assert found.error.value is None and found.error.high is None, "no wrong label, but of one stratum alone"
    assert found.plain_error.value is None and "stratum" in found.plain_error.words


def test_no_error_shows_the_rule_of_three() -> None:
    found = told([1.0, 0] * 50, [1.0, 0] * 50, [0] * 100, (Stratum(0, 1000, 500),))
    assert found.error.value == 0 and found.error.high == pytest.approx(0.037, abs=1e-3)
    assert "none in 100" in found.error.words


def test_pairs_without_label_or_reference_are_not_judged() -> None:
    nan = float("nan")
    found = told([1, nan, 0, 1], [1, 1, nan, 0], [0] * 4, (Stratum(0, 100, 100),))
    assert found.judged == 2


def test_pairs_that_were_less_likely_to_come_in_stand_for_more() -> None:
    """One pair of chance 0.1 is wrong, three of chance 0.5 are right: 10 ÷ (10 + 3 · 2)."""
    sample = Sample.of(np.arange(4), [0.1, 0.5, 0.5, 0.5])
    found = estimate_whole_build(
        sample, Draws.of(sample), "agent", np.zeros(4), np.array([1.0, 0, 0, 0]), (Stratum(0, 9, 0),)
    )
    assert found.error.value == pytest.approx(0.625)


def test_one_pair_a_query_by_strata_tells_of_all_pairs() -> None:
    """Where labels of queries with few pairs are wrong, a plain mean of one pair a query is far too high."""
    chance = random.Random(3)
    sizes = [chance.randint(1, 12) for _ in range(400)]
    units = [
        Unit(query, 100 * query + place, None, name, None, int(name == "match"))
        for query, size in enumerate(sizes)
        for place in range(size)
        for name in ["match" if chance.random() < 0.3 else "no match"]
    ]
    wrong = {unit.pair: float(sizes[unit.query] <= 4) for unit in units}
    shares = {"weighted": list[float](), "plain": list[float]()}
    for seed in range(60):
        drawn = draw_sample(sorted(units), SampleWish(size=150, seed=seed, strata=(Stratifier.LABEL,)))
        build = tuple(Stratum(place, one.labelled, one.matches) for place, one in enumerate(drawn.strata))
        rows = [one.unit for one in drawn.drawn]
        names = [one.name for one in drawn.strata]
        strata = [names.index(unit.stratum) for unit in rows]
        sample = Sample.of([unit.query for unit in rows], [one.probability for one in drawn.drawn], strata)
        labels = np.array([float(unit.label or 0) for unit in rows])
        truth = np.array([abs((unit.label or 0) - wrong[unit.pair]) for unit in rows])
        error = estimate_whole_build(sample, Draws.of(sample), "agent", labels, truth, build).error.value
        assert error is not None
        shares["weighted"].append(error)
        shares["plain"].append(fmean(wrong[unit.pair] for unit in rows))
    true = fmean(wrong.values())
    assert fmean(shares["weighted"]) == pytest.approx(true, abs=0.015)
    assert fmean(shares["plain"]) > true + 0.1
