"""Tags and assignments of many rows at once, and their undo."""

from __future__ import annotations

from collections import Counter

import pytest
from django.contrib.auth.models import User

from annotation.accounts.roles import Role
from annotation.models import Build, Case, ListChange, PairTag, Review, ReviewAssignment
from annotation.review.tags import Tag
from annotation.review.worklists.list_changes import (
    MOST_AT_ONCE,
    ListChangeRefused,
    assign_cases,
    checked_cases,
    share_cases_out,
    share_out,
    tag_cases,
    unassign_cases,
    undo_last_change,
    untag_cases,
)
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def erin() -> User:
    return factories.erin()


@pytest.fixture
def eve() -> User:
    return factories.person("eve", Role.EXPERT)


@pytest.fixture
def build() -> Build:
    return factories.opened()


@pytest.fixture
def cases(build: Build) -> list[Case]:
    return factories.cases(build)


def tagged() -> set[int]:
    return set(PairTag.objects.filter(removed=None).values_list("pair", flat=True))


def assigned() -> set[tuple[int, str]]:
    rows = ReviewAssignment.objects.filter(removed=None)
    return set(rows.values_list("case", "expert__username"))


def test_a_tag_is_put_on_once_taken_off_and_undone_step_by_step(
    erin: User, build: Build, cases: list[Case]
) -> None:
    assert tag_cases(erin, build, cases[:2], Tag.PARTIAL) == 2
    assert tag_cases(erin, build, cases[:3], Tag.PARTIAL) == 1, "two have it already"
    assert untag_cases(erin, build, cases[1:2], Tag.PARTIAL) == 1
    assert tagged() == {cases[0].pair_id, cases[2].pair_id}

    assert undo_last_change(erin, build).kind == ListChange.Kind.UNTAG
    assert tagged() == {case.pair_id for case in cases[:3]}
    undo_last_change(erin, build)
    assert tagged() == {case.pair_id for case in cases[:2]}
    undo_last_change(erin, build)
    assert tagged() == set()
    with pytest.raises(ListChangeRefused, match="nothing to undo"):
        undo_last_change(erin, build)
    assert not Review.objects.exists(), "nothing was labelled"
    assert ListChange.objects.count() == 6, "and every change is kept"


def test_an_undo_is_of_ones_own_change(erin: User, eve: User, build: Build, cases: list[Case]) -> None:
    assign_cases(erin, build, cases[:1], eve)
    with pytest.raises(ListChangeRefused):
        undo_last_change(eve, build)
    assert assigned() == {(cases[0].pk, "eve")}


def test_pairs_are_assigned_to_experts_alone(erin: User, eve: User, build: Build, cases: list[Case]) -> None:
    assert assign_cases(erin, build, cases[:2], eve) == 2
    assert assign_cases(erin, build, cases[:2], eve) == 0
    assert unassign_cases(erin, build, cases[:1], eve) == 1
    assert assigned() == {(cases[1].pk, "eve")}
    with pytest.raises(ListChangeRefused, match="ray is no expert"):
        assign_cases(erin, build, cases[:1], factories.ray())


def test_too_many_or_foreign_rows_change_nothing(build: Build, cases: list[Case]) -> None:
    with pytest.raises(ListChangeRefused, match="Tick"):
        checked_cases(build, [])
    with pytest.raises(ListChangeRefused, match=str(MOST_AT_ONCE)):
        checked_cases(build, range(1, MOST_AT_ONCE + 2))
    other = factories.opened("second")
    with pytest.raises(ListChangeRefused, match="not in this build"):
        checked_cases(other, [cases[0].pk])


def test_a_share_is_even_overlaps_as_asked_and_repeats_with_its_seed() -> None:
    shares = share_out(range(100, 110), [1, 2, 3], 2, seed=5)
    assert shares == share_out(list(range(109, 99, -1)), [3, 2, 1], 2, seed=5)
    assert shares != share_out(range(100, 110), [1, 2, 3], 2, seed=6)
    held = Counter(expert for _, expert in shares)
    assert max(held.values()) - min(held.values()) <= 1, "10 × 2 = 7 + 7 + 6"
    assert all(len({expert for case, expert in shares if case == pair}) == 2 for pair in range(100, 110))


def test_shared_out_pairs_are_undone_together(erin: User, eve: User, build: Build, cases: list[Case]) -> None:
    ids = [case.pk for case in cases]
    assert share_cases_out(erin, build, ids, [erin, eve], 2, 1) == 18
    undo_last_change(erin, build)
    assert assigned() == set()
    for experts, overlap, words in (([erin], 2, "as many experts"), ([], 1, "Choose an expert")):
        with pytest.raises(ListChangeRefused, match=words):
            share_cases_out(erin, build, ids, experts, overlap, 1)
