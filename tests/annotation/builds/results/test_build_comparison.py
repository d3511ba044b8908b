"""Two builds over common pairs: what differs, what it took, and how sure one can be."""

from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from annotation.builds.results import build_comparison, label_comparison
from annotation.builds.results.label_comparison import load_query_texts
from annotation.models import Build, Case
from annotation.stages import Event
from annotation.stats.agreement.flips import Figures
from annotation.web.comparison.page import build_comparison_figures
from sandbox.reports.report import Outcome
from tests import factories

LABELS_FIRST = (1, 1, 0, 0, 1, 0)
LABELS_SECOND = (1, 0, 0, 1, 1, 1)


@pytest.fixture
def first(db: None) -> Build:
    """Nine cases: six settled by the screener, one by a test, one abandoned, one open."""
    build = factories.opened("first")
    cases = factories.cases(build)
    for case, label in zip(cases, LABELS_FIRST, strict=False):
        factories.settled(case, label)
    factories.examined(cases[6], 1)
    factories.abandoned(cases[7])
    return fresh(build)


@pytest.fixture
def second(first: Build) -> Build:
    """The same pairs by another model: three flips among the six, the tested one flipped, one more label."""
    build = factories.opened("second", annotator=factories.annotator(model="other"), model="other")
    cases = factories.cases(build)
    for case, label in zip(cases, LABELS_SECOND, strict=False):
        factories.settled(case, label)
    factories.settled(cases[6], 0)
    factories.settled(cases[7], 0)
    return fresh(build)


def fresh(build: Build) -> Build:
    return Build.objects.select_related("tally", "annotator").get(pk=build.pk)


def test_every_common_pair_is_in_the_matrix_once(first: Build, second: Build) -> None:
    found = build_comparison.compare_two_builds(first, second)

    assert found.pairs == 9
    assert [found.count(one, other) for one in (1, 0) for other in (1, 0)] == [2, 2, 2, 1]
    assert (found.count(None, 0), found.count(None, None)) == (1, 1)
    assert (found.judged, found.flips) == (7, 4)


def test_the_other_way_round_is_its_mirror(first: Build, second: Build) -> None:
    here, there = (
        build_comparison.compare_two_builds(first, second),
        build_comparison.compare_two_builds(second, first),
    )

    both = [(one, other) for one in (0, 1, None) for other in (0, 1, None)]
    assert [here.count(*pair) for pair in both] == [there.count(*reversed(pair)) for pair in both]
    assert here.took == there.took[::-1]
    assert here.figures.shift and there.figures.shift
    assert here.figures.shift.value == -there.figures.shift.value


def test_flips_say_who_decided(first: Build, second: Build) -> None:
    flips = {
        (one.first.tested, one.second.tested): one.pairs
        for one in build_comparison.compare_two_builds(first, second).groups
        if one.is_flip and one.first.label == 1
    }
    assert flips == {(False, False): 1, (True, False): 1}


def test_queries_with_flips_come_the_worst_first(first: Build, second: Build) -> None:
    worst = build_comparison.compare_two_builds(first, second).worst

    assert [(one.to_match, one.to_no_match, one.pairs) for one in worst] == [(2, 0, 3), (0, 1, 3), (0, 1, 1)]
    assert load_query_texts(worst)[0][0].text == factories.QUERIES[1]


def test_what_each_took_is_counted_over_the_common_pairs_alone(first: Build, second: Build) -> None:
    one, other = build_comparison.compare_two_builds(first, second).took

    assert (one.calls, one.programs, one.ran) == (9, 1, 1)
    assert (other.calls, other.programs, other.ran) == (8, 0, 0)
    assert (one.input_tokens, one.output_tokens) == (9 * 500, 9 * 60)


def test_second_tests_are_told_with_what_they_brought_and_cost(first: Build) -> None:
    build = factories.opened("again", annotator=factories.annotator(second_test=True))
    for case, touched in zip(factories.cases(build)[:2], (True, False), strict=True):
        twice_tested(case, touched)
    one, other = build_comparison.compare_two_builds(fresh(first), fresh(build)).took
    assert (one.second_tests, one.second_touched, one.second_cost) == (0, 0, 0)
    assert (other.second_tests, other.second_touched, other.second_cost) == (2, 1, 2 * 40)
    assert {name: second for name, _, second, _ in build_comparison_figures(one, other, 2)}.items() >= {
        "Second tests": "2",
        "Second tests that used the function": "1 (50.0 %)",
        "Cost of writing second tests": "$0.0000",
    }.items()
    assert "Cost of writing second tests" not in {name for name, *_ in build_comparison_figures(one, one, 2)}


def twice_tested(case: Case, touched: bool) -> None:
    """A first program that tested nothing, then another one; each cost of its own."""
    case.move(Event.UNCLEAR, call=factories.llm_call(case, "screener", {}, cost=10))
    program = factories.program_for(case)
    case.move(
        Event.WRITTEN,
        call=factories.llm_call(case, "test_writer", {}, cost=30),
        program=program,
        program_id=program.pk,
    )
    nothing = factories.execution(program, factories.a_report(Outcome.UNTESTED, assertions=()))
    case.move(Event.TESTED_NOTHING, execution=nothing, tested_again=True)
    other = factories.program_for(case, "def main():\n    assert 1\n" + f"# {case.pk}\n")
    case.move(
        Event.WRITTEN,
        call=factories.llm_call(case, "test_writer", {}, cost=40),
        program=other,
        program_id=other.pk,
    )
    report = factories.a_report() if touched else factories.a_report(Outcome.UNTESTED, assertions=())
    run = factories.execution(other, report)
    case.move(Event.EXECUTED, execution=run, execution_id=run.pk)
    case.move(Event.ACCEPTED, call=factories.llm_call(case, "arbiter", {}, cost=50), label=1)


def test_builds_without_a_common_pair_say_nothing(first: Build) -> None:
    lonely = factories.launched("lonely", mining=factories.mining())
    found = build_comparison.compare_two_builds(first, fresh(lonely))

    assert (found.pairs, found.judged, found.worst) == (0, 0, ())
    assert found.figures == Figures()


def test_a_build_that_went_on_is_compared_anew(first: Build, second: Build) -> None:
    before = build_comparison.compare_two_builds(first, second).judged
    last = factories.cases(first)[8]
    factories.settled(last, 1)
    factories.settled(factories.cases(second)[8], 1)

    assert build_comparison.compare_two_builds(fresh(first), fresh(second)).judged == before + 1


def test_a_second_look_at_finished_builds_reads_nothing(
    first: Build, second: Build, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    build_comparison.compare_two_builds(first, second)
    with django_assert_num_queries(0):
        build_comparison.compare_two_builds(first, second)


def test_settings_that_differ_are_named(first: Build, second: Build) -> None:
    assert build_comparison.settings_that_differ(first, second) == {"model": ("small-model", "other")}
    assert build_comparison.settings_that_differ(first, first) == {}


def in_cell(first: Build, second: Build, said: int | None, other: int | None) -> set[int]:
    """The second's cases of a cell, one by one."""
    pairs = {case.pair_id for case in factories.cases(first) if case.label == said}
    return {case.pk for case in factories.cases(second) if case.label == other and case.pair_id in pairs}


@pytest.mark.parametrize("compared", [False, True])
def test_a_rare_cell_has_its_cases_whether_or_not_the_builds_were_compared(
    first: Build, second: Build, compared: bool, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    if compared:
        build_comparison.compare_two_builds(first, second)
    cells = [(said, other) for said in (1, 0, None) for other in (1, 0, None)]
    with django_assert_num_queries(0 if compared else 9):
        found = {cell: build_comparison.rare_cell(first, second, *cell) for cell in cells}
    for cell, cases in found.items():
        assert cases is not None and set(cases) == in_cell(first, second, *cell), cell
        assert len(cases) == len(set(cases))


@pytest.mark.parametrize("compared", [False, True])
def test_a_cell_with_many_cases_is_not_kept_case_by_case(
    first: Build, second: Build, compared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (build_comparison, label_comparison):
        monkeypatch.setattr(module, "MOST_RARE", 1)
    if compared:
        build_comparison.compare_two_builds(first, second)
    assert build_comparison.rare_cell(first, second, 1, 1) is None, "it has two"
    assert len(build_comparison.rare_cell(first, second, 0, 0) or ()) == 1


def test_a_cell_is_read_again_when_a_build_has_changed(first: Build, second: Build) -> None:
    before = build_comparison.rare_cell(first, second, None, None)
    assert before
    factories.settled(Case.objects.get(pk=before[0]), 1)
    assert build_comparison.rare_cell(first, fresh(second), None, None) == before[1:]
    assert build_comparison.rare_cell(first, fresh(second), None, 1) == before[:1]
