"""Which case comes next, and how far a person is."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries

from annotation import review
from annotation.accounts.roles import Role
from annotation.models import Basis, Build, Case, Tally
from annotation.review.worklists.order import (
    Progress,
    Show,
    cases_of_worklist,
    count_review_progress,
    next_case,
    previous_case,
    reviewed_counts,
)
from annotation.stages import Stage
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def erin() -> User:
    return factories.erin()


@pytest.fixture
def build() -> Build:
    return factories.opened()


@pytest.fixture
def cases(build: Build) -> list[Case]:
    """Nine cases by query and rank: seven settled as a match, one abandoned, one open."""
    found = factories.cases(build)
    return [*(factories.settled(case, 1) for case in found[:7]), factories.abandoned(found[7]), found[8]]


def label(user: User, case: Case, value: int | None) -> None:
    review.store_label(user, case, value, "because", "e" * 64, 0)


def test_waiting_cases_come_by_query_and_rank_and_labelled_ones_drop_out(
    erin: User, build: Build, cases: list[Case]
) -> None:
    label(erin, cases[1], 1)

    order = [cases[0]]
    while (found := next_case(erin, build, Show.WAITING, order[-1])) != cases[0]:
        assert found is not None
        order.append(found)
    assert order == [cases[0], *cases[2:7]]


def test_another_persons_label_takes_no_case_away(erin: User, build: Build, cases: list[Case]) -> None:
    label(factories.person("eve", Role.EXPERT), cases[0], 1)

    assert next_case(erin, build, Show.WAITING) == cases[0]


def test_a_withdrawn_label_brings_the_case_back(erin: User, build: Build, cases: list[Case]) -> None:
    label(erin, cases[0], 1)
    review.undo_latest_label(erin, cases[0], 1)

    assert next_case(erin, build, Show.WAITING) == cases[0]


def test_when_all_are_labelled_nothing_is_next(erin: User, build: Build, cases: list[Case]) -> None:
    for case in cases[:7]:
        label(erin, case, 1)

    assert next_case(erin, build, Show.WAITING, cases[3]) is None


def test_previous_goes_back_to_what_was_just_labelled(erin: User, build: Build, cases: list[Case]) -> None:
    label(erin, cases[0], 1)

    assert previous_case(erin, build, Show.WAITING, cases[1]) == cases[0]
    assert previous_case(erin, build, Show.WAITING, cases[0]) is None


@pytest.mark.parametrize(
    ("show", "numbers"),
    [
        (Show.WAITING, [3, 4, 5, 6]),
        (Show.UNSETTLED, [7, 8]),
        (Show.REVIEWED, [0, 1, 2]),
        (Show.UNSURE, [1]),
        (Show.OVERRIDDEN, [2]),
        (Show.ALL, [0, 1, 2, 3, 4, 5, 6, 7, 8]),
    ],
)
def test_each_list_holds_its_cases(
    erin: User, build: Build, cases: list[Case], show: Show, numbers: list[int]
) -> None:
    label(erin, cases[0], 1)
    label(erin, cases[1], None)
    label(erin, cases[2], 0)

    assert list(cases_of_worklist(erin, build, show)) == [cases[number] for number in numbers]


def test_an_override_by_anybody_is_listed(erin: User, build: Build, cases: list[Case]) -> None:
    label(factories.person("eve", Role.EXPERT), cases[4], 0)

    assert list(cases_of_worklist(erin, build, Show.OVERRIDDEN)) == [cases[4]]


def test_progress_counts_ones_own_labels(erin: User, build: Build, cases: list[Case]) -> None:
    label(erin, cases[0], 1)
    label(erin, cases[4], None)
    label(factories.person("eve", Role.EXPERT), cases[1], 1)
    build = Build.objects.select_related("tally").get(pk=build.pk)

    assert count_review_progress(erin, build, cases[0].query_id) == Progress(
        reviewed=2, total=9, left_of_query=2
    )
    assert reviewed_counts(erin, Build.objects.all()) == {build.pk: 2}


def test_a_label_counts_in_every_build_that_has_the_pair(erin: User, build: Build, cases: list[Case]) -> None:
    second = factories.opened("second")
    label(erin, cases[0], 1)

    assert reviewed_counts(erin, Build.objects.all()) == {build.pk: 1, second.pk: 1}
    assert reviewed_counts(erin, Build.objects.filter(pk=second.pk)) == {second.pk: 1}


def test_the_next_case_costs_few_queries_however_large_the_build(
    erin: User, build: Build, cases: list[Case], django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    with_totals = Build.objects.select_related("tally").get(pk=build.pk)  # as every page reads it
    with django_assert_max_num_queries(2):
        next_case(erin, with_totals, Show.WAITING, cases[6])


def test_pairs_on_which_reader_and_arbiter_differ_come_first(
    erin: User, build: Build, cases: list[Case]
) -> None:
    late = next(case for case in reversed(cases) if case.stage == Stage.SETTLED)
    Case.objects.filter(pk=late.pk).update(basis=Basis.DISPUTED)
    Tally.objects.filter(build=build).update(disputed=1)
    fresh = Build.objects.get(pk=build.pk)
    assert next_case(erin, fresh, Show.WAITING) == late
    assert next_case(erin, fresh, Show.DISPUTED) == late
    assert next_case(erin, fresh, Show.WAITING, late) != late
