"""Two annotators over the pairs that both have labelled: which labels count, and what they show."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from pytest_django import DjangoAssertNumQueries

from annotation.builds.results import label_comparison
from annotation.builds.results.annotator_comparison import (
    LAST,
    AnnotatorComparison,
    AnnotatorSide,
    compare_two_annotators,
    few_flips,
    flipped_pairs,
    side_of,
)
from annotation.models import Build
from retrieval.models import Annotator, Label, Pair
from tests import factories

pytestmark = pytest.mark.django_db
LABELS = (1, 1, 0, 0, 1, 0)
ORIGINAL = (1, 0, 0, 1, None)


@pytest.fixture
def build() -> Build:
    """Nine cases of three queries; six are settled, one is abandoned, two are open."""
    made = factories.opened()
    cases = factories.cases(made)
    for case, label in zip(cases, LABELS, strict=False):
        factories.settled(case, label)
    factories.abandoned(cases[6])
    return made


@pytest.fixture
def agents(build: Build) -> Annotator:
    return build.annotator


@pytest.fixture
def original(build: Build) -> Annotator:
    """Labels of five pairs that agents judged, one taken back, and of one that they could not."""
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "original", {})
    say(by, build, ORIGINAL)
    Label.objects.create(pair=factories.cases(build)[6].pair, annotator=by, value=0)
    return by


def say(by: Annotator, build: Build, values: Sequence[int | None], number: int = 1) -> None:
    """The values as labels of the build's first pairs."""
    for case, value in zip(factories.cases(build), values, strict=False):
        Label.objects.create(pair=case.pair, annotator=by, round=number, value=value)


def found(first: Annotator, second: Annotator, one: int = LAST, other: int = LAST) -> AnnotatorComparison:
    return compare_two_annotators(side_of(first, one), side_of(second, other), Build.objects.all())


def test_only_pairs_with_a_label_of_both_are_common(agents: Annotator, original: Annotator) -> None:
    told = found(agents, original)

    assert told.cells == {(1, 1): 1, (1, 0): 1, (0, 1): 1, (0, 0): 1}
    assert (told.pairs, told.flips, told.queries, told.flipped_queries) == (4, 2, 2, 2)
    assert [told.alone(0, label) for label in (1, 0)] == [1, 1]
    assert [told.alone(1, label) for label in (1, 0)] == [0, 1]


def test_a_label_given_with_a_judgement_on_screen_is_left_out(agents: Annotator, original: Annotator) -> None:
    Label.objects.filter(annotator=original, value=1).update(assisted=True)

    told = found(agents, original)
    assert told.cells == {(1, 1): 0, (1, 0): 1, (0, 1): 0, (0, 0): 1}
    assert found(original, agents).pairs == told.pairs
    assert told.alone(1, 1) == 0


def test_the_other_way_round_is_its_mirror(agents: Annotator, original: Annotator) -> None:
    here, there = found(agents, original), found(original, agents)

    assert here.cells == {(one, other): pairs for (other, one), pairs in there.cells.items()}
    assert [here.alone(0, 0), here.alone(1, 0)] == [there.alone(1, 0), there.alone(0, 0)]
    assert here.figures.to_match == there.figures.to_no_match
    assert here.took == there.took[::-1]


def test_what_the_builds_took_is_of_the_common_pairs(agents: Annotator, original: Annotator) -> None:
    took, none = found(agents, original).took

    assert none is None
    assert took and (took.calls, took.input_tokens) == (4, 4 * 500)


@pytest.mark.parametrize(
    ("number", "cells"),
    [(1, (1, 1, 1, 1)), (2, (0, 1, 1, 0)), (LAST, (0, 1, 2, 0)), (7, (0, 1, 2, 0))],
)
def test_a_round_is_chosen_and_else_each_pairs_last_counts(
    agents: Annotator,
    original: Annotator,
    build: Build,
    number: int,
    cells: tuple[int, int, int, int],
) -> None:
    """The second round takes the first label back, repeats the second and turns the third."""
    say(original, build, (None, 0, 1), number=2)

    assert tuple(found(agents, original, other=number).cells.values()) == cells
    mirrored = found(original, agents, one=number).cells
    assert tuple(mirrored[second, first] for first, second in mirrored) == cells


def test_two_rounds_of_one_annotator_are_compared(original: Annotator, build: Build) -> None:
    say(original, build, (1, 1), number=2)
    told = found(original, original, one=1, other=2)
    assert told.cells == {(1, 1): 1, (1, 0): 0, (0, 1): 1, (0, 0): 0}


@pytest.mark.parametrize(("values", "cells"), [((3, 0), (1, 1)), ((2, 1), (1, 1)), ((1, 1), (0, 2))])
def test_graded_labels_are_matches_from_2_as_in_studies(
    agents: Annotator, build: Build, values: tuple[int, int], cells: tuple[int, int]
) -> None:
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "graded", {})
    for case, value in zip(factories.cases(build), values, strict=False):
        Label.objects.create(pair=case.pair, annotator=by, value=value, scale=Label.Scale.GRADED)
    told, back = found(agents, by), found(by, agents)
    assert (told.cells[1, 1], told.cells[1, 0], told.scales_differ) == (*cells, True)
    assert (back.cells[1, 1], back.cells[0, 1]) == cells
    assert [(one.first, one.second) for one in flipped_pairs(told, Build.objects.all())] == [(1, 0)] * cells[
        1
    ]


def test_flips_lead_to_the_cases_of_builds_that_one_may_know_of(
    agents: Annotator, original: Annotator, build: Build
) -> None:
    told = found(agents, original)
    cases = factories.cases(build)

    assert [(one.query, one.to_match, one.to_no_match, one.pairs) for one in told.worst] == [
        (cases[0].query_id, 0, 1, 3),
        (cases[3].query_id, 1, 0, 1),
    ]
    flips = flipped_pairs(told, Build.objects.all())
    assert [(one.pair, one.first, one.second) for one in flips] == [
        (cases[1].pair, 1, 0),
        (cases[3].pair, 0, 1),
    ]
    assert [one.case for one in flips] == [cases[1], cases[3]]
    assert [one.case for one in flipped_pairs(told, Build.objects.none())] == [None, None]


def test_annotators_without_a_common_pair_say_nothing(agents: Annotator) -> None:
    by = Annotator.objects.version(Annotator.Kind.ORIGINAL, "elsewhere", {})
    told = found(agents, by)
    assert (told.pairs, told.worst, told.figures.agreement) == (0, (), None)


def test_another_label_is_compared_anew_and_a_second_look_reads_nothing_else(
    agents: Annotator, original: Annotator, build: Build, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    before = found(agents, original).pairs
    sides: tuple[AnnotatorSide, AnnotatorSide] = (side_of(agents), side_of(original))
    with django_assert_num_queries(4):
        compare_two_annotators(*sides, Build.objects.all())
    pair = Pair.objects.get(pk=factories.cases(build)[5].pair_id)
    Label.objects.create(pair=pair, annotator=original, value=0)
    assert found(agents, original).pairs == before + 1


def test_a_few_flips_are_kept_until_somebody_labels(
    agents: Annotator, original: Annotator, build: Build, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    sides = side_of(agents), side_of(original)
    cases = factories.cases(build)
    with django_assert_num_queries(3):
        assert few_flips(*sides) == few_flips(*sides)
    assert set(few_flips(*sides) or ()) == {cases[1].pair_id, cases[3].pair_id}
    Label.objects.create(pair=cases[1].pair, annotator=original, round=2, value=1)
    assert few_flips(side_of(agents), side_of(original)) == (cases[3].pair_id,)


def test_many_flips_are_not_kept_one_by_one(
    agents: Annotator, original: Annotator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_comparison, "MOST_RARE", 1)
    assert few_flips(side_of(agents), side_of(original)) is None
