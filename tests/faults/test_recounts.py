"""The recount after the kills agrees with what was counted, and tells of each figure that is made wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal

import pytest
from django.db.models import F
from django.utils import timezone

from annotation.builds.pipeline.advance import Tools, advance_case
from annotation.models import Abandonment, AgentBill, Build, Case, Duration, Price, ProjectTally, Tally
from tests import factories
from tests.annotation.builds.pipeline.test_advance import NO, UNCLEAR, WRITTEN, YES, Fresh, Make
from tests.annotation.conftest import fresh, sandbox, tools_with  # noqa: F401  (fixtures)
from tests.faults import recounts

pytestmark = pytest.mark.django_db
CHECKS: tuple[Callable[[], Iterator[str]], ...] = (
    recounts.totals,
    recounts.figures,
    recounts.reused,
    recounts.projects_money,
)
COLUMNS = (
    *("settled", "abandoned", "matches", "programs", "cleared", "unclear", "written", "fixings"),
    *("test_cases", "screening_ms", "arbitrating_ms", "reused", "calls", "spent", "reserved"),
)


def complaints() -> list[str]:
    return [wrong for check in CHECKS for wrong in check()]


@pytest.fixture
def judged(tools_with: Make, fresh: Fresh) -> Build:  # noqa: F811
    """A live build that paid for a clear case, a tested one and one in vain; and one that used all again."""
    Price.objects.create(
        model="small-model", effective_from=timezone.now(), input=Decimal(1), output=Decimal(5)
    )
    ProjectTally.objects.update_or_create(pk=ProjectTally.ONLY, defaults={"cap": 10**9})
    first, second = (factories.opened(name, provider="live") for name in ("first", "second"))
    tools, _ = tools_with(YES, UNCLEAR, WRITTEN, NO, "neither", "nor", "neither", "nor")
    for build in (first, second):
        for case, times in zip(factories.cases(build), (1, 4, 1), strict=False):
            worked_on(case, fresh, tools, times)
    return first


def worked_on(case: Case, now: Fresh, tools: Tools, times: int) -> None:
    for _ in range(times):
        advance_case(now(case), tools)


def test_what_was_counted_is_what_the_rows_say(judged: Build) -> None:
    assert complaints() == []
    kept = Tally.objects.get(build=judged)
    assert (kept.cleared, kept.unclear, kept.written, kept.test_cases, kept.abandoned) == (1, 1, 1, 1, 1)
    assert Tally.objects.exclude(pk=judged.pk).get().reused > 4 and kept.spent > 0
    assert Abandonment.objects.filter(cases=1).count() == 2 and Duration.objects.count() >= 2


@pytest.mark.parametrize("column", COLUMNS)
def test_a_total_that_is_off_by_one_is_told(judged: Build, column: str) -> None:
    Tally.objects.filter(build=judged).update(**{column: F(column) + 1})
    assert any(column in wrong for wrong in complaints())


@pytest.mark.parametrize("column", ["calls", "input_tokens", "output_tokens", "spent", "milliseconds"])
def test_a_bill_that_is_off_by_one_is_told(judged: Build, column: str) -> None:
    AgentBill.objects.filter(build=judged, agent="arbiter").update(**{column: F(column) + 1})
    assert any("the bill of arbiter" in wrong for wrong in complaints())


def test_times_and_abandoned_cases_that_are_off_are_told(judged: Build) -> None:
    Duration.objects.filter(build=judged).update(cases=F("cases") + 1)
    Abandonment.objects.filter(build=judged).update(cases=0)
    told = complaints()
    assert any("cases that took" in wrong for wrong in told)
    assert any("cases abandoned for" in wrong for wrong in told)


def test_the_projects_money_that_is_off_or_above_its_cap_is_told(judged: Build) -> None:
    ProjectTally.objects.update(spent=F("spent") - 1)
    assert any("the calls say" in wrong for wrong in complaints())
    ProjectTally.objects.update(spent=F("spent") + 1, cap=1)
    [wrong] = complaints()
    assert wrong.endswith("of 1")


def test_a_reply_that_is_counted_as_used_again_twice_is_told(judged: Build) -> None:
    Tally.objects.exclude(pk=judged.pk).update(reused=F("reused") + 3)
    [wrong] = complaints()
    assert "the steps say" in wrong
