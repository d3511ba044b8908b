from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from annotation.builds.control import pause_resume
from annotation.models import Abandonment, AgentBill, Build, Case, Price, Tally
from annotation.models.builds.figures import increment_figure_counters
from annotation.stages import Event, Stage
from annotation.web.cases import abandonment as pages
from tests import factories

pytestmark = pytest.mark.django_db
COSTS = {"screener": 10, "test_writer": 100, "arbiter": 50}
"""Nanodollars of a case."""


def groups(build: Build) -> list[dict[str, Any]]:
    return pages.group_abandoned_cases(build, Tally.objects.get(build=build))


@pytest.fixture
def build() -> Build:
    """Half of the screened cases are unclear, everything has a bill and the model a price."""
    made = factories.opened()
    cases = factories.cases(made)
    factories.settled(cases[0], 1)
    factories.examined(cases[1], 0)
    for agent, cases_ in (("screener", 2), ("test_writer", 1), ("arbiter", 1)):
        increment_figure_counters(
            AgentBill, {"build": made, "agent": agent}, calls=cases_, spent=COSTS[agent] * cases_
        )
    Price.objects.create(model=made.model, effective_from=timezone.now(), input=Decimal(1), output=Decimal(1))
    return made


def test_causes_are_grouped_by_kind_with_the_most_frequent_first(build: Build) -> None:
    for number, case in enumerate(factories.cases(build)[2:6]):
        told = f"the sandbox could not run the test program: try {number}" if number else "odd"
        factories.abandoned(case, told)
    listed = [(group["cause"], group["count"], group["left"]) for group in groups(build)]
    assert listed == [("sandbox", 3, [("screening", 3)]), ("other: odd", 1, [("screening", 1)])]
    example = groups(build)[0]["example"]
    assert example is not None
    assert example.reason.endswith("try 1")


def test_trying_again_costs_the_mean_of_the_stages_that_are_left(build: Build) -> None:
    screened, tested = factories.cases(build)[2:4]
    factories.abandoned(screened, "odd")
    tested.move(Event.UNCLEAR)
    factories.abandoned(tested, "odd")
    (group,) = groups(build)
    # one screener; of two screened one was unclear at first, now two of three: 2/3 of the way on
    assert group["price"] == pytest.approx((20 / 3 + 2 / 3 * 150) + 150)
    assert group["left"] == [("screening", 1), ("writing test", 1)]


@pytest.mark.parametrize("agent", ["query_screener", "single_llm"])
def test_trying_again_costs_what_whoever_judged_first_was_paid(agent: str) -> None:
    by = factories.single_llm() if agent == "single_llm" else factories.annotator(screener="query", seed=1)
    build = factories.opened(annotator=by)
    first, second, third = factories.cases(build)[:3]
    factories.settled(first, 1)
    factories.settled(second, 0)
    factories.abandoned(third, "odd")
    increment_figure_counters(AgentBill, {"build": build, "agent": agent}, calls=2, spent=20)
    Price.objects.create(
        model=build.model, effective_from=timezone.now(), input=Decimal(1), output=Decimal(1)
    )
    assert [group["price"] for group in groups(build)] == [10]


def test_a_stage_that_nobody_has_paid_for_has_no_price(build: Build) -> None:
    factories.abandoned(factories.cases(build)[2], "odd")
    AgentBill.objects.filter(agent="arbiter").delete()
    assert [group["price"] for group in groups(build)] == [None]


def test_without_a_price_of_the_model_trying_again_has_none(build: Build) -> None:
    factories.abandoned(factories.cases(build)[2], "odd")
    Price.objects.all().delete()
    assert [group["price"] for group in groups(build)] == [None]


def test_the_first_case_of_a_build_that_fails_has_no_price() -> None:
    build = factories.opened()
    Price.objects.create(
        model=build.model, effective_from=timezone.now(), input=Decimal(1), output=Decimal(1)
    )
    factories.abandoned(factories.cases(build)[0], "odd")
    assert [group["price"] for group in groups(build)] == [None]


def test_groups_follow_retries_and_what_is_abandoned_again(build: Build) -> None:
    for case in factories.cases(build)[2:5]:
        factories.abandoned(case, "odd")
    assert pause_resume.retry_abandoned(build, "other: odd") == 3
    assert groups(build) == []
    factories.abandoned(Case.objects.select_related("build__tally").filter(stage=Stage.SCREENING)[0], "even")
    assert [(group["cause"], group["count"]) for group in groups(build)] == [("other: even", 1)]
    assert Abandonment.objects.filter(cases__lt=0).count() == 0


def test_a_build_that_abandoned_nothing_has_no_groups(build: Build) -> None:
    assert groups(build) == []
