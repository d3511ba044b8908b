"""Two labels of each pair, counted by query."""

from __future__ import annotations

import pytest
from django.db.models import Q
from hypothesis import given
from hypothesis import strategies as st

from annotation.builds.results.label_comparison import (
    MOST_QUERIES,
    CommonPairs,
    FlippedQuery,
    LabelComparison,
    compare_labels,
)
from annotation.models import Case
from annotation.stats.intervals import Mean, clopper_pearson
from tests import factories

COUNTS = st.lists(st.tuples(*[st.integers(0, 9)] * 4).filter(any), min_size=1)


def test_cells_flips_and_queries_by_hand() -> None:
    """Pairs of two queries: (1, 1) 3 + 0, (1, 0) 1 + 2, (0, 1) 2 + 0, (0, 0) 4 + 0."""
    found = LabelComparison(**compare_labels([(7, 3, 1, 2, 4), (9, 0, 2, 0, 0)]))
    assert found.cells == {(1, 1): 3, (1, 0): 3, (0, 1): 2, (0, 0): 4}
    assert (found.pairs, found.judged, found.flips) == (12, 12, 5)
    assert (found.queries, found.flipped_queries, found.few_queries) == (2, 2, True)
    assert found.worst == (FlippedQuery(7, 2, 1, 10), FlippedQuery(9, 0, 2, 2))
    assert found.told_queries == [9], "all its pairs moved one way"
    assert found.figures.agreement and found.figures.agreement.value == pytest.approx(7 / 12)
    assert found.figures.shift and found.figures.shift.value == pytest.approx(-1 / 12)


def test_without_a_pair_there_is_no_figure() -> None:
    found = LabelComparison(**compare_labels([]))
    assert (found.pairs, found.worst, found.figures.agreement) == (0, (), None)
    assert found.count(1, None) is None


def test_the_worst_queries_are_few_and_of_equal_ones_the_first_come_first() -> None:
    rows = [(query, 1, 1, 0, 0) for query in range(MOST_QUERIES + 5, 0, -1)]
    worst = compare_labels(rows)["worst"]
    assert [one.query for one in worst] == list(range(1, MOST_QUERIES + 1))


@given(COUNTS)
def test_shares_lie_in_their_intervals_and_those_in_bounds(counts: list[tuple[int, int, int, int]]) -> None:
    figures = compare_labels([(query, *row) for query, row in enumerate(counts)])["figures"]
    agreement, shift = figures.agreement, figures.shift
    assert 0 <= agreement.low <= agreement.value <= agreement.high <= 1
    assert -1 <= shift.low <= shift.value <= shift.high <= 1
    assert agreement.low < agreement.high


def test_without_flips_the_sides_agree_as_far_as_two_queries_tell() -> None:
    figures = compare_labels([(1, 5, 0, 0, 0), (2, 5, 0, 0, 0)])["figures"]
    least = clopper_pearson(2, 2)[0]
    assert figures.agreement == Mean(1, least, 1)
    assert figures.shift == Mean(0, least - 1, 1 - least)


@pytest.mark.django_db
def test_rows_are_counted_by_query_and_those_that_differ_are_found() -> None:
    """A case is a match to the first by its label, to the second where it is among the first two."""
    build = factories.opened()
    cases = factories.cases(build)
    for case in cases:
        factories.settled(case, case.pk % 2)
    common = CommonPairs(Case.objects.filter(build=build), "query", Q(label=1), Q(rank__lte=2))
    rows = [(case.query_id, case.pk % 2, int(case.rank <= 2)) for case in cases]
    expected = {
        query: tuple(sum(row == (query, *cell) for row in rows) for cell in ((1, 1), (1, 0), (0, 1), (0, 0)))
        for query in {row[0] for row in rows}
    }
    assert {query: tuple(counts) for query, *counts in common.count_by_query()} == expected
    differing = {case.pk for case in cases if case.pk % 2 != int(case.rank <= 2)}
    assert {case.pk for case in common.differing()} == differing
