"""An earlier rating stands again: as the next revision, on what it rested on, as far as it may be revised."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Assignment, AuditEvent, Condition, Enrolment, Rating, Study
from annotation.studies.enrolment import queue
from annotation.studies.enrolment.repeat_rounds import RepeatPairFilter, ask_again
from annotation.studies.exposure import mark_seen
from annotation.studies.plan.form_checks import RaterStatement
from annotation.studies.rating import earlier_revisions, ratings
from annotation.studies.rating.earlier_revisions import NothingToRestore, restore_earlier_revision
from annotation.studies.rating.ratings import (
    submit_rating,
)
from annotation.studies.rating.undo import undo_decision
from tests import factories, studies

pytestmark = pytest.mark.django_db
Kind, State, Phase = Condition.Kind, Assignment.State, Rating.Phase


def say(of: Assignment, value: int | None, seen: int, **more: Any) -> Rating:
    of.refresh_from_db()
    plain: dict[str, Any] = {"reason": "", "notes": "", "tags": (), "calls": (), "runs": ()}
    said = RaterStatement(value=value, seconds=5.0 * (seen + 1), evidence=str(value) * 64, **(plain | more))
    return submit_rating(of, of.token, said, seen)


def given(enrolment: Enrolment) -> Assignment:
    found = queue.next_assignment(enrolment)
    assert found is not None
    return found


@pytest.fixture
def rita() -> Enrolment:
    return studies.rater("rita", studies.study(raters=1))


def test_it_is_the_next_revision_on_what_the_earlier_one_rested_on(rita: Enrolment) -> None:
    of = given(rita)
    first = say(of, 1, 0, notes="turns it", tags=("partial",), calls=(3,), runs=(4, 5))
    second = say(of, 0, 1, notes="no, it does not")
    study = rita.study
    study.guideline = studies.guideline(version=2)
    study.save()

    made = restore_earlier_revision(first)
    again = {"pk", "id", "revision", "supersedes_id", "seconds", "created_at", "_state"}
    kept = {name: value for name, value in vars(first).items() if name not in again}
    stored = vars(Rating.objects.get(pk=made.pk))
    assert {name: stored[name] for name in kept if not name.startswith("_")} == {
        name: value for name, value in kept.items() if not name.startswith("_")
    }
    assert (made.revision, made.supersedes, made.seconds) == (3, second, second.seconds)
    assert made.guideline_id != study.guideline.pk, "it was given under the earlier version"
    assert Rating.objects.count() == 3
    assert AuditEvent.objects.get(verb="restored").detail == {
        "pair": of.study_pair.number,
        "phase": "blind",
        "revision": 1,
        "as": 3,
    }


def test_it_can_be_undone_as_any_change(rita: Enrolment) -> None:
    of = given(rita)
    first = say(of, 1, 0)
    say(of, 0, 1)
    say(of, 0, 2, notes="sure")
    restore_earlier_revision(first)
    undo_decision(rita)
    last = ratings.last_of(of, Phase.BLIND)
    assert last is not None and (last.value, last.notes) == (0, "sure")


def test_what_was_taken_back_can_stand_again_while_its_place_is_free(rita: Enrolment) -> None:
    of = given(rita)
    first = say(of, 1, 0)
    undo_decision(rita)
    assert Assignment.objects.get(pk=of.pk).state == State.RESERVED
    restore_earlier_revision(first)
    assert Assignment.objects.get(pk=of.pk).state == State.DONE


def test_a_place_that_was_given_away_is_not_taken_back(rita: Enrolment) -> None:
    of = given(rita)
    first = say(of, 1, 0)
    undo_decision(rita)
    queue.leave_study(rita)
    other = studies.rater("rolf", rita.study)
    studies.assignment(other, of.study_pair)
    with pytest.raises(NothingToRestore, match="given to another rater"):
        restore_earlier_revision(first)


def test_what_stands_and_what_took_back_are_no_earlier_ratings(rita: Enrolment) -> None:
    of = given(rita)
    first = say(of, 1, 0)
    with pytest.raises(NothingToRestore, match="current label"):
        restore_earlier_revision(first)
    undo_decision(rita)
    with pytest.raises(NothingToRestore, match="took a rating back"):
        restore_earlier_revision(Rating.objects.get(withdrawn=True))


def test_a_locked_label_stays_and_the_one_after_it_is_restored() -> None:
    rita = studies.rater("rita", studies.study(conditions=(Kind.SECOND_LOOK,), raters=1))
    of = given(rita)
    blind = say(of, 1, 0)
    confirmed = say(of, 1, 0)
    say(of, 0, 1, reason="an edge case")
    with pytest.raises(NothingToRestore, match="locked"):
        restore_earlier_revision(blind)
    made = restore_earlier_revision(confirmed)
    assert (made.phase, made.value, made.revision) == (Phase.SECOND_LOOK, 1, 3)


def test_nothing_is_restored_once_the_rater_may_know_what_agents_said(rita: Enrolment) -> None:
    of = given(rita)
    first = say(of, 1, 0)
    say(of, 0, 1)
    mark_seen(rita.user, [of.study_pair.pair_id])
    with pytest.raises(NothingToRestore, match="seen what agents or others said"):
        restore_earlier_revision(first)


def test_a_closed_study_stays_as_it_is(rita: Enrolment) -> None:
    of = given(rita)
    first = say(of, 1, 0)
    say(of, 0, 1)
    Study.objects.update(state=Study.State.CLOSED)
    first = Rating.objects.select_related("assignment__enrolment__study").get(pk=first.pk)
    assert not earlier_revisions.may_stand_again(first)
    with pytest.raises(NothingToRestore, match="closed"):
        restore_earlier_revision(first)


def test_what_was_said_before_a_pair_was_asked_again_stays_as_it_is(rita: Enrolment) -> None:
    of = given(rita)
    first = say(of, 1, 0)
    say(of, 0, 1)
    ask_again(rita.study, RepeatPairFilter(every=True), "the meaning has changed", factories.ada())
    with pytest.raises(NothingToRestore, match="asked again"):
        restore_earlier_revision(first)
    assert Rating.objects.count() == 2


def test_the_list_of_labels_leads_to_the_reason(client: Client, rita: Enrolment) -> None:
    client.force_login(rita.user)
    of = given(rita)
    first = say(of, 1, 0)
    say(of, 0, 1)
    ask_again(rita.study, RepeatPairFilter(every=True), "the meaning has changed", factories.ada())
    anew = studies.assignment(rita, of.study_pair)
    there = reverse("rate-restore", args=[rita.study_id, of.study_pair.number, first.pk])
    assert there in client.get(reverse("history"), {"of": "ratings"}).content.decode()
    answer = client.post(there, {"seen_revision": 2}, follow=True)
    assert answer.status_code == 200 and "This pair is asked again" in answer.content.decode()
    assert not anew.ratings.exists() and Rating.objects.count() == 2
