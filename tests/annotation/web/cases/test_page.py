from __future__ import annotations

import pytest
from django.http import QueryDict

from annotation.builds.results import progress
from annotation.models import Build, Case, Tally
from annotation.stages import Event, Stage
from annotation.web.builds.figures import build_funnel_levels, compare_pair_times, stage_rows
from annotation.web.cases import page as pages
from sandbox.reports.report import Outcome
from tests import factories

pytestmark = pytest.mark.django_db


def found(build: Build, query: str) -> list[int]:
    return [row.pk for row in pages.cases_page(build, Build.objects.all(), QueryDict(query))["cases"]]


@pytest.fixture
def build() -> Build:
    """Cases that ended in every way, one abandoned after its test was written, one still open there."""
    made = factories.opened()
    cases = factories.cases(made)
    factories.settled(cases[0], 1)
    factories.settled(cases[1], 0)
    factories.examined(cases[2], 1)
    broken = factories.a_report(Outcome.ERRORED, assertions=(), missing_module="x")
    factories.examined(cases[3], 0, broken)
    factories.abandoned(cases[4], "the reply is empty (stop reason 'end_turn')")
    for case in cases[5:7]:
        case.move(Event.UNCLEAR)
        program = factories.program_for(case)
        case.move(Event.WRITTEN, program=program, program_id=program.pk)
    factories.abandoned(cases[5], "the sandbox could not run the test program: no bubblewrap")
    return made


def test_every_number_of_the_funnel_leads_to_so_many_cases(build: Build) -> None:
    told = {
        level.name: (level.count, len(found(build, level.link)))
        for level in build_funnel_levels(Tally.objects.get())
    }
    assert {name: count for name, (count, listed) in told.items() if count != listed} == {}
    assert told["tests written"] == (4, 4)


def test_times_lead_to_the_timed_cases_the_slowest_first(build: Build) -> None:
    places = {case.pk: place for place, case in enumerate(Case.objects.filter(build=build).order_by("pk"))}
    for pk, place in places.items():
        Case.objects.filter(pk=pk).update(seconds=place)
    clear, unclear = compare_pair_times(build)
    assert [places[pk] for pk in found(build, clear.link)] == [1, 0]
    assert [places[pk] for pk in found(build, unclear.link)] == [3, 2]
    rows = pages.cases_page(build, Build.objects.all(), QueryDict("sort=duration"))["cases"]
    assert [(places[row.pk], row.seconds) for row in rows[:4]] == [(3, 3.0), (2, 2.0), (1, 1.0), (0, 0.0)]


def test_every_stage_leads_to_the_cases_that_it_worked_on(build: Build) -> None:
    rows = [row for row in stage_rows(Tally.objects.get(), {}, {}) if row.stage != Stage.FIXING]
    assert [row.cases for row in rows] == [len(found(build, row.link)) for row in rows]


def test_every_stage_of_the_totals_leads_to_the_cases_in_it(build: Build) -> None:
    for bar in progress.take_progress_snapshot(build).funnel:
        assert len(found(build, f"stage={bar.stage}")) == bar.count


@pytest.mark.parametrize(
    ("query", "places"),
    [
        ("label=1", [0, 2]),
        ("label=none&stage=abandoned", [4, 5]),
        ("outcome=passed", [2]),
        ("outcome=errored&label=0", [3]),
        ("ran=no", [3]),
        ("agent=arbiter", [2, 3]),
        ("agent=test_writer&stage=settled", [2, 3]),
        ("agent=fixer", []),
        ("cause=empty", [4]),
        ("cause=sandbox&left=executing", [5]),
        ("cause=sandbox&left=screening", []),
        ("q=PARSE+an", [3, 4, 5]),
        ("q=list&label=0", [1]),
        ("q=nobody+asks+this", []),
        ("stage=nonsense&label=7&reached=%00", list(range(9))),
    ],
)
def test_filters_narrow_and_what_is_not_on_the_menu_does_not(
    build: Build, query: str, places: list[int]
) -> None:
    everything = list(Case.objects.filter(build=build).order_by("pk").values_list("pk", flat=True))
    assert found(build, query) == [everything[place] for place in places]


def test_other_builds_cases_are_not_listed(build: Build) -> None:
    other = factories.opened("other", k=1)
    assert len(found(other, "")) == 3
    assert len(found(build, "")) == 9


def test_cases_come_in_pages_that_keep_the_filters(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "PAGE_SIZE", 2)
    first = pages.cases_page(build, Build.objects.all(), QueryDict("stage=settled"))
    second = pages.cases_page(build, Build.objects.all(), QueryDict(first["next"]))
    assert (first["number"].word, first["previous"], second["next"]) == ("4", "", "")
    assert second["filters"].stage == "settled"
    assert len({row.pk for row in (*first["cases"], *second["cases"])}) == 4


def test_a_filter_is_kept_as_a_query_string() -> None:
    filters = pages.filters_of(QueryDict("stage=settled&cause=other%3A+a+%26+b"))
    assert pages.filters_of(QueryDict(filters.query)) == filters
    assert not pages.filters_of(QueryDict("")).narrow


def test_filters_are_told_in_the_words_of_the_page() -> None:
    given = pages.filters_of(QueryDict("label=1&reached=unclear&q=sort"))

    assert pages.describe_filters(given) == (
        "got as far as “unclear to the screener”, agents’ label “match”, query contains “sort”"
    )
    assert pages.describe_filters(pages.filters_of(QueryDict(""))) == ""
