"""Pairwise samples: a match of each benchmark, never the same snippet, with right probabilities."""

from __future__ import annotations

from statistics import fmean, stdev

import pytest

from annotation.models import Build
from annotation.schemas.studies.studies import SampleWish, Stratifier
from annotation.studies.sampling.pairwise import Match, draw_pairwise, matches_of_build, matches_of_labels
from annotation.studies.sampling.sample_order import SampleRefused
from retrieval.models import Annotator, Label
from tests import factories

FIRST = {
    1: [Match(11, 101, 1), Match(12, 102, 2)],
    2: [Match(21, 101, 3)],
    3: [Match(31, 101, 4)],
    4: [Match(41, 104, 5)],
}
SECOND = {1: [Match(11, 101), Match(13, 103)], 2: [Match(21, 101)], 3: [Match(32, 105), Match(31, 101)]}


def test_a_comparison_has_two_snippets_of_one_query() -> None:
    for seed in range(50):
        sample = draw_pairwise(FIRST, SECOND, SampleWish(size=9, seed=seed))
        assert (sample.queries, sample.population_queries, sample.population) == (2, 2, 4)
        for one in sample.drawn:
            assert one.unit.other is not None and one.unit.pair != one.unit.other
            assert one.unit.query in {1, 3} and one.unit.case


def test_weights_estimate_the_number_of_comparisons() -> None:
    totals = [
        sum(1 / one.probability for one in draw_pairwise(FIRST, SECOND, SampleWish(size=1, seed=seed)).drawn)
        for seed in range(2000)
    ]
    assert abs(fmean(totals) - 4) < 4 * stdev(totals) / 2000**0.5


def test_what_can_not_be_compared() -> None:
    with pytest.raises(SampleRefused, match="No query"):
        draw_pairwise(FIRST, {2: [Match(21, 101)]}, SampleWish(size=9))
    with pytest.raises(SampleRefused, match="without strata"):
        draw_pairwise(FIRST, SECOND, SampleWish(size=9, strata=(Stratifier.RANK,)))


@pytest.mark.django_db
def test_matches_come_from_builds_and_from_imported_labels() -> None:
    build: Build = factories.said(factories.opened(), (1, 0, 1))
    own = matches_of_build(build)
    first, second, third = factories.cases(build)[:3]
    assert [(one.pair, one.case) for one in own[first.query_id]] == [
        (first.pair_id, first.pk),
        (third.pair_id, third.pk),
    ]
    source = Annotator.objects.version(Annotator.Kind.ORIGINAL, "CoSQA", {})
    Label.objects.create(pair=second.pair, annotator=source, value=1)
    Label.objects.create(pair=third.pair, annotator=source, value=1)
    Label.objects.create(pair=third.pair, annotator=source, value=0, round=2)
    theirs = matches_of_labels(source)
    assert [one.pair for one in theirs[first.query_id]] == [second.pair_id]
    assert draw_pairwise(own, theirs, SampleWish(size=5)).population == 2
