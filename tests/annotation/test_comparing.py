"""Two builds over common pairs: what differs, what it took, and how sure one can be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import DjangoAssertNumQueries

from annotation import comparing
from annotation.models import Build
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
    found = comparing.compare(first, second)

    assert found.pairs == 9
    assert [found.count(one, other) for one in (1, 0) for other in (1, 0)] == [2, 2, 2, 1]
    assert (found.count(None, 0), found.count(None, None)) == (1, 1)
    assert (found.judged, found.flips) == (7, 4)


def test_the_other_way_round_is_its_mirror(first: Build, second: Build) -> None:
    here, there = comparing.compare(first, second), comparing.compare(second, first)

    both = [(one, other) for one in (0, 1, None) for other in (0, 1, None)]
    assert [here.count(*pair) for pair in both] == [there.count(*reversed(pair)) for pair in both]
    assert here.took == there.took[::-1]
    assert here.spread.shift and there.spread.shift
    assert here.spread.shift.value == -there.spread.shift.value


def test_flips_say_who_decided(first: Build, second: Build) -> None:
    flips = {
        (one.first.tested, one.second.tested): one.pairs
        for one in comparing.compare(first, second).groups
        if one.is_flip and one.first.label == 1
    }
    assert flips == {(False, False): 1, (True, False): 1}


def test_queries_with_flips_come_the_worst_first(first: Build, second: Build) -> None:
    worst = comparing.compare(first, second).worst

    assert [(one.to_match, one.to_no_match, one.judged) for one in worst] == [(2, 0, 3), (0, 1, 3), (0, 1, 1)]
    assert worst[0].query.text == factories.QUERIES[1]


def test_what_each_took_is_counted_over_the_common_pairs_alone(first: Build, second: Build) -> None:
    one, other = comparing.compare(first, second).took

    assert (one.calls, one.programs, one.ran) == (9, 1, 1)
    assert (other.calls, other.programs, other.ran) == (8, 0, 0)
    assert (one.input_tokens, one.output_tokens) == (9 * 500, 9 * 60)


def test_builds_without_a_common_pair_say_nothing(first: Build) -> None:
    lonely = factories.launched("lonely", mining=factories.mining())
    found = comparing.compare(first, fresh(lonely))

    assert (found.pairs, found.judged, found.worst) == (0, 0, ())
    assert found.spread.agreement is None and found.spread.shift is None


def test_a_build_that_went_on_is_compared_anew(first: Build, second: Build) -> None:
    before = comparing.compare(first, second).judged
    last = factories.cases(first)[8]
    factories.settled(last, 1)
    factories.settled(factories.cases(second)[8], 1)

    assert comparing.compare(fresh(first), fresh(second)).judged == before + 1


def test_a_second_look_at_finished_builds_reads_only_the_texts(
    first: Build, second: Build, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    comparing.compare(first, second)
    with django_assert_num_queries(1):
        comparing.compare(first, second)


def test_settings_that_differ_are_named(first: Build, second: Build) -> None:
    assert comparing.settings_that_differ(first, second) == {"model": ("small-model", "other")}
    assert comparing.settings_that_differ(first, first) == {}


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)).map(
            lambda row: (row[0], row[1], sum(row) or 1)
        ),
        min_size=1,
    )
)
def test_shares_lie_in_their_intervals_and_those_in_bounds(queries: list[tuple[int, int, int]]) -> None:
    agreement, shift = comparing.shares(queries)

    assert agreement and shift
    assert 0 <= agreement.low <= agreement.high <= 1
    assert -1 <= shift.low <= shift.high <= 1
    if len(set(queries)) == 1:
        assert agreement.low == pytest.approx(agreement.value) == pytest.approx(agreement.high)


def test_without_flips_the_sides_agree() -> None:
    agreement, shift = comparing.shares([(0, 0, 5), (0, 0, 3)])

    assert agreement == comparing.Interval(1, 1, 1)
    assert shift == comparing.Interval(0, 0, 0)
