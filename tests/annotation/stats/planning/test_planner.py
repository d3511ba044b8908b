"""The planner: what it counts, and that its made-up studies are what they should be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from annotation.stats.planning import planner
from annotation.stats.planning.planner import (
    Assumptions,
    BadPlan,
    as_hard,
    find_smallest_study,
    simulate_study_outlook,
)


def test_pairs_labels_raters_hours_and_money() -> None:
    """300 pairs × 3 raters × 2 conditions; 100 pairs a rater make 9 in each condition; 3 minutes at 40."""
    plan = Assumptions(300, conditions=2, wage=40, annotator_cost=0.01)
    assert (plan.labels, plan.raters, plan.hours) == (1800, 18, 90)
    assert plan.money == pytest.approx(90 * 40 + 3)


def test_the_same_plan_has_the_same_answer() -> None:
    plan = Assumptions(60)
    assert simulate_study_outlook(plan, studies=5) == simulate_study_outlook(plan, studies=5)


def test_more_pairs_have_shorter_intervals_and_more_power() -> None:
    small, large = (
        simulate_study_outlook(Assumptions(pairs, rater_accuracy=0.92), studies=30) for pairs in (60, 600)
    )
    for name in ("accuracy_width", "alpha_width", "difference_width"):
        assert getattr(large, name) < getattr(small, name) / 2
    assert large.power > small.power


def test_clusters_cost() -> None:
    alone, clustered = (
        simulate_study_outlook(Assumptions(300, pairs_per_query=per, clustering=0.3), studies=30)
        for per in (1, 10)
    )
    assert alone.accuracy_width is not None and clustered.accuracy_width is not None
    assert clustered.accuracy_width > 1.2 * alone.accuracy_width


def test_the_smallest_study_that_shows_the_margin() -> None:
    plan = Assumptions(30, rater_accuracy=0.9, annotator_accuracy=0.95, margin=0.1)
    found = find_smallest_study(plan, studies=30)
    assert found is not None and found.power >= 0.8
    assert simulate_study_outlook(replace(plan, pairs=found.pairs // 3), studies=30).power < 0.8


@pytest.mark.parametrize("studies", [10, 30])
def test_no_study_of_a_few_pairs_is_enough_by_chance(studies: int) -> None:
    """With three pairs nobody differs in nearly all studies, and no draw does: that shows nothing."""
    plan = Assumptions(30, rater_accuracy=0.95, annotator_accuracy=0.99)
    powers = [
        simulate_study_outlook(replace(plan, pairs=pairs), studies=60).power for pairs in (3, 10, 30, 90)
    ]
    assert powers == sorted(powers) and powers[0] < 0.4
    found = find_smallest_study(plan, studies=studies)
    assert found is not None and 30 <= found.pairs < 90
    assert found.studies == 3 * studies, "confirmed by more studies than were looked at first"
    larger = simulate_study_outlook(replace(plan, pairs=2 * found.pairs), studies=60)
    assert larger.power >= 0.8


def test_queries_are_never_fewer_than_30() -> None:
    found = find_smallest_study(
        Assumptions(30, pairs_per_query=5, rater_accuracy=0.97, annotator_accuracy=0.99), studies=10
    )
    assert found is not None and found.queries >= 30


def test_what_no_study_shows_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner, "MOST_PAIRS", 120)
    assert find_smallest_study(Assumptions(30, annotator_accuracy=0.7), studies=5) is None


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"pairs": 0}, "pairs is at least 1"),
        ({"prevalence": 1.5}, "prevalence lies between"),
        ({"rater_accuracy": float("nan")}, "rater accuracy lies between"),
        ({"annotator_accuracy": 1.5}, "annotator accuracy lies between"),
        ({"clustering": 1.0}, "clustering lies between"),
        ({"quorum": 1}, "second rater"),
        ({"pairs": 10**6}, "more than"),
    ],
)
def test_what_is_no_plan_is_refused(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(BadPlan, match=why):
        Assumptions(**{"pairs": 30, **wrong})


@pytest.mark.parametrize(("slip", "wrong"), [(0.2, 0.1), (0.1, 0.3), (0.1, 0.1), (0.0, 0.2), (0.0, 0.0)])
def test_hard_queries_are_hard_for_the_annotator_too_and_the_mean_is_kept(slip: float, wrong: float) -> None:
    hard = np.linspace(0, 2 * slip, 101)
    found = as_hard(hard, slip, wrong)
    assert found.mean() == pytest.approx(wrong) and ((found >= 0) & (found <= 1)).all()
