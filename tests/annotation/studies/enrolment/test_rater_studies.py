"""What a rater still has to do, and what is stored before the first pair."""

from __future__ import annotations

import pytest

from annotation.models import Assignment, StudyPair
from annotation.studies.enrolment import queue, rater_studies, raters
from annotation.studies.enrolment.rater_studies import BadProfile, Profile, Wanted
from annotation.studies.enrolment.repeat_rounds import RepeatPairFilter, ask_again
from tests import factories, studies

pytestmark = pytest.mark.django_db
State = Assignment.State


def test_what_is_left_ends_with_the_capacity() -> None:
    rita = studies.rater("rita", studies.study(), capacity=2)
    assert rater_studies.work_of(rita).left == 2
    studies.rated(rita, 1)
    work = rater_studies.work_of(rita)
    assert (work.done, work.left, work.total, work.seconds) == (1, 1, 2, 20)
    assert work.seconds_left == 20


def test_what_an_admin_has_left_out_was_rated_all_the_same() -> None:
    rita = studies.rater("rita", studies.study(raters=1))
    studies.rated(rita, 1)
    raters.remove_rater(rita, "clicked through", factories.ada(), exclude=True)
    rita.refresh_from_db()
    work = rater_studies.work_of(rita)
    assert (work.done, work.left) == (1, 0)


def test_an_open_pair_and_one_that_lapsed_are_left() -> None:
    rita = studies.rater("rita", studies.study(), capacity=3)
    studies.assignment(rita)
    studies.assignment(rita, state=State.LAPSED)
    assert rater_studies.work_of(rita).left == 3


def test_what_others_have_taken_is_not_left() -> None:
    study = studies.study(raters=1)
    rita, rolf = studies.rater("rita", study), studies.rater("rolf", study)
    studies.assignment(rolf)
    assert rater_studies.work_of(rita).left == 2


def test_planted_pairs_are_left_as_any_other() -> None:
    study = studies.study(raters=1)
    planted = study.pairs.order_by("number")[0]
    planted.planted, planted.answer = StudyPair.Planted.ATTENTION, 1
    planted.save()
    rita = studies.rater("rita", study)
    assert rater_studies.work_of(rita).left == 3
    studies.rated(rita, 1, planted)
    assert rater_studies.work_of(rita).left == 2


def test_pairs_that_are_asked_again_are_left_though_the_capacity_is_used() -> None:
    study = studies.study()
    ruth = studies.rater("ruth", study, capacity=2)
    for number in (1, 2):
        studies.rated(ruth, 1, study.pairs.get(number=number))
    assert rater_studies.work_of(ruth).left == 0
    ask_again(study, RepeatPairFilter(every=True), "meaning", factories.ada())
    assert rater_studies.work_of(ruth).left == 2
    assert queue.next_assignment(ruth) is not None
    assert rater_studies.work_of(ruth).left == 2, "the open one, and the other"


def test_nothing_is_left_for_whoever_is_finished() -> None:
    study = studies.study()
    rita = studies.rater("rita", study, finished_at=study.created_at)
    assert rater_studies.work_of(rita).left == 0


def test_information_and_guidelines_come_first() -> None:
    rita = studies.rater("rita", studies.study(), accepted_at=None)
    assert Wanted.ACCEPT in rater_studies.find_pending_requirements(rita)
    rater_studies.accept_study_information(rita, Profile("3", "  software   engineer ", "Finnish"))
    assert Wanted.ACCEPT not in rater_studies.find_pending_requirements(rita)
    assert rita.occupation == "software engineer"


@pytest.mark.parametrize(
    ("profile", "fields"),
    [
        (Profile("", "student", "German"), {"years"}),
        (Profile("-1", "student", "German"), {"years"}),
        (Profile("٣", "student", "German"), {"years"}),
        (Profile("71", "student", "German"), {"years"}),
        (Profile("3", " ", "German"), {"occupation"}),
        (Profile("3", "x" * 121, "y" * 201), {"occupation", "languages"}),
    ],
)
def test_a_profile_that_says_nothing_is_refused_whole(profile: Profile, fields: set[str]) -> None:
    rita = studies.rater("rita", studies.study(asks_profile=True), accepted_at=None)
    with pytest.raises(BadProfile) as refused:
        rater_studies.accept_study_information(rita, profile)
    assert set(refused.value.problems) == fields
    rita.refresh_from_db()
    assert rita.accepted_at is None


def test_an_empty_profile_is_enough_where_the_plan_asks_for_none() -> None:
    rita = studies.rater("rita", studies.study(), accepted_at=None)
    rater_studies.accept_study_information(rita, Profile())
    assert rita.accepted_at is not None and rita.years_of_python is None


def test_what_is_left_takes_as_long_as_the_plan_assumes_until_a_pair_is_rated() -> None:
    study = studies.study(sample={"seconds": {"own_tests": 40.0}})
    rita = studies.rater("rita", study)
    assert rater_studies.estimate_seconds_left(rita, rater_studies.work_of(rita)) == 3 * 40
    studies.rated(rita, 1)
    assert rater_studies.estimate_seconds_left(rita, rater_studies.work_of(rita)) == 2 * 20


def test_the_profile_of_an_earlier_study_is_proposed() -> None:
    first = studies.rater("rita", studies.study("first"), accepted_at=None)
    rater_studies.accept_study_information(first, Profile("3", "student", "German"))
    second = studies.rater("rita", studies.study("second"), accepted_at=None)
    assert rater_studies.profile_of(second) == Profile("3", "student", "German")
