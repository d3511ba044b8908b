from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

import pytest
from django.http import QueryDict
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from annotation.builds.results import progress
from annotation.models import AgentBill, Build, Case, Duration, Price, Tally
from annotation.models.builds.figures import bucket_midpoint_seconds, bucket_of, increment_figure_counters
from annotation.stages import Event, Stage
from annotation.web.builds import figures as pages
from annotation.web.cases.page import cases_page
from sandbox.reports.report import Outcome
from tests import factories

pytestmark = pytest.mark.django_db


def shown(build: Build, minutes: float | None = None) -> dict[str, Any]:
    return pages.summarize_build_figures(progress.take_progress_snapshot(build), minutes)


def here(build: Build, name: str) -> tuple[str, str]:
    """What the table says of a figure of this build, and its note."""
    return next((row.here, row.note) for row in shown(build)["compared"] if row.name == name)


def levels(build: Build) -> dict[str, int]:
    return {level.name: level.count for level in shown(build)["levels"]}


def took(case: Case, seconds: float) -> Case:
    """The case, as if work on its stage had begun so long ago."""
    case.began = time.monotonic() - seconds
    return case


def test_a_build_without_cases_says_so_instead_of_zeros() -> None:
    build = factories.launched()
    assert shown(build)["levels"] == []
    assert {row.here for row in shown(build)["compared"]} == {""}
    assert all(row.note for row in shown(build)["compared"])
    assert all(row.mean_seconds is None and row.latency is None for row in shown(build)["stages"])
    assert not any(row.slowest for row in shown(build)["stages"])


def test_a_build_with_open_cases_alone_has_no_rates_either() -> None:
    build = factories.opened()
    assert levels(build)["pairs"] == 9
    assert {row.here for row in shown(build)["compared"]} == {""}


def test_the_funnel_tells_how_far_cases_came_not_where_they_are() -> None:
    build = factories.opened()
    cases = factories.cases(build)
    factories.settled(cases[0], 1)
    factories.settled(cases[1], 0)
    factories.examined(cases[2], 1)
    factories.examined(cases[3], 0, factories.a_report(Outcome.ERRORED, assertions=(), missing_module="x"))
    factories.abandoned(cases[4])
    assert levels(build) == {
        "pairs": 9,
        "screened": 4,
        "clear": 2,
        "unclear": 2,
        "tests written": 2,
        "tests executed": 2,
        "ran": 1,
        "did not run": 1,
        "tested the function": 1,
        "arbitrated": 2,
        "settled": 4,
        "abandoned": 1,
    }


def test_shares_stand_beside_the_papers() -> None:
    build = factories.opened()
    cases = factories.cases(build)
    for number, case in enumerate(cases[:3]):
        factories.settled(case, int(number == 0))
    factories.examined(cases[3], 0)
    assert here(build, "Share of label 1") == ("25.0 %", "1 of 4 settled cases are matches")
    assert here(build, "Unclear") == ("25.0 %", "1 of 4 screened cases needed a test")
    assert here(build, "Executable rate") == ("100.0 %", "1 of 1 test program ran")
    assert {row.paper.value for row in shown(build)["compared"]} == {
        "$0.00062", "83.67 %", "4.31", "21.3 %", "33 %", "about 10 s", "up to 50 s",
    }  # fmt: skip


def test_cost_of_a_pair_is_all_that_was_spent_by_what_is_settled() -> None:
    build = factories.opened()
    for case in factories.cases(build)[:4]:
        factories.settled(case, 0)
    assert here(build, "Cost of a pair")[1] == "not known: the model has no price"
    price = {"input": Decimal(1), "output": Decimal(1), "effective_from": timezone.now()}
    Price.objects.create(model=build.model, **price)
    assert here(build, "Cost of a pair")[1] == "nothing was paid: all replies were reused"
    Tally.objects.get(build=build).change(calls=4, spent=4 * 310_000)
    assert here(build, "Cost of a pair") == (
        "$0.00031",
        "all that was spent ÷ 4 settled; 0.5 × the paper’s",
    )


def test_test_cases_are_the_assertions_of_the_programs_written() -> None:
    build = factories.opened()
    factories.examined(factories.cases(build)[0], 1)
    assert here(build, "Test cases a program") == ("", "not counted in this build")
    Tally.objects.get(build=build).change(test_cases=5)
    assert here(build, "Test cases a program") == ("5.00", "assertions in 1 programs")


def test_times_of_pairs_are_quantiles_of_the_work_on_them() -> None:
    build = factories.opened()
    cases = factories.cases(build)
    for case, seconds in zip(cases[:8], (1, 1, 1, 2, 2, 3, 3, 40), strict=True):
        factories.settled(took(case, seconds), 0)
    median, note = here(build, "Time of a clear pair")
    assert note == "median and p95 of 8 pairs, to 5 %"
    first, _, late = median.partition(" · p95 ")
    assert float(first.removesuffix(" s")) == pytest.approx(2, rel=0.06)
    assert float(late.removesuffix(" s")) == pytest.approx(40, rel=0.06)
    assert here(build, "Time of an unclear pair") == ("", "no pair was timed yet")


def test_work_adds_up_over_a_pairs_stages_and_waiting_does_not_count() -> None:
    build = factories.opened()
    case = took(factories.cases(build)[0], 3)
    case.move(Event.UNCLEAR)
    waited = Case.objects.select_related("build__tally").get(pk=case.pk)
    assert waited.seconds == pytest.approx(3, abs=0.2)
    waited.move(Event.GAVE_UP, reason="x", left_stage=Stage.WRITING_TEST.value)
    tally = Tally.objects.get(build=build)
    assert tally.screening_ms == pytest.approx(3000, abs=200)
    assert tally.writing_test_ms == 0
    assert waited.steps.get(event="unclear").seconds == pytest.approx(3, abs=0.2)
    assert waited.steps.get(event="gave_up").seconds is None
    assert not Duration.objects.exists()


@pytest.mark.parametrize("seconds", [0.0011, 0.02, 0.5, 1, 10, 50, 3600, 1e6])
def test_classes_of_times_are_right_to_five_percent(seconds: float) -> None:
    assert bucket_midpoint_seconds(bucket_of(seconds)) == pytest.approx(seconds, rel=0.05)


def test_the_slowest_stage_is_the_one_that_takes_longest_a_case() -> None:
    build = factories.opened()
    cases = factories.cases(build)
    for case in cases[:4]:
        factories.settled(took(case, 1), 0)
    assert not any(row.slowest for row in shown(build)["stages"]), "one stage alone is no comparison"
    factories.examined(cases[4], 1)
    Tally.objects.get(build=build).change(executing_ms=1500)
    slowest = [row for row in shown(build)["stages"] if row.slowest]
    assert [(row.stage, row.mean_seconds) for row in slowest] == [(Stage.EXECUTING, 1.5)]


def test_agents_cost_what_their_bills_say() -> None:
    build = factories.opened()
    for case in factories.cases(build)[:4]:
        factories.settled(case, 0)
    bill = {"calls": 4, "input_tokens": 2000, "output_tokens": 240, "spent": 8_000, "milliseconds": 6_000}
    increment_figure_counters(AgentBill, {"build": build, "agent": "screener"}, **bill)
    row = shown(build)["stages"][0]
    assert (row.agent, row.cases, row.latency, row.cost_a_case) == ("screener", 4, 1.5, 2_000)
    assert [row.bill for row in shown(build)["stages"][1:]] == [None] * 4


@pytest.mark.parametrize("agent", ["query_screener", "single_llm"])
def test_whoever_judges_first_has_the_bill_of_screening(agent: str) -> None:
    by = factories.single_llm() if agent == "single_llm" else factories.annotator(screener="query", seed=1)
    build = factories.opened(annotator=by)
    for case in factories.cases(build)[:4]:
        factories.settled(case, 0)
    assert next((row.agent, row.bill) for row in shown(build)["stages"]) == (agent, None)
    increment_figure_counters(AgentBill, {"build": build, "agent": agent}, calls=2, spent=8_000)
    row = shown(build)["stages"][0]
    assert (row.stage, row.agent, row.cases, row.cost_a_case) == (Stage.SCREENING, agent, 4, 2_000)


def test_who_writes_functions_has_a_row_of_its_own(ada: Client) -> None:
    build = factories.opened()
    increment_figure_counters(
        AgentBill, {"build": build, "agent": "snippet_writer"}, calls=3, spent=6_000_000_000
    )
    row, *others = shown(build)["stages"]
    assert (row.stage, row.agent, row.cost_a_case) == (None, "snippet_writer", None)
    assert row.bill is not None and row.bill.calls == 3
    assert [other.bill for other in others] == [None] * 5
    page = ada.get(reverse("build", args=[build.pk])).content.decode()
    assert "writing functions" in page
    assert "$6.00" in page


def test_what_second_tests_brought_stands_on_the_page(ada: Client) -> None:
    assert shown(factories.opened("without"))["second"] is None
    build = factories.opened("with", annotator=factories.annotator(second_test=True))
    found = shown(build)["second"]
    assert found == {"tests": 0, "touched": 0, "cost": None}
    assert "none needed yet" in ada.get(reverse("build", args=[build.pk])).content.decode()
    build.tally.change(second_tests=8, second_touched=6)
    increment_figure_counters(
        AgentBill, {"build": build, "agent": "test_writer"}, calls=20, spent=20 * 500_000
    )
    found = shown(build)["second"]
    assert found == {"tests": 8, "touched": 6, "cost": 8 * 500_000}
    page = " ".join(ada.get(reverse("build", args=[build.pk])).content.decode().split())
    assert "8 programs run because the first test proved nothing" in page
    assert "$0.004" in page


def test_the_mean_rate_is_over_all_the_time_since_the_cases_were_made() -> None:
    build = factories.opened()
    assert shown(build, 2.0)["mean_a_minute"] is None
    for case in factories.cases(build)[:6]:
        factories.settled(case, 0)
    assert shown(build, 2.0)["mean_a_minute"] == 3.0
    assert shown(build, None)["mean_a_minute"] is None


def test_reads_do_not_grow_with_the_build(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    build = factories.opened()
    for case in factories.cases(build):
        factories.examined(took(case, 1), 1)
    shot = progress.take_progress_snapshot(build)
    with django_assert_num_queries(2):
        pages.summarize_build_figures(shot, 1.0)


def test_what_tested_the_candidate_and_second_tests_lead_to_their_cases() -> None:
    build = factories.opened()
    cases = factories.cases(build)
    factories.examined(cases[0], 1)
    factories.examined(cases[1], 0, factories.a_report(Outcome.UNTESTED, assertions=()))
    factories.examined(cases[2], 0, factories.a_report(Outcome.UNTESTED, assertions=()))
    Case.objects.filter(pk__in=[cases[0].pk, cases[1].pk]).update(tested_again=True)
    build.tally.change(second_tests=2, second_touched=1)
    links = {level.name: QueryDict(level.link) for level in shown(build)["levels"]}

    def found(name: str) -> list[int]:
        return sorted(row.pk for row in cases_page(build, Build.objects.all(), links[name])["cases"])

    assert found("tested the function") == [cases[0].pk]
    assert found("second tests") == [cases[0].pk, cases[1].pk]
    assert found("that tested the function") == [cases[0].pk]
    untested = cases_page(build, Build.objects.all(), QueryDict("ran=untested"))
    assert sorted(row.pk for row in untested["cases"]) == [cases[1].pk, cases[2].pk]
