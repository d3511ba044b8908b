"""What the tables of studies refuse by themselves."""

from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from annotation.models import Assignment, Quota, Rating, StudyPair
from tests import studies

pytestmark = pytest.mark.django_db


def refused(make: object) -> None:
    assert callable(make)
    with pytest.raises(IntegrityError), transaction.atomic():
        make()


def test_a_pair_is_in_a_study_once() -> None:
    study = studies.study()
    pair = study.pairs.get(number=1)
    refused(lambda: StudyPair.objects.create(study=study, number=9, pair=pair.pair))
    other = study.pairs.get(number=2).pair
    StudyPair.objects.create(study=study, number=9, pair=pair.pair, other=other)
    refused(lambda: StudyPair.objects.create(study=study, number=10, pair=pair.pair, other=other))


def test_a_planted_pair_has_an_answer_and_a_probability_is_one() -> None:
    study = studies.study(pairs=())
    pair = studies.three_pairs()[0]
    refused(lambda: StudyPair.objects.create(study=study, number=1, pair=pair, planted="attention"))
    refused(lambda: StudyPair.objects.create(study=study, number=1, pair=pair, probability=0.0))
    StudyPair.objects.create(study=study, number=1, pair=pair, planted="attention", answer=0)


def test_no_more_is_handed_out_than_is_wanted() -> None:
    study = studies.study(raters=1)
    studies.assignment(studies.rater("rita", study))
    quota = Quota.objects.get(study_pair__number=1)
    quota.reserved = 2
    refused(quota.save)


def test_a_rater_is_given_a_pair_once() -> None:
    study = studies.study()
    rita = studies.rater("rita", study)
    pair = study.pairs.get(number=1)
    studies.assignment(rita, pair)
    refused(lambda: studies.assignment(rita, pair))
    studies.assignment(rita, pair, round=2)
    assert Assignment.objects.count() == 2


def test_a_revision_is_stored_once_and_the_last_one_counts() -> None:
    rita = studies.rater("rita", studies.study())
    first = studies.rated(rita, 1)
    refused(lambda: Rating.objects.create(assignment=first.assignment, revision=1, evidence="", value=0))
    second = Rating.objects.create(
        assignment=first.assignment, revision=2, evidence="", value=0, supersedes=first
    )
    assert list(Rating.objects.current()) == [second]
    Rating.objects.create(
        assignment=first.assignment, revision=3, evidence="", withdrawn=True, supersedes=second
    )
    assert not Rating.objects.current().exists()
