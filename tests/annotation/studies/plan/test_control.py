"""The states of a study, who moved it, and its raters."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.accounts.roles import Role
from annotation.models import Amendment, Assignment, AuditEvent, Build, Condition, Quota, Rating, Study
from annotation.schemas.studies.studies import SampleWish
from annotation.studies.enrolment import queue, raters
from annotation.studies.plan import plan
from annotation.studies.plan.control import Action, find_allowed_actions, perform_study_action
from annotation.studies.plan.creation import ConditionWish, Order, RaterWish, create_draft_study
from annotation.studies.plan.plan import StudyRefused
from annotation.web.studies.page import progress_page
from tests import factories, studies

pytestmark = pytest.mark.django_db
PLANTED = "kind,answer,query,code\nattention,1,add two,def add(a; b)\n"


@pytest.fixture
def build() -> Build:
    return factories.said(factories.opened(), (1, 0, 1, 0, 1, 0, 1, 0, 1))


@pytest.fixture
def draft(build: Build) -> Study:
    people = tuple(
        RaterWish(factories.person(name, Role.EXPERT), "own_tests", 10) for name in ("ruth", "sam", "tess")
    )
    wanted = Order(
        "s", (build,), SampleWish(size=3), (ConditionWish("own_tests"),), raters=people, planted=PLANTED
    )
    return create_draft_study(wanted, factories.ada())


@pytest.fixture
def running(draft: Study) -> Study:
    perform_study_action(draft, Action.START, factories.ada())
    return draft


def test_starting_opens_a_quota_for_each_pair(running: Study) -> None:
    assert running.state == "running" and running.started_at and running.frozen_at is None
    assert Quota.objects.count() == 4
    assert set(Quota.objects.values_list("wanted", "reserved", "round")) == {(3, 0, 1)}
    assert AuditEvent.objects.filter(verb="study started", user=factories.ada(), study=running).exists()


def test_a_study_is_paused_resumed_and_closed(running: Study) -> None:
    perform_study_action(running, Action.PAUSE, factories.ada(), "a holiday")
    assert running.state == "paused"
    assert AuditEvent.objects.get(verb="study paused").detail["why"] == "a holiday"
    perform_study_action(running, Action.RESUME, factories.ada())
    with pytest.raises(StudyRefused, match="say why"):
        perform_study_action(running, Action.CLOSE, factories.ada())
    assert running.state == "running"
    perform_study_action(running, Action.CLOSE, factories.ada(), "money is gone")
    assert running.state == "closed" and running.closed_at
    assert find_allowed_actions(running) == []


def test_only_drafts_are_deleted(draft: Study) -> None:
    assert find_allowed_actions(draft) == [Action.START, Action.DELETE]
    perform_study_action(draft, Action.START, factories.ada())
    with pytest.raises(StudyRefused, match="running"):
        perform_study_action(draft, Action.DELETE, factories.ada())


def test_a_deleted_draft_stays_in_the_audit_log(draft: Study) -> None:
    perform_study_action(draft, Action.DELETE, factories.ada())
    assert not Study.objects.exists()
    assert AuditEvent.objects.get(verb="study deleted").what == "s"


def test_too_little_capacity_does_not_start(draft: Study) -> None:
    draft.enrolments.update(capacity=2)
    with pytest.raises(StudyRefused, match="9 ratings are wanted, and the raters can give 3"):
        perform_study_action(draft, Action.START, factories.ada())
    assert not Quota.objects.exists()


def test_a_rater_can_not_start_the_study(draft: Study) -> None:
    with pytest.raises(StudyRefused, match="another admin"):
        perform_study_action(draft, Action.START, factories.person("ruth"))


def test_a_rater_is_added_and_asked_what_is_planted(running: Study) -> None:
    condition = studies.condition(running)
    made = raters.add_rater(running, factories.erin(), condition, 5, "more hands", factories.ada())
    assert made.capacity == 5 and made.pseudonym not in {"R01"} - {made.pseudonym}
    assert Quota.objects.get(study_pair__planted="attention").wanted == 4
    assert set(Quota.objects.filter(study_pair__planted="").values_list("wanted", flat=True)) == {3}
    with pytest.raises(StudyRefused, match="already"):
        raters.add_rater(running, factories.erin(), condition, 5, "", factories.ada())


@pytest.mark.parametrize("who", ["ada", "ray", "nora"])
def test_who_can_not_be_added(running: Study, who: str) -> None:
    with pytest.raises(StudyRefused):
        raters.add_rater(
            running, getattr(factories, who)(), studies.condition(running), 5, "", factories.ada()
        )


def test_whoever_started_a_study_is_not_enrolled_later(draft: Study) -> None:
    boss = factories.person("boss", Role.ADMIN)
    assert boss in raters.find_rater_candidates(draft, factories.ada())
    perform_study_action(draft, Action.START, boss)
    assert boss not in raters.find_rater_candidates(draft, factories.ada())
    with pytest.raises(StudyRefused, match="started"):
        raters.add_rater(draft, boss, studies.condition(draft), 5, "more hands", factories.ada())


def test_changes_of_raters_are_amendments_once_the_plan_is_frozen(running: Study) -> None:
    plan.freeze_plan(running)
    ruth = running.enrolments.get(user__username="ruth")
    with pytest.raises(StudyRefused, match="say why"):
        raters.change_capacity(ruth, 50, "", factories.ada())
    ruth.refresh_from_db()
    assert ruth.capacity == 10
    raters.change_capacity(ruth, 50, "she has time", factories.ada())
    raters.add_rater(running, factories.erin(), studies.condition(running), 5, "more hands", factories.ada())
    assert [one.reason for one in Amendment.objects.all()] == ["she has time", "more hands"]
    running.refresh_from_db()
    assert running.plan_hash == plan.hash_plan(plan.plan_of(running))


def test_a_rater_leaves_and_the_ratings_stay(running: Study) -> None:
    plan.freeze_plan(running)
    ruth = running.enrolments.get(user__username="ruth")
    sampled = list(running.pairs.filter(planted=""))
    rating = studies.rated(ruth, 1, sampled[0])
    still = studies.assignment(ruth, sampled[1])
    raters.remove_rater(ruth, "clicked through", factories.ada(), exclude=True)
    ruth.refresh_from_db()
    still.refresh_from_db()

    assert ruth.finished_at and ruth.excluded and ruth.capacity == 2
    assert rating.assignment.ratings.count() == 1
    assert still.reserved_until <= ruth.finished_at
    assert Quota.objects.get(study_pair__planted="attention").wanted == 2
    made = Amendment.objects.get()
    told = next(one for one in made.after["conditions"][0]["raters"] if one["pseudonym"] == ruth.pseudonym)
    assert told == {"pseudonym": ruth.pseudonym, "capacity": 2, "excluded": True}


def test_a_smaller_capacity_than_was_given_is_refused(running: Study) -> None:
    ruth = running.enrolments.get(user__username="ruth")
    for pair in running.pairs.filter(planted="")[:2]:
        studies.rated(ruth, 1, pair)
    with pytest.raises(StudyRefused, match="2 pairs were given"):
        raters.change_capacity(ruth, 1, "", factories.ada())


def test_a_rater_of_a_draft_just_goes(draft: Study) -> None:
    raters.remove_rater(draft.enrolments.get(user__username="ruth"), "", factories.ada())
    assert draft.enrolments.count() == 2


def test_progress_counts_by_rater(running: Study) -> None:
    ruth = running.enrolments.get(user__username="ruth")
    first, second = running.pairs.filter(planted="")[:2]
    studies.rated(ruth, 1, first)
    studies.assignment(ruth, second, state=Assignment.State.SKIPPED, skip_reason="unclear")
    told = {row.user.username: row for row in raters.load_rater_progress(running)}
    assert (told["ruth"].given, told["ruth"].done, told["ruth"].skipped) == (2, 1, 1)  # type: ignore[attr-defined]
    assert told["sam"].given == 0  # type: ignore[attr-defined]


def test_who_can_be_chosen(draft: Study) -> None:
    factories.erin(), factories.ray(), factories.nora()
    closed = factories.person("zed", Role.EXPERT)
    closed.is_active = False
    closed.save()
    assert [user.username for user in raters.find_rater_candidates(draft, factories.ada())] == ["erin"]
    assert Condition.objects.count() == 1


def locked_label() -> tuple[Study, Assignment]:
    """A rater in *reveal* with a first label whose page was left an hour ago."""
    study = studies.study(conditions=(Condition.Kind.REVEAL,))
    rater = studies.rater("rita", study, Condition.Kind.REVEAL)
    held = studies.assignment(rater, state=Assignment.State.LOCKED)
    Rating.objects.create(assignment=held, value=1, revision=1, evidence="0" * 64)
    Assignment.objects.update(reserved_until=timezone.now() - timedelta(hours=1))
    return study, held


def test_a_locked_label_waits_for_its_rater_and_is_told() -> None:
    study, held = locked_label()
    assert queue.expire_reservations() == 0
    ((row, *_),) = progress_page(study)["raters"]
    assert row.halves == 1 and row.waits_since is not None and row.waits_since < timezone.now()

    found = queue.next_assignment(held.enrolment)
    assert found == held and found is not None and found.state == Assignment.State.LOCKED
    assert [rater.halves for rater, *_ in progress_page(study)["raters"]] == [0]  # it is open again


def test_removing_a_rater_frees_the_place_of_a_locked_label_and_keeps_the_label() -> None:
    _, held = locked_label()
    raters.remove_rater(held.enrolment, "gone", factories.ada())
    held.refresh_from_db()
    assert held.state == Assignment.State.LAPSED
    assert Quota.objects.get(study_pair=held.study_pair).reserved == 0
    assert Rating.objects.current().get().value == 1
