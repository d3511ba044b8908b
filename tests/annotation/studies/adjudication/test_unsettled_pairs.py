"""Pairs without a majority, counted by the database: the same as of votes that are read."""

from __future__ import annotations

from random import Random

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Enrolment, Quota, Rating, Study
from annotation.studies.adjudication import decisions
from annotation.studies.adjudication.quorum import VALUES, settle_votes
from annotation.studies.adjudication.unsettled_pairs import count_unsettled_ratings
from annotation.studies.enrolment.repeat_rounds import RepeatPairFilter, ask_again
from tests import factories, studies
from tests.annotation.studies.rated import many_pairs, rate

pytestmark = pytest.mark.django_db
PAIRS = 24


def voted(scale: str, raters: int, seed: int) -> Study:
    """A study of three raters a pair, and perhaps one more, who said anything of the scale or were unsure."""
    kind = Study.Kind.PAIRWISE if scale == Study.Scale.PREFERENCE else Study.Kind.RATING
    study = studies.study(pairs=many_pairs(PAIRS), raters=3, scale=scale, kind=kind)
    Quota.objects.update(wanted=max(raters, 3))
    chance = Random(seed)
    votes = [[chance.choice([*VALUES[scale], None]) for _ in range(PAIRS)] for _ in range(raters)]
    rate(study, studies.condition(study).kind, votes)
    return study


def by_votes(study: Study) -> dict[tuple[int, int], int]:
    """The same from the votes themselves."""
    found = decisions.given_of(study)
    open_ones = {
        place: votes for place, votes in found.items() if settle_votes(votes, study.scale, 3) is None
    }
    return {(pair, condition): len(votes) for (pair, _, condition), votes in open_ones.items()}


@pytest.mark.parametrize("scale", VALUES)
@pytest.mark.parametrize("raters", [2, 3, 4])
def test_the_database_counts_as_the_rule_does(scale: str, raters: int) -> None:
    study = voted(scale, raters, raters)
    assert 0 < len(by_votes(study)) < PAIRS
    assert count_unsettled_ratings(study) == by_votes(study)


def test_only_the_last_round_revision_and_raters_that_count_are_counted() -> None:
    study = voted(Study.Scale.BINARY, 3, 1)
    last = Rating.objects.order_by("-pk")[0]
    Rating.objects.create(assignment=last.assignment, value=1, revision=2, supersedes=last, evidence="0" * 64)
    ask_again(study, RepeatPairFilter(slice="split"), "stricter now", factories.ada())
    late = studies.rater("late", study)
    studies.rated(late, 1, study.pairs.filter(quotas__round=2).order_by("number")[0])
    assert count_unsettled_ratings(study) == by_votes(study)
    Enrolment.objects.filter(pseudonym="R01").update(excluded=True)
    assert count_unsettled_ratings(study) == by_votes(study)


def test_of_one_pair_nothing_else_is_read() -> None:
    study = voted(Study.Scale.BINARY, 4, 2)
    every = decisions.load_split_pairs(study)
    assert len(every) > 1
    for one in every:
        assert decisions.load_split_pairs(study, study.pairs.get(pk=one.study_pair)) == [one]
        assert decisions.is_split(study.pairs.get(pk=one.study_pair), studies.condition(study))


def test_where_raters_agree_no_vote_is_read() -> None:
    study = studies.study(pairs=many_pairs(PAIRS), raters=3)
    rate(study, studies.condition(study).kind, [[1] * PAIRS] * 3)
    with CaptureQueriesContext(connection) as asked:
        assert decisions.find_split_places(study) == {}
    assert len(asked) == 1
