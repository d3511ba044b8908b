"""What a rater is told of their own part, and that it waits until the study is closed."""

from __future__ import annotations

import pytest
from django.test import Client

from annotation.models import Adjudication, Enrolment, Seen, Study, StudyPair
from annotation.studies.report.own_part import summarize_own_part
from tests import factories, studies
from tests.annotation.studies.rated import rated_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def rita() -> Enrolment:
    """Of three pairs she labels 1, 0, 1; the two others 1, 1, 0 and 1, 0, 0."""
    study = rated_study([[1, 0, 1], [1, 1, 0], [1, 0, 0]])
    return study.enrolments.order_by("pk")[0]


def close(rater: Enrolment) -> Enrolment:
    Study.objects.filter(pk=rater.study_id).update(state=Study.State.CLOSED)
    return Enrolment.objects.select_related("study", "condition", "user").get(pk=rater.pk)


def decide(rater: Enrolment, number: int, value: int) -> None:
    pair = rater.study.pairs.get(number=number)
    Adjudication.objects.create(
        study_pair=pair, condition=rater.condition, value=value, cause="slip", note="so", by=factories.ada()
    )


def test_her_labels_are_compared_with_those_of_each_other_rater(rita: Enrolment) -> None:
    found = summarize_own_part(close(rita))
    assert found is not None
    # pair 1: same as both; pair 2: same as one of two; pair 3: as none
    assert (found.same, found.compared) == (2 + 1 + 0, 6)
    assert found.decided == ()


def test_what_was_decided_later_stands_beside_what_she_said(rita: Enrolment) -> None:
    decide(rita, 3, 0)
    found = summarize_own_part(close(rita))
    assert found is not None
    assert [(row.number, row.said, row.decided) for row in found.decided] == [(3, 1, 0)]


def test_a_running_study_tells_nothing(rita: Enrolment) -> None:
    decide(rita, 3, 0)
    assert summarize_own_part(rita) is None


def test_whoever_rates_such_a_pair_elsewhere_is_told_nothing(rita: Enrolment) -> None:
    pair = rita.study.pairs.get(number=1).pair
    studies.rater(rita.user.get_username(), studies.study("another", pairs=[pair]))
    assert summarize_own_part(close(rita)) is None


def test_planted_pairs_are_left_out(rita: Enrolment) -> None:
    StudyPair.objects.filter(study=rita.study, number=1).update(planted="onboarding", answer=1)
    found = summarize_own_part(close(rita))
    assert found is not None and (found.same, found.compared) == (1, 4)


def test_the_page_says_it_and_remembers_that_it_was_seen(client: Client, rita: Enrolment) -> None:
    decide(rita, 3, 0)
    client.force_login(rita.user)
    before = client.get(f"/rate/{rita.study_id}/").content.decode()
    assert "Decided later" not in before and not Seen.objects.filter(user=rita.user).exists()
    close(rita)
    after = client.get(f"/rate/{rita.study_id}/").content.decode()
    assert "50.0 %: the same label as another rater in 3 of 6 comparisons" in after
    assert "Decided later" in after and "Time a pair" in after
    assert Seen.objects.filter(user=rita.user).count() == 3
