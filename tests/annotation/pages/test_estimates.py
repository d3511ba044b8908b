"""Estimates in words: how round, how they stand to what came of them, what to think of before launching."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from annotation.estimating.figures import Estimate, PriceUsed, Range, StageEstimate
from annotation.launching import Order
from annotation.models import Build, ProjectTally
from annotation.models.builds import NANO
from annotation.pages import estimates
from tests import factories

pytestmark = pytest.mark.django_db
SINCE = datetime(2026, 1, 1, tzinfo=UTC)
COST = Range(1.0 * NANO, 2.0 * NANO, 6.0 * NANO)
STAGE = StageEstimate("screening", Range(8, 10, 14), Range(80, 100, 140), Range(8, 10, 14), COST)
FOUND = Estimate(
    pairs=9,
    queries=3,
    candidates=3,
    stages=(STAGE,),
    price=PriceUsed(1, "small-model", SINCE, "1", "5", "list price"),
    basis=(),
    made_at=SINCE,
)


def order(budget: str | None) -> Order:
    return Order(
        "new",
        factories.queries(),
        factories.snippets(),
        ("bm25",),
        budget=None if budget is None else Decimal(budget),
    )


@pytest.mark.parametrize(
    ("found", "words"),
    [(0.4, "0"), (999.6, "1,000"), (1234, "1,230"), (12345, "12,300"), (1_234_567, "1,230,000")],
)
def test_an_estimate_has_three_digits(found: float, words: str) -> None:
    assert estimates.number(found) == words


@pytest.mark.parametrize(
    ("budget", "tone", "said"),
    [
        ("1.99", "bad", "This is above your cap of $1.99"),
        ("2", "warn", "At the most this is above your cap"),
        (None, "warn", "The build has no cap"),
    ],
)
def test_a_cap_that_may_not_do_is_said(budget: str | None, tone: str, said: str) -> None:
    (warned,) = estimates.warnings(order(budget), FOUND)
    assert warned.tone == tone and warned.words.startswith(said)


def test_a_cap_that_will_do_is_not_spoken_of() -> None:
    assert estimates.warnings(order("6"), FOUND) == ()


def test_what_other_builds_have_left_of_the_projects_cap_counts_too() -> None:
    ProjectTally.objects.now()
    ProjectTally.objects.update(cap=10 * NANO, spent=5 * NANO, reserved=0)
    assert [warned.tone for warned in estimates.warnings(order("6"), FOUND)] == ["warn"]
    ProjectTally.objects.update(spent=9 * NANO)
    (warned,) = estimates.warnings(order("6"), FOUND)
    assert (warned.tone, "left under the project's cap, $1.00" in warned.words) == ("bad", True)


def test_without_a_price_that_is_the_warning() -> None:
    unpriced = replace(FOUND, price=None, stages=(replace(STAGE, cost=None),))
    (warned,) = estimates.warnings(order("6"), unpriced)
    assert "is not known" in warned.words
    assert estimates.estimate_page(order("6"), unpriced).a_pair is None


def test_dollars_are_told_for_a_pair_too() -> None:
    a_pair = estimates.a_pair(FOUND)
    assert a_pair is not None and (a_pair.expected, a_pair.low) == ("$0.22", "$0.11")


@pytest.mark.parametrize(
    ("state", "calls", "word"),
    [
        ("running", 3, "so far"),
        ("running", 10, "so far"),
        ("running", 15, "above the range"),
        ("done", 7, "below the range"),
        ("done", 8, "within the range"),
        ("cancelled", 15, "above the range"),
    ],
)
def test_how_the_actual_figure_stands_to_the_range(state: str, calls: int, word: str) -> None:
    build = factories.opened(state=state, estimate=FOUND.to_json())
    build.tally.calls = calls
    found = estimates.comparison(build, build.tally)
    assert found is not None
    assert (found.rows[0].name, found.rows[0].sign.word) == ("Calls", word)
    assert found.rows[0].share == f"{calls * 10} %"


@pytest.mark.parametrize("stored", [None, {}, {"pairs": "many"}])
def test_what_was_not_estimated_or_can_not_be_read_is_not_compared(stored: object) -> None:
    build = factories.opened(estimate=stored)
    assert estimates.comparison(Build.objects.get(), build.tally) is None
