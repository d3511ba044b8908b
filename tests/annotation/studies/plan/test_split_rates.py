"""How often raters split, against every vote counted by hand; what a plan expects of it."""

from __future__ import annotations

from itertools import product

import pytest

from annotation.studies.adjudication.quorum import majority_vote
from annotation.studies.plan.effort import Load, Rater, estimate_study_effort
from annotation.studies.plan.split_rates import Splitting

SOMETIMES = Splitting(0.8, 0.1)
RATERS = [Rater(f"rater {number}", "reading", 100) for number in range(5)]


@pytest.mark.parametrize("raters", [2, 3, 4, 5])
@pytest.mark.parametrize(("accuracy", "unsure"), [(0.9, 0.02), (0.7, 0.3), (1.0, 0.0)])
def test_it_is_the_chance_of_no_strict_majority(raters: int, accuracy: float, unsure: float) -> None:
    chance = {1: (1 - unsure) * accuracy, 0: (1 - unsure) * (1 - accuracy), None: unsure}
    by_hand = 0.0
    for votes in product(chance, repeat=raters):
        weight = 1.0
        for vote in votes:
            weight *= chance[vote]
        by_hand += weight * (majority_vote(votes, raters) is None)
    assert Splitting(accuracy, unsure).share(raters) == pytest.approx(by_hand)


def test_three_split_only_where_somebody_is_unsure() -> None:
    assert Splitting(0.6, 0.0).share(3) == 0.0
    assert Splitting(0.9, 0.02).share(3) == pytest.approx(0.0117, abs=0.0005)
    assert Splitting().expected(300, 3) == 4


def test_rates_that_were_typed_count() -> None:
    assert Splitting.of({"rater_accuracy": 0.8, "skipped": None, "pilot": 3}) == Splitting(0.8, 0.02)
    assert Splitting.of({}) == Splitting(0.9, 0.02)


def test_a_plan_counts_them_and_says_where_there_is_no_room() -> None:
    def planned(raters: list[Rater], one_more: Splitting | None = SOMETIMES) -> tuple[int, float, str]:
        load = Load("reading", 3, 60.0)
        found = estimate_study_effort(range(100), 0, 100, [], [load], raters, 60.0, one_more=one_more)
        return found.more, found.hours, " ".join((*found.warnings, *found.notes))

    expected = SOMETIMES.expected(100, 3)
    assert planned(RATERS, None) == (0, 5.0, "")
    more, hours, told = planned(RATERS)
    assert more == expected and hours == pytest.approx(5.0 + expected / 60)
    assert f"about {expected} ratings more" in told and "right in 80% and unsure in 10%" in told
    assert "no rater is left" in planned(RATERS[:3])[2]
    tight = [*RATERS[:3], Rater("new", "reading", 2)]
    assert f"room for 2 of about {expected} ratings" in planned(tight)[2]
