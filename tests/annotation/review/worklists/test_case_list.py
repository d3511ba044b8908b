"""Which pairs a list has, in which order, and the way through it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import QueryDict

from annotation.accounts.roles import Role
from annotation.models import Basis, Build, Case, Execution, Trial
from annotation.models.executions.programs import count_touching_lines
from annotation.review.own_runs.strength import ask_strength
from annotation.review.tags import Tag
from annotation.review.worklists.case_list import (
    FilteredList,
    ListFilters,
    SmartList,
    Sort,
    cases_to_walk,
    draw_sample,
    filter_listed_cases,
    sample_cases,
)
from annotation.review.worklists.code_search import search_collection_code
from annotation.review.worklists.list_changes import assign_cases, tag_cases
from annotation.review.worklists.order import (
    Show,
    cases_of_worklist,
    next_case,
    previous_case,
    tells_of_agents,
)
from annotation.web.worklist.filters import filters_of, list_named
from sandbox.reports.report import Outcome
from tests import factories
from tests.annotation.models.reviews.test_contradictions import say

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    """Each test has a database of its own, with the same ids."""
    sample_cases.cache_clear()
    search_collection_code.cache_clear()


@pytest.fixture
def erin() -> User:
    return factories.erin()


@pytest.fixture
def build() -> Build:
    return factories.opened()


@pytest.fixture
def cases(build: Build) -> list[Case]:
    """Nine cases by query and rank.

    0: match, test passed; 1: match, test failed; 2: no match, test passed; 3: match, tested nothing;
    4, 5: clear match; 6: clear no match; 7: abandoned; 8: open.
    """
    found = factories.cases(build)
    failed, empty = factories.a_report(Outcome.FAILED), factories.a_report(Outcome.UNTESTED, assertions=())
    return [
        factories.examined(found[0], 1),
        factories.examined(found[1], 1, failed),
        factories.examined(found[2], 0),
        factories.examined(found[3], 1, empty),
        factories.settled(found[4], 1),
        factories.settled(found[5], 1),
        factories.settled(found[6], 0),
        factories.abandoned(found[7]),
        found[8],
    ]


def places(user: User, cases: list[Case], **filters: Any) -> set[int]:
    """The places in `cases` of what is listed."""
    build = Build.objects.select_related("tally", "snippets").get(pk=cases[0].build_id)
    found = filter_listed_cases(user, build, replace(ListFilters(), **filters))
    return {[case.pk for case in cases].index(case.pk) for case in found}


def test_a_test_with_two_lines_that_touch_the_function_has_no_few_assertions(
    erin: User, cases: list[Case]
) -> None:
    twice = factories.a_report().assertions * 2
    other = replace(twice[0], line=3)
    for place, assertions, few in ((0, twice, True), (1, (twice[0], other), False)):
        program = cases[place].program
        assert program is not None
        run = factories.execution(program, factories.a_report(assertions=assertions))
        Case.objects.filter(pk=cases[place].pk).update(execution=run)
        assert (place in places(erin, cases, smart=SmartList.FEW_TOUCHING)) is few


def test_runs_of_before_are_counted(cases: list[Case]) -> None:
    Execution.objects.update(touching_lines=None)
    count_touching_lines()
    found = Execution.objects.filter(cases__isnull=False).order_by("cases")
    assert list(found.values_list("touching_lines", flat=True)) == [1, 1, 1, 0]


@pytest.mark.parametrize(("caught", "weak"), [(0, True), (1, True), (2, False)])
def test_a_test_that_misses_half_of_the_bugs_is_listed(
    erin: User, cases: list[Case], caught: int, weak: bool
) -> None:
    program = cases[0].program
    assert program is not None
    assert places(erin, cases, smart=SmartList.MISSES_BUGS) == set()
    ask_strength(erin, program, [])
    assert places(erin, cases, smart=SmartList.MISSES_BUGS) == set(), "nothing was run yet"
    for number, trial in enumerate(Trial.objects.order_by("pk")):
        outcome = Outcome.FAILED if 0 < number <= caught else Outcome.PASSED
        Trial.objects.filter(pk=trial.pk).update(
            execution=factories.execution(program, factories.a_report(outcome)), state="done"
        )
    assert Trial.objects.count() == 3
    assert (places(erin, cases, smart=SmartList.MISSES_BUGS) == {0}) is weak


def test_each_smart_list_has_the_pairs_that_it_names(erin: User, cases: list[Case]) -> None:
    assert places(erin, cases, smart=SmartList.UNTESTED) == {4, 5, 6}
    assert places(erin, cases, smart=SmartList.FAILED_MATCH) == {1}
    assert places(erin, cases, smart=SmartList.PASSED_NO_MATCH) == {2}
    assert places(erin, cases, smart=SmartList.WEAK_EVIDENCE) == {3}
    assert places(erin, cases, smart=SmartList.FEW_TOUCHING) == {0, 1, 2, 3}
    assert places(erin, cases, smart=SmartList.AGENTS_DISAGREE) == set()
    Case.objects.filter(pk=cases[5].pk).update(basis=Basis.DISPUTED)
    assert places(erin, cases, smart=SmartList.AGENTS_DISAGREE) == {5}


def test_experts_disagree_where_one_says_match_and_another_no_match(erin: User, cases: list[Case]) -> None:
    eve = factories.person("eve", Role.EXPERT)
    say(erin, cases[0], 1)
    say(eve, cases[0], 0)
    say(eve, cases[1], 1)
    assert places(erin, cases, smart=SmartList.EXPERTS_DISAGREE) == {0}


def test_rounds_that_differ_are_agents_that_disagree(erin: User) -> None:
    build = factories.said(factories.opened(rounds=2), [1, 1, 0], [1, 0, 0])
    found = filter_listed_cases(erin, build, ListFilters(smart=SmartList.AGENTS_DISAGREE))
    assert [(case.rank, case.round) for case in found] == [(2, 1)]


def test_filters_narrow_each_in_its_way(erin: User, cases: list[Case]) -> None:
    say(erin, cases[0], 1)
    say(erin, cases[4], 0)
    assign_cases(erin, cases[0].build, cases[1:3], erin)
    assign_cases(erin, cases[0].build, cases[3:4], factories.person("eve", Role.EXPERT))
    tag_cases(erin, cases[0].build, cases[5:6], Tag.PARTIAL)

    assert places(erin, cases, label="0") == {2, 6}
    assert places(erin, cases, label="none") == {7, 8}
    Case.objects.filter(pk=cases[6].pk).update(basis=Basis.CLEAR)
    assert places(erin, cases, basis=Basis.CLEAR) == {6}
    assert places(erin, cases, outcome="failed") == {1}
    assert places(erin, cases, outcome="none") == {4, 5, 6, 7, 8}
    assert places(erin, cases, mine="any") == {0, 4}
    assert places(erin, cases, mine="0") == {4}
    assert places(erin, cases, mine="none", label="1") == {1, 3, 5}
    assert places(erin, cases, assigned="me") == {1, 2}
    assert places(erin, cases, assigned="others") == {3}
    assert places(erin, cases, assigned="none") == {0, 4, 5, 6, 7, 8}
    assert places(erin, cases, tag=Tag.PARTIAL) == {5}


def test_a_search_finds_queries_and_code_whatever_the_case(erin: User, cases: list[Case]) -> None:
    assert places(erin, cases, q="ISO DATE") == {3, 4, 5}
    assert places(erin, cases, q="isoformat") == {1, 4, 7}
    assert places(erin, cases, q="Items.Reverse()") == {0, 3, 6}
    assert places(erin, cases, q="100%") == set()


def test_the_order_by_information_begins_where_a_label_changes_most(erin: User, cases: list[Case]) -> None:
    say(factories.person("eve", Role.EXPERT), cases[6], 1)  # alone against the agents
    Case.objects.filter(pk=cases[5].pk).update(basis=Basis.DISPUTED)
    build = Build.objects.get(pk=cases[0].build_id)
    wanted = FilteredList(ListFilters(sort=Sort.INFORMATION))
    order, found = [], next_case(erin, build, wanted)
    while found and found.pk not in order:
        order.append(found.pk)
        found = next_case(erin, build, wanted, found)
    assert [[case.pk for case in cases].index(pk) for pk in order] == [6, 5, 1, 2, 3, 4, 0, 7, 8]


def test_a_test_that_checks_little_comes_before_one_that_checks_more(erin: User, cases: list[Case]) -> None:
    Case.objects.filter(pk=cases[2].pk).update(label=1, label_in_force=1)  # it agrees with its test now
    Execution.objects.filter(cases=cases[0]).update(touching_lines=2)
    build = Build.objects.get(pk=cases[0].build_id)
    wanted = ListFilters(sort=Sort.INFORMATION)
    order = list(cases_to_walk(erin, build, wanted))
    assert [cases.index(case) for case in order] == [1, 3, 4, 5, 6, 2, 0, 7, 8]
    program = cases[0].program
    assert program is not None
    ask_strength(erin, program, [])
    run = factories.execution(program, factories.a_report(Outcome.PASSED))
    Trial.objects.update(execution=run, state="done")
    order = list(cases_to_walk(erin, build, wanted))
    assert [cases.index(case) for case in order] == [1, 3, 0, 4, 5, 6, 2, 7, 8], "it missed every bug"


def test_a_list_is_walked_in_its_order_both_ways_without_what_is_labelled(
    erin: User, cases: list[Case]
) -> None:
    build = cases[0].build
    wanted = FilteredList(ListFilters(smart=SmartList.UNTESTED))
    assert next_case(erin, build, wanted) == cases[4]
    say(erin, cases[4], 1)
    assert next_case(erin, build, wanted, cases[4]) == cases[5]
    assert next_case(erin, build, wanted, cases[6]) == cases[5], "from the end to the beginning"
    assert previous_case(erin, build, wanted, cases[5]) == cases[4], "what was just labelled is seen again"
    assert previous_case(erin, build, wanted, cases[4]) is None


def test_the_address_of_a_list_leads_back_to_the_same_filters() -> None:
    filters = ListFilters(q="a&b=c #ü", smart="sample", seed=7, size=20, mine="none", sort=Sort.RANK)
    kind, _, encoded = str(FilteredList(filters)).partition("-")
    assert kind == "list"
    assert not set(str(FilteredList(filters))) & set("&=#+%? ")
    assert list_named(encoded) == FilteredList(filters)
    assert list_named("é") is None


def test_a_sample_is_the_same_for_its_seed_and_has_verdicts_alone(build: Build, cases: list[Case]) -> None:
    build.tally.refresh_from_db()
    first = draw_sample(build, 1, 3)
    assert len(first) == 3
    sample_cases.cache_clear()
    assert draw_sample(build, 1, 3) == first
    assert draw_sample(build, 1, 4)[:3] == first
    assert {*draw_sample(build, 2, 100)} == {case.pk for case in cases[:7]}
    assert any(draw_sample(build, seed, 3) != first for seed in range(2, 6))


def test_a_list_says_whether_it_tells_what_agents_said(build: Build) -> None:
    told: dict[str, bool] = {
        "": False, "smart=sample&seed=1": False, "q=x": False, "mine=none": False, "assigned=me": False,
        "label=1": True, "sort=information": True, "smart=untested": True, "tag=partial": True,
        "sort=changed": True, "sort=score": False,
    }  # fmt: skip
    for query, tells in told.items():
        assert tells_of_agents(build, FilteredList(filters_of(QueryDict(query)))) is tells, query


def test_assigned_pairs_are_a_list_until_they_are_labelled(erin: User, cases: list[Case]) -> None:
    build = cases[0].build
    assign_cases(erin, build, [cases[2], cases[8]], erin)
    assert list(cases_of_worklist(erin, build, Show.ASSIGNED)) == [cases[2], cases[8]]
    say(erin, cases[2], 0)
    assert next_case(erin, build, Show.ASSIGNED, cases[2]) == cases[8]


def test_hidden_labels_are_told_by_no_list(erin: User, cases: list[Case]) -> None:
    eve = factories.person("eve", Role.EXPERT)
    say(eve, cases[0], 0)
    say(factories.person("emil", Role.EXPERT), cases[0], 1)
    tag_cases(eve, cases[0].build, cases[:1], Tag.PARTIAL)
    Build.objects.update(hides_reviews=True)
    build = Build.objects.select_related("tally").get()
    erin = User.objects.get(pk=erin.pk)

    assert places(erin, cases, smart=SmartList.EXPERTS_DISAGREE) == set()
    assert places(erin, cases, tag=Tag.PARTIAL) == set()
    assert not cases_of_worklist(erin, build, Show.OVERRIDDEN)
    say(erin, cases[0], 1)
    assert places(erin, cases, smart=SmartList.EXPERTS_DISAGREE) == {0}
    assert places(erin, cases, tag=Tag.PARTIAL) == {0}
    assert list(cases_of_worklist(erin, build, Show.OVERRIDDEN)) == [cases[0]]
