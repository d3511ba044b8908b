"""Rates of a pilot: found again where they are known, and refused where nothing follows."""

from __future__ import annotations

import numpy as np
import pytest

from annotation.stats.agreement.labels import Labels
from annotation.stats.agreement.sample import Sample
from annotation.stats.planning.pilot import (
    annotator_error_rate,
    from_pilot,
    intraclass_correlation,
    rater_error_rate,
)
from annotation.stats.planning.planner import Assumptions, BadPlan, made_up
from tests.ratings import annotator, each_its_query, people


@pytest.mark.parametrize("accuracy", [0.86, 0.9, 0.95])
def test_made_up_studies_have_the_rates_that_were_assumed(accuracy: float) -> None:
    plan = Assumptions(6000, pairs_per_query=10, quorum=5, skipped=0.05, annotator_accuracy=accuracy)
    sample = Sample.of(np.arange(60_000) // 10)
    made = made_up(plan, sample, np.random.default_rng(1))
    assert np.isnan(made.people.values).mean() == pytest.approx(0.05, abs=0.005)
    found = from_pilot(plan, sample, made.people, made.annotator)
    assert found.rater_accuracy == pytest.approx(plan.rater_accuracy, abs=0.01)
    assert found.annotator_accuracy == pytest.approx(plan.annotator_accuracy, abs=0.01)
    assert found.prevalence == pytest.approx(plan.prevalence, abs=0.03)
    assert found.clustering == pytest.approx(plan.clustering, abs=0.03)


def test_without_clusters_by_hand() -> None:
    """Accuracy 0.9 twice: they agree in 0.81 + 0.01; 0.9 and 0.95 in 0.855 + 0.005."""
    assert rater_error_rate(0.82, 0.0) == pytest.approx(0.1)
    assert annotator_error_rate(0.86, 0.1, 0.0) == pytest.approx(0.05)
    assert annotator_error_rate(0.74, 0.1, 0.0) == pytest.approx(0.2)


@pytest.mark.parametrize(("slip", "rho"), [(0.0, 0.5), (0.0, 0.9), (0.05, 0.5), (0.1, 0.8)])
def test_an_annotator_that_disagrees_errs_also_where_queries_are_alike(slip: float, rho: float) -> None:
    """It errs in 20 %. Of hard ~ (mean e, correlation ρ) it agrees with a rater in
    e + (1 − w) ÷ (1 − e) · (1 − 3e + 2(e² + ρe(1 − e))), w = 0.2.
    """
    both = slip**2 + rho * slip * (1 - slip)
    same = slip + 0.8 / (1 - slip) * (1 - 3 * slip + 2 * both)
    assert annotator_error_rate(same, slip, rho) == pytest.approx(0.2)


def test_clustering_by_hand() -> None:
    """Queries 11, 00: all alike. 10, 10: less alike than by chance. One pair a query says nothing."""
    sample = Sample.of([1, 1, 2, 2])
    assert intraclass_correlation(sample, np.array([1.0, 1, 0, 0])) == 0.9
    assert intraclass_correlation(sample, np.array([1.0, 0, 1, 0])) == 0
    assert intraclass_correlation(each_its_query(4), np.array([1.0, 0, 1, 0])) is None


def test_a_pilot_of_coins_plans_nothing() -> None:
    sample = each_its_query(4)
    with pytest.raises(BadPlan, match="coins"):
        from_pilot(Assumptions(30), sample, people("1100", "1010"), annotator("1100"))


def test_a_pilot_without_anything_in_common_plans_nothing() -> None:
    with pytest.raises(BadPlan):
        from_pilot(Assumptions(30), each_its_query(2), people("11", "**"), Labels.constant(1, 2))
