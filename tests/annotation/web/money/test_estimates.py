"""Estimates in words: how round, how they stand to what came of them, what to think of before launching."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from django.template.loader import render_to_string
from django.utils.html import strip_tags
from pytest_django import Settings

from annotation.builds.launch.estimates.figures import Estimate, PriceUsed, Range, StageEstimate
from annotation.builds.launch.order import Order
from annotation.models import AgentBill, Build, ProjectTally
from annotation.models.builds.build import NANO
from annotation.web.money import estimates
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


@pytest.fixture(autouse=True)
def key(settings: Settings) -> None:
    """Without one each estimate says so."""
    settings.ANTHROPIC_API_KEY = "a-key"


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
    assert estimates.format_rounded_number(found) == words


@pytest.mark.parametrize(
    ("budget", "tone", "said"),
    [
        ("1.99", "bad", "This is above your cap of $1.99"),
        ("2", "warn", "At most this is above your cap"),
        (None, "warn", "The build has no cap"),
    ],
)
def test_a_cap_that_may_not_do_is_said(budget: str | None, tone: str, said: str) -> None:
    (warned,) = estimates.find_estimate_warnings(order(budget), FOUND)
    assert warned.tone == tone and warned.words.startswith(said)


def test_a_cap_that_will_do_is_not_spoken_of() -> None:
    assert estimates.find_estimate_warnings(order("6"), FOUND) == ()


def test_what_other_builds_have_left_of_the_projects_cap_counts_too() -> None:
    ProjectTally.objects.now()
    ProjectTally.objects.update(cap=10 * NANO, spent=5 * NANO, reserved=0)
    assert [warned.tone for warned in estimates.find_estimate_warnings(order("6"), FOUND)] == ["warn"]
    ProjectTally.objects.update(spent=9 * NANO)
    (warned,) = estimates.find_estimate_warnings(order("6"), FOUND)
    assert (warned.tone, "left under the project's cap, $1.00" in warned.words) == ("bad", True)


def test_without_a_price_that_is_the_warning() -> None:
    unpriced = replace(FOUND, price=None, stages=(replace(STAGE, cost=None),))
    (warned,) = estimates.find_estimate_warnings(order("6"), unpriced)
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
    found = estimates.compare_build_estimate(build, build.tally)
    assert found is not None
    assert (found["rows"][0]["name"], found["rows"][0]["sign"].word) == ("Calls", word)
    assert found["rows"][0]["share"] == f"{calls * 10} %"


@pytest.mark.parametrize("agent", ["screener", "query_screener"])
def test_each_stage_stands_beside_the_bill_of_its_agent(agent: str) -> None:
    writing = replace(STAGE, stage="writing_test")
    both = replace(FOUND, stages=(STAGE, writing))
    by = factories.annotator(screener="query") if agent == "query_screener" else factories.annotator()
    build = factories.opened(state="done", estimate=both.to_json(), annotator=by)
    AgentBill.objects.create(
        build=build, agent=agent, calls=12, input_tokens=70, output_tokens=9, spent=7 * NANO
    )
    found = estimates.compare_build_estimate(build, build.tally)
    assert found is not None
    assert [(row["name"], row["actual"], row["sign"].word) for row in found["stages"]] == [
        ("screening: calls", "12", "within the range"),
        ("screening: tokens in", "70", "below the range"),
        ("screening: tokens out", "9", "within the range"),
        ("screening: dollars", "$7.00", "above the range"),
        ("writing test: calls", "0", "below the range"),
        ("writing test: tokens in", "0", "below the range"),
        ("writing test: tokens out", "0", "below the range"),
        ("writing test: dollars", "$0", "below the range"),
    ]


@pytest.mark.parametrize("stored", [None, {}, {"pairs": "many"}])
def test_what_was_not_estimated_or_can_not_be_read_is_not_compared(stored: object) -> None:
    build = factories.opened(estimate=stored)
    assert estimates.compare_build_estimate(Build.objects.get(), build.tally) is None


def shown(html: str) -> list[dict[str, list[float]]]:
    """Each line of the table: its columns, as (expected, low, high)."""
    lines = re.findall(r"<tr>(.*?)</tr>", html.partition("</thead>")[2], re.DOTALL)
    cells = (re.findall(r'<td data-label="([^"]+)".*?>(.*?)</td>', line, re.DOTALL) for line in lines)
    number = re.compile(r"[\d.]+")
    return [
        {name: [float(one) for one in number.findall(strip_tags(cell))] for name, cell in row}
        for row in cells
    ]


def test_the_table_has_a_line_a_stage_and_their_sums_last() -> None:
    written = StageEstimate("writing_test", Range(2, 4, 7), Range(30, 50, 60), Range(0, 5, 6), COST)
    rows, total = estimates.build_estimate_table(replace(FOUND, stages=(STAGE, written)))
    assert [row["name"] for row in (*rows, total)] == ["screening", "writing test", "all stages"]
    html = render_to_string("annotation/shared/_estimate.html", {"rows": rows, "total": total})
    *stages, last = shown(html)
    assert len(stages) == 2
    assert list(last) == ["Calls", "Tokens in", "Tokens out", "Dollars"]
    for name, whole in last.items():
        columns = zip(*(stage[name] for stage in stages), strict=True)
        assert whole == [sum(column) for column in columns], name
        assert all(low <= expected <= high for expected, low, high in [whole, *(s[name] for s in stages)])
    assert last["Calls"] == [14, 10, 21]
    assert last["Dollars"] == [4, 2, 12]


def test_without_a_price_the_table_has_a_question_mark_for_dollars() -> None:
    unpriced = replace(FOUND, price=None, stages=(replace(STAGE, cost=None),))
    rows, total = estimates.build_estimate_table(unpriced)
    assert (rows[0]["cost"], total["cost"]) == (None, None)
    html = render_to_string("annotation/shared/_estimate.html", {"rows": rows, "total": total})
    assert html.count(">?</td>") == 2 and "$" not in html
