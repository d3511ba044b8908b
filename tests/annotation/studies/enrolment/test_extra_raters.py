"""Who gets a pair on which the planned raters part, and when nobody does."""

from __future__ import annotations

import pytest

from annotation.accounts.roles import Role
from annotation.models import Enrolment, Quota, Study
from annotation.studies.adjudication import decisions, verified_subset
from annotation.studies.enrolment import queue, repeat_rounds
from annotation.studies.enrolment import raters as enrolling
from annotation.studies.enrolment.extra_raters import count_extra_rating_pairs
from annotation.studies.enrolment.queue import next_assignment
from annotation.studies.exposure import mark_seen
from annotation.studies.plan.form_checks import RaterStatement
from annotation.studies.plan.plan import StudyRefused, change_with_amendment, plan_of
from annotation.studies.rating import earlier_revisions, ratings, undo
from annotation.studies.report.figure_data import is_complete
from tests import factories, studies
from tests.annotation.studies.test_removed import meanwhile

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    """Three pairs, two raters of each, and one more where they part."""
    return studies.study(raters=2, one_more=True)


@pytest.fixture
def raters(study: Study) -> list[Enrolment]:
    return [studies.rater(name, study) for name in ("rita", "rolf", "rosa")]


def say(rater: Enrolment, value: int | None) -> int:
    """The rater rates whatever comes next; returns the pair's number."""
    found = next_assignment(again(rater))
    assert found is not None
    ratings.submit_rating(found, found.token, said(value), 0)
    return found.study_pair.number


def said(value: int | None) -> RaterStatement:
    return RaterStatement(value, "because", "", (), 3.0, (), (), "a" * 64)


def again(rater: Enrolment) -> Enrolment:
    return Enrolment.objects.select_related("study__guideline", "condition", "user").get(pk=rater.pk)


def wanted(study: Study) -> list[int]:
    return list(Quota.objects.order_by("study_pair__number").values_list("wanted", flat=True))


def split_first(raters: list[Enrolment]) -> None:
    """The first two raters rate everything; they part on the first pair alone."""
    for rater, value in zip(raters, (1, 0), strict=False):
        while (found := next_assignment(again(rater))) is not None:
            ratings.submit_rating(found, found.token, said(value if found.study_pair.number == 1 else 1), 0)


def test_nobody_more_is_asked_where_raters_agree_on_match_or_not(
    study: Study, raters: list[Enrolment]
) -> None:
    """*At least half* and *less* are no exact match; *all of it* and *less* part."""
    Study.objects.update(scale=Study.Scale.STEPS)
    for rater, values in zip(raters, ((1, 2, 2), (0, 0, 2)), strict=False):
        while (found := next_assignment(again(rater))) is not None:
            ratings.submit_rating(found, found.token, said(values[found.study_pair.number - 1]), 0)
    assert wanted(study) == [2, 3, 2]


def test_a_split_goes_to_somebody_who_has_not_seen_the_pair(study: Study, raters: list[Enrolment]) -> None:
    split_first(raters)

    assert wanted(study) == [3, 2, 2] and count_extra_rating_pairs(study) == 1
    assert not is_complete(study)
    assert decisions.load_split_pairs(study) == []  # it is decided after the third, if at all
    assert say(raters[2], 1) == 1
    assert is_complete(study)
    assert next_assignment(again(raters[2])) is None
    assert decisions.load_split_pairs(study) == []


def test_whoever_was_finished_goes_on(study: Study, raters: list[Enrolment]) -> None:
    queue.mark_rater_finished(again(raters[2]))
    split_first(raters)
    assert [again(one).finished_at is None for one in raters] == [False, False, True]


def test_a_pair_is_asked_once_more_and_then_decided(study: Study, raters: list[Enrolment]) -> None:
    split_first(raters)
    studies.rater("ruth", study)
    assert say(raters[2], None) == 1
    assert wanted(study) == [3, 2, 2]
    (split,) = decisions.load_split_pairs(study)
    assert (split.number, split.votes) == (1, (1, 0, None))


def test_without_the_plan_nobody_is_asked(study: Study, raters: list[Enrolment]) -> None:
    Study.objects.update(one_more=False)
    split_first(raters)
    assert wanted(study) == [2, 2, 2]
    assert [one.number for one in decisions.load_split_pairs(study)] == [1]


@pytest.mark.parametrize("how", ["left", "no room", "seen", "excluded"])
def test_where_nobody_could_take_it_no_study_waits(study: Study, raters: list[Enrolment], how: str) -> None:
    able = raters[2]
    if how == "left":
        queue.leave_study(again(able))
    elif how == "excluded":
        enrolling.remove_rater(again(able), "slept", factories.ada(), exclude=True)
    elif how == "seen":
        mark_seen(able.user, [pair.pair_id for pair in study.pairs.all()])
    else:
        studies.assignment(able, study.pairs.get(number=2), state="skipped")
        Quota.objects.update(reserved=0)
        Enrolment.objects.filter(pk=able.pk).update(capacity=1)
    split_first(raters)

    assert wanted(study) == [2, 2, 2] and is_complete(study)
    assert [one.number for one in decisions.load_split_pairs(study)] == [1]


def test_the_place_is_taken_back_when_the_last_one_goes(study: Study, raters: list[Enrolment]) -> None:
    split_first(raters)
    queue.leave_study(again(raters[2]))
    assert wanted(study) == [2, 2, 2] and is_complete(study)


def test_skipping_it_is_going(study: Study, raters: list[Enrolment]) -> None:
    split_first(raters)
    found = next_assignment(again(raters[2]))
    assert found is not None
    queue.skip_assignment(found, found.token, "can't say")
    assert wanted(study) == [2, 2, 2]


def test_another_rater_is_asked_what_nobody_could(study: Study, raters: list[Enrolment]) -> None:
    queue.leave_study(again(raters[2]))
    split_first(raters)
    condition = studies.condition(study)
    root = factories.person("root", Role.ADMIN)
    enrolling.add_rater(study, studies.user("ruth"), condition, 5, "one more", root)
    assert wanted(study) == [3, 2, 2]


def test_a_change_of_mind_is_a_split_too(study: Study, raters: list[Enrolment]) -> None:
    split_first([raters[0], raters[0]])
    split_first([raters[1]])
    assert wanted(study) == [2, 2, 2]
    changed = queue.open_assignment(raters[1].user, study.pk, 2)
    ratings.submit_rating(changed, changed.token, said(0), 1)
    assert wanted(study) == [2, 3, 2]
    undo.undo_decision(again(raters[1]))  # what was asked stays asked
    assert wanted(study) == [2, 3, 2]


def test_an_earlier_label_that_stands_again_is_a_split_too(study: Study, raters: list[Enrolment]) -> None:
    split_first(raters[:1])
    first = ratings.last_of(queue.open_assignment(raters[0].user, study.pk, 2), "blind")
    assert first is not None
    ratings.submit_rating(first.assignment, first.assignment.token, said(0), 1)
    for number in (1, 2, 3):
        studies.rated(raters[1], 0 if number == 2 else 1, study.pairs.get(number=number))
    assert wanted(study) == [2, 2, 2]
    earlier_revisions.restore_earlier_revision(first)
    assert wanted(study) == [2, 3, 2]


@pytest.fixture
def one_pair() -> list[Enrolment]:
    """Rosa, Rita and Rolf, in the order of their keys, for a pair with two ratings."""
    study = studies.study(pairs=studies.three_pairs()[:1], raters=2, one_more=True)
    return [studies.rater(name, study) for name in ("rosa", "rita", "rolf")]


@pytest.mark.django_db(transaction=True)
def test_one_more_is_asked_while_an_admin_changes_raters(
    monkeypatch: pytest.MonkeyPatch, one_pair: list[Enrolment]
) -> None:
    """The admin holds Rosa's part, who is finished, and waits for Rolf's, who splits the pair."""
    rosa, rita, rolf = one_pair
    queue.mark_rater_finished(again(rosa))
    say(rita, 1)
    held, ada = next_assignment(again(rolf)), factories.ada()
    assert held is not None
    meanwhile(
        monkeypatch,
        "enrolment.extra_raters.request_extra_ratings",
        lambda: ratings.submit_rating(held, held.token, said(0), 0),
        lambda: enrolling.change_capacity(again(rita), 9, "less time", ada),
    )
    assert wanted(rosa.study) == [3] and again(rita).capacity == 9
    assert say(rosa, 1) == 1


@pytest.mark.django_db(transaction=True)
def test_nobody_finishes_while_something_comes_up_for_them(
    monkeypatch: pytest.MonkeyPatch, one_pair: list[Enrolment]
) -> None:
    """Rosa asks what is left just when Rolf changes his mind, and the pair splits."""
    rosa, rita, rolf = one_pair
    for who in (rita, rolf):
        say(who, 1)
    done = queue.open_assignment(rolf.user, rolf.study_id, 1)
    meanwhile(
        monkeypatch,
        "rating.drafts.clear_sent_drafts",
        lambda: ratings.submit_rating(done, done.token, said(0), 1),
        lambda: next_assignment(again(rosa)),
    )
    assert wanted(rosa.study) == [3]
    assert say(rosa, 1) == 1


def test_another_round_begins_with_the_planned_ratings(study: Study, raters: list[Enrolment]) -> None:
    split_first(raters)
    repeat_rounds.ask_again(study, repeat_rounds.RepeatPairFilter(every=True), "meaning", factories.ada())
    assert wanted(study) == [2, 2, 2]
    split_first(raters)
    assert wanted(study) == [3, 2, 2]


def test_the_third_rating_counts_in_what_is_published(study: Study, raters: list[Enrolment]) -> None:
    split_first(raters)
    say(raters[2], 0)
    assert [one.value for one in verified_subset.verdicts_of_study(study)] == [0, 1, 1]


def test_it_is_part_of_the_plan_and_stays(study: Study, raters: list[Enrolment]) -> None:
    assert plan_of(study)["one_more_on_a_split"] is True
    say(raters[0], 1)
    with pytest.raises(StudyRefused, match="whether one more rater is asked"):
        turn_off(study)


def turn_off(study: Study) -> None:
    with change_with_amendment(study, "less work", factories.ada()) as row:
        row.one_more = False
        row.save()


def test_plans_of_before_stay_what_they_are() -> None:
    assert "one_more_on_a_split" not in plan_of(studies.study())
