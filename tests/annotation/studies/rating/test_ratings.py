"""What is stored of what raters say: appended, never overwritten, never stored twice."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.accounts.roles import builds_visible_to
from annotation.models import Assignment, Condition, Enrolment, Quota, Rating, Seen, Study
from annotation.studies.enrolment import queue
from annotation.studies.enrolment.queue import Lapsed, QueueClosed, next_assignment
from annotation.studies.exposure import mark_seen, mark_test_seen
from annotation.studies.plan import form_checks
from annotation.studies.plan.form_checks import BadRating, RaterStatement
from annotation.studies.rating import drafts, ratings
from annotation.studies.rating.earlier_revisions import NothingToRestore, restore_earlier_revision
from annotation.studies.rating.ratings import (
    RatedMeanwhile,
    submit_rating,
)
from annotation.studies.rating.undo import NothingToTakeBack, undo_decision
from tests import studies

pytestmark = pytest.mark.django_db
Kind, State, Phase = Condition.Kind, Assignment.State, Rating.Phase
SHA = "a" * 64


def said(value: int | None = 1, **changes: Any) -> RaterStatement:
    plain = RaterStatement(value, reason="", notes="", tags=(), seconds=12.0, calls=(), runs=(), evidence=SHA)
    return replace(plain, **changes)


def given(enrolment: Enrolment) -> Assignment:
    found = next_assignment(enrolment)
    assert found is not None
    return found


def counts(assignment: Assignment) -> tuple[int, int]:
    quota = Quota.objects.get(study_pair=assignment.study_pair_id, condition=assignment.condition_id)
    return quota.reserved, quota.done


def lapse(assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk).update(reserved_until=timezone.now() - timedelta(seconds=1))
    assert queue.expire_reservations() == 1


def state_of(assignment: Assignment) -> str:
    return Assignment.objects.get(pk=assignment.pk).state


@pytest.fixture
def rita() -> Enrolment:
    return studies.rater("rita", studies.study(raters=1))


@pytest.fixture
def revealed() -> Enrolment:
    return studies.rater("rita", studies.study(conditions=(Kind.REVEAL,), raters=1))


def test_a_label_ends_the_assignment_and_is_stored_with_what_was_on_screen(rita: Enrolment) -> None:
    held = given(rita)
    drafts.save_draft(held, "notes", "half a thought")
    drafts.save_draft(held, "test", "assert True")
    made = submit_rating(held, held.token, said(0, notes=" whole\x00 ", tags=("unsafe", "partial")), 0)
    assert (made.value, made.phase, made.revision, made.notes) == (0, Phase.BLIND, 1, "whole␀")
    assert (made.tags, made.seconds, made.evidence) == (["partial", "unsafe"], 12.0, SHA)
    assert made.guideline == rita.study.guideline
    assert (state_of(held), counts(held)) == (State.DONE, (1, 1))
    assert drafts.load_draft_texts(held) == {"test": "assert True"}


def test_how_the_query_was_read_has_its_own_history(rita: Enrolment) -> None:
    held = given(rita)
    drafts.save_draft(held, "reading", "in plac")
    first = submit_rating(held, held.token, said(1, reading=" in\nplace\x00 "), 0)
    assert first.reading == "in place␀" and drafts.load_draft_texts(held) == {}
    again = Assignment.objects.get(pk=held.pk)
    second = submit_rating(again, again.token, said(1, reading="a sorted copy"), 1)
    assert (second.revision, second.reading, second.supersedes) == (2, "a sorted copy", first)
    restored = restore_earlier_revision(Rating.objects.get(pk=first.pk))
    assert (restored.revision, restored.reading) == (3, "in place␀")
    undo_decision(rita)
    assert drafts.load_draft_texts(held)["reading"] == "in place␀"
    now = Assignment.objects.get(pk=held.pk)
    with pytest.raises(BadRating, match="at most 300"):
        submit_rating(now, now.token, said(1, reading="x" * 301), 4)
    assert drafts.load_draft_texts(held)["reading"] == "x" * 301


def test_sending_the_same_again_returns_what_is_stored(rita: Enrolment) -> None:
    held = given(rita)
    first = submit_rating(held, held.token, said(), 0)
    assert submit_rating(held, held.token, said(seconds=13.0), 0) == first
    assert submit_rating(held, held.token, said(), 1) == first
    assert Rating.objects.count() == 1
    assert counts(held) == (1, 1)


def test_what_is_sent_again_after_its_answer_got_lost_leaves_no_draft_but_what_was_typed_since(
    rita: Enrolment,
) -> None:
    held, sent = given(rita), said(1, notes="works", tags=("partial",))
    submit_rating(held, held.token, sent, 0)
    for field, text in (
        ("notes", "works"),
        ("choice", "partial"),
        ("test", "assert True"),
        ("reason", "now"),
    ):
        drafts.save_draft(held, field, text)
    submit_rating(held, held.token, sent, 0)
    assert drafts.load_draft_texts(held) == {"test": "assert True", "reason": "now"}
    drafts.save_draft(held, "notes", "works, but slowly")
    submit_rating(held, held.token, sent, 0)
    assert drafts.load_draft_texts(held)["notes"] == "works, but slowly"


def test_a_done_pair_is_changed_by_a_further_revision(rita: Enrolment) -> None:
    held = given(rita)
    first = submit_rating(held, held.token, said(1), 0)
    second = submit_rating(held, held.token, said(0), 1)
    assert (second.revision, second.supersedes) == (2, first)
    assert list(Rating.objects.current()) == [second]
    assert counts(held) == (1, 1)


def test_a_second_window_is_shown_both(rita: Enrolment) -> None:
    held = given(rita)
    first = submit_rating(held, held.token, said(1), 0)
    with pytest.raises(RatedMeanwhile) as conflict:
        submit_rating(held, held.token, said(0, notes="from the other window"), 0)
    assert conflict.value.stored == first
    assert conflict.value.mine.notes == "from the other window"
    assert Rating.objects.count() == 1
    assert drafts.load_draft_texts(held) == {"notes": "from the other window", "choice": "0"}


@pytest.mark.parametrize(
    ("scale", "good", "bad"),
    [
        (Study.Scale.BINARY, {0, 1, None}, {2, -1}),
        (Study.Scale.STEPS, {0, 1, 2, None}, {3, -1}),
        (Study.Scale.GRADED, {0, 1, 2, 3, None}, {4, -1}),
        (Study.Scale.PREFERENCE, {-1, 1}, {0, 2, None}),
    ],
)
def test_a_label_is_on_the_scale(scale: str, good: set[int | None], bad: set[int | None]) -> None:
    study = studies.study(scale=scale)
    held = given(studies.rater("rita", study))
    for wrong in bad:
        with pytest.raises(BadRating, match="one of"):
            submit_rating(held, held.token, said(wrong), 0)
    for seen, value in enumerate(sorted(good, key=str)):
        assert submit_rating(held, held.token, said(value), seen).value == value


def test_a_tie_is_a_label_where_the_study_has_ties() -> None:
    held = given(studies.rater("rita", studies.study(scale=Study.Scale.PREFERENCE, ties=True)))
    assert submit_rating(held, held.token, said(0), 0).value == 0


@pytest.mark.parametrize("swapped", [True, False])
def test_a_side_is_the_snippet_that_stood_there(swapped: bool) -> None:
    study = studies.study(scale=Study.Scale.PREFERENCE, ties=True)
    held = given(studies.rater("rita", study))
    held.swapped = swapped
    assert form_checks.value_of(held, "left") == (-1 if swapped else 1)
    assert form_checks.value_of(held, "right") == (1 if swapped else -1)
    for word in ("left", "right", "tie", "unsure"):
        assert form_checks.word_of(held, form_checks.value_of(held, word)) == word
    with pytest.raises(BadRating, match="Choose"):
        form_checks.value_of(held, "1")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"evidence": "no hash"}, "reload"),
        ({"tags": ("brilliant",)}, "brilliant"),
        ({"notes": "x" * 10_001}, "10,000"),
        ({"reason": "x" * 10_001}, "10,000"),
    ],
)
def test_what_can_not_be_stored_is_refused_and_kept(
    rita: Enrolment, wrong: dict[str, Any], told: str
) -> None:
    held = given(rita)
    with pytest.raises(BadRating, match=told):
        submit_rating(held, held.token, said(**wrong), 0)
    assert not Rating.objects.exists()
    assert drafts.load_draft_texts(held)["choice"].startswith("1")
    assert state_of(held) == State.RESERVED


@pytest.mark.parametrize(
    ("sent", "kept"), [(1e9, 14400.0), (-3.0, 0.0), (float("nan"), 0.0), (float("inf"), 0.0), (7.5, 7.5)]
)
def test_active_time_is_capped(rita: Enrolment, sent: float, kept: float) -> None:
    held = given(rita)
    assert submit_rating(held, held.token, said(seconds=sent), 0).seconds == kept


def test_calls_of_other_pairs_are_no_evidence(rita: Enrolment) -> None:
    held = given(rita)
    assert submit_rating(held, held.token, said(calls=(12345,), runs=(6789,)), 0).calls == []


def test_after_a_lapse_it_is_stored_while_the_place_is_free(rita: Enrolment) -> None:
    held = given(rita)
    lapse(held)
    assert submit_rating(held, held.token, said(), 0).value == 1
    assert (state_of(held), counts(held)) == (State.DONE, (1, 1))


def test_after_a_lapse_a_place_that_was_taken_is_kept_by_who_has_it() -> None:
    study = studies.study(pairs=studies.three_pairs()[:1], raters=1)
    rita, rolf = studies.rater("rita", study), studies.rater("rolf", study)
    held = given(rita)
    lapse(held)
    his = given(rolf)
    with pytest.raises(Lapsed, match="kept"):
        submit_rating(held, held.token, said(notes="an hour of thought"), 0)
    assert drafts.load_draft_texts(held)["notes"] == "an hour of thought"
    assert (counts(held), Rating.objects.count()) == ((1, 0), 0)
    queue.skip_assignment(his, his.token, "can't say")
    assert submit_rating(held, held.token, said(notes="an hour of thought"), 0).assignment == held


def test_a_closed_study_takes_nothing_and_keeps_the_draft(rita: Enrolment) -> None:
    held = given(rita)
    Study.objects.update(state=Study.State.CLOSED)
    with pytest.raises(QueueClosed, match="closed"):
        submit_rating(held, held.token, said(notes="too late"), 0)
    assert drafts.load_draft_texts(held)["notes"] == "too late"
    Study.objects.update(state=Study.State.PAUSED)
    assert submit_rating(held, held.token, said(), 0).value == 1


def test_a_blind_label_locks_and_the_second_is_another_phase(revealed: Enrolment) -> None:
    held = given(revealed)
    blind = submit_rating(held, held.token, said(1), 0)
    assert (blind.phase, state_of(held), counts(held)) == (Phase.BLIND, State.LOCKED, (1, 0))
    locked = given(revealed)
    assert locked == held
    with pytest.raises(BadRating, match="reason"):
        submit_rating(locked, locked.token, said(0), 0)
    revised = submit_rating(locked, locked.token, said(0, reason="the trace convinced me"), 0)
    assert (revised.phase, revised.revision, state_of(held)) == (Phase.REVISED, 1, State.DONE)
    assert counts(held) == (1, 1)
    assert {row.phase: row.value for row in Rating.objects.current()} == {"blind": 1, "revised": 0}


def test_a_double_click_on_the_blind_label_is_no_second_look() -> None:
    held = given(studies.rater("rita", studies.study(conditions=(Kind.SECOND_LOOK,))))
    blind = submit_rating(held, held.token, said(1), 0)
    assert submit_rating(held, held.token, said(1), 0) == blind
    with pytest.raises(RatedMeanwhile):
        submit_rating(held, held.token, said(0), 0)
    with pytest.raises(RatedMeanwhile):
        submit_rating(held, held.token, said(0), 1)
    assert state_of(held) == State.LOCKED
    now = Assignment.objects.get(pk=held.pk)
    assert submit_rating(now, now.token, said(1), 0).phase == Phase.SECOND_LOOK


def test_a_changed_revision_needs_a_reason_too(revealed: Enrolment) -> None:
    held = given(revealed)
    submit_rating(held, held.token, said(1), 0)
    locked = given(revealed)
    submit_rating(locked, locked.token, said(1), 0)
    with pytest.raises(BadRating, match="reason"):
        submit_rating(locked, locked.token, said(0), 1)
    assert submit_rating(locked, locked.token, said(0, reason="looked again"), 1).revision == 2


def test_a_blind_label_stays_once_the_evidence_was_seen(rita: Enrolment) -> None:
    held = given(rita)
    submit_rating(held, held.token, said(1), 0)
    mark_seen(rita.user, [held.study_pair.pair_id])
    with pytest.raises(BadRating, match="can't be changed"):
        submit_rating(held, held.token, said(0), 1)
    with pytest.raises(NothingToTakeBack, match="can't be changed"):
        undo_decision(rita)


def test_a_second_look_stays_once_what_agents_said_was_seen() -> None:
    rita = studies.rater("rita", studies.study(conditions=(Kind.SECOND_LOOK,), raters=1))
    held = given(rita)
    submit_rating(held, held.token, said(1), 0)
    locked = given(rita)
    second = submit_rating(locked, locked.token, said(1), 0)
    mark_seen(rita.user, [held.study_pair.pair_id])
    with pytest.raises(BadRating, match="can't be changed"):
        submit_rating(locked, locked.token, said(0, reason="so they said"), 1)
    with pytest.raises(NothingToTakeBack, match="can't be changed"):
        undo_decision(rita)
    assert Rating.objects.latest("pk") == second


def test_with_the_agents_test_a_label_stays_once_their_verdict_was_seen() -> None:
    """Also where the rater is not finished any more, as a skip was undone."""
    rita = studies.rater("rita", studies.study(conditions=(Kind.AGENTS_TESTS,)))
    rated = given(rita)
    mark_test_seen(rita.user, rated.study_pair.pair_id)
    submit_rating(rated, rated.token, said(1), 0)
    assert submit_rating(rated, rated.token, said(0), 1).revision == 2, "the test alone was there before"
    skipped = given(rita)
    queue.skip_assignment(skipped, skipped.token, "can't say")
    mark_seen(rita.user, [rated.study_pair.pair_id])
    mark_test_seen(rita.user, rated.study_pair.pair_id)
    assert undo_decision(rita) == skipped
    with pytest.raises(BadRating, match="can't be changed"):
        submit_rating(rated, rated.token, said(1), 2)


def test_a_pair_that_was_skipped_stays_so_once_what_agents_said_was_seen(rita: Enrolment) -> None:
    held = given(rita)
    queue.skip_assignment(held, held.token, "can't say")
    mark_seen(rita.user, [held.study_pair.pair_id])
    with pytest.raises(NothingToTakeBack, match="can't be changed"):
        undo_decision(rita)
    with pytest.raises(BadRating, match="can't be changed"):
        submit_rating(held, held.token, said(1, notes="from an old window"), 0)
    assert (state_of(held), Rating.objects.count()) == (State.SKIPPED, 0)
    assert drafts.load_draft_texts(held)["notes"] == "from an old window"


def test_the_side_list_has_the_last_ratings_as_they_stand() -> None:
    rita = studies.rater("rita", studies.study())
    held = [given(rita)]
    submit_rating(held[0], held[0].token, said(1), 0)
    held.append(given(rita))
    submit_rating(held[1], held[1].token, said(1), 0)
    submit_rating(held[0], held[0].token, said(0), 1)
    assert [(row.assignment, row.value) for row in ratings.find_recent_ratings(rita)] == [
        (held[0], 0),
        (held[1], 1),
    ]
    assert len(ratings.find_recent_ratings(rita, most=1)) == 1


def test_what_was_seen_elsewhere_does_not_stop_a_first_label(rita: Enrolment) -> None:
    held = given(rita)
    Seen.objects.create(user=rita.user, pair=held.study_pair.pair)
    assert submit_rating(held, held.token, said(), 0).value == 1


def test_submitting_costs_a_fixed_number_of_queries(rita: Enrolment) -> None:
    counted = []
    for _ in range(3):
        held = given(rita)
        with CaptureQueriesContext(connection) as queries:
            submit_rating(held, held.token, said(), 0)
        counted.append(len(queries))
    assert counted[1] == counted[2] <= 10


def finished_and_shown(rita: Enrolment) -> None:
    """Her part is over, and a list of builds is served to her."""
    Enrolment.objects.filter(pk=rita.pk).update(finished_at=timezone.now())
    list(builds_visible_to(User.objects.get(pk=rita.user_id)))


def test_labels_are_final_once_anything_was_shown_after_the_end(rita: Enrolment) -> None:
    held = given(rita)
    first = submit_rating(held, held.token, said(1), 0)
    finished_and_shown(rita)
    with pytest.raises(BadRating, match="you could see what agents"):
        submit_rating(held, held.token, said(0), 1)
    with pytest.raises(NothingToTakeBack, match="you could see what agents"):
        undo_decision(rita)
    with pytest.raises(NothingToRestore, match="That is the current label"):
        restore_earlier_revision(first)
    assert list(held.ratings.values_list("value", "revision")) == [(1, 1)]


def test_an_earlier_revision_does_not_stand_again_after_that(rita: Enrolment) -> None:
    held = given(rita)
    first = submit_rating(held, held.token, said(1), 0)
    submit_rating(held, held.token, said(0), 1)
    finished_and_shown(rita)
    with pytest.raises(NothingToRestore, match="you could see what agents"):
        restore_earlier_revision(first)


def test_after_the_end_a_label_can_be_changed_until_something_is_shown(rita: Enrolment) -> None:
    held = given(rita)
    submit_rating(held, held.token, said(1), 0)
    Enrolment.objects.filter(pk=rita.pk).update(finished_at=timezone.now())
    assert submit_rating(held, held.token, said(0), 1).value == 0


def test_a_second_label_is_final_too(revealed: Enrolment) -> None:
    held = given(revealed)
    submit_rating(held, held.token, said(1), 0)
    held.refresh_from_db()
    submit_rating(held, held.token, said(0, reason="the test"), 0)
    finished_and_shown(revealed)
    with pytest.raises(BadRating, match="you could see what agents"):
        submit_rating(held, held.token, said(1, reason="no"), 1)


def test_a_skipped_pair_stays_skipped_after_that(rita: Enrolment) -> None:
    held = given(rita)
    queue.skip_assignment(held, held.token, "no idea")
    finished_and_shown(rita)
    with pytest.raises(NothingToTakeBack, match="you could see what agents"):
        undo_decision(rita)


def test_what_is_said_after_a_part_goes_on_can_be_changed_again(rita: Enrolment) -> None:
    first = given(rita)
    submit_rating(first, first.token, said(1), 0)
    finished_and_shown(rita)
    Enrolment.objects.filter(pk=rita.pk).update(finished_at=None)
    second = given(rita)
    submit_rating(second, second.token, said(1), 0)
    assert submit_rating(second, second.token, said(0), 1).value == 0
    with pytest.raises(BadRating, match="you could see what agents"):
        submit_rating(first, first.token, said(0), 1)
