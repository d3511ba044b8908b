"""A rater whose part an admin has ended: what stood stays, nothing more is taken, nothing typed is lost."""

from __future__ import annotations

import importlib
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, AuditEvent, Condition, Enrolment, Quota, Rating, Study
from annotation.studies.audit_log import Verb
from annotation.studies.enrolment import queue, raters
from annotation.studies.enrolment.queue import REMOVED, BadSkip, Lapsed, QueueClosed
from annotation.studies.enrolment.repeat_rounds import RepeatPairFilter, ask_again
from annotation.studies.plan.form_checks import RaterStatement
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.rating import drafts, ratings, runs
from annotation.studies.rating.earlier_revisions import NothingToRestore, restore_earlier_revision
from annotation.studies.rating.ratings import (
    submit_rating,
)
from annotation.studies.rating.undo import NothingToTakeBack, undo_decision
from tests import factories, studies
from tests.rating_pages import send

pytestmark = pytest.mark.django_db
Kind, State = Condition.Kind, Assignment.State
EXCLUDE = pytest.mark.parametrize("exclude", [True, False])


def said(value: int | None = 1, notes: str = "") -> RaterStatement:
    return RaterStatement(value, "", notes, (), 12.0, (), (), "a" * 64)


@pytest.fixture
def rita() -> Enrolment:
    return studies.rater("rita", studies.study(raters=1))


def given(enrolment: Enrolment) -> Assignment:
    found = queue.next_assignment(enrolment)
    assert found is not None
    return found


def rows() -> list[tuple[str, int, int]]:
    """All that stands: the states of pairs, and what their quotas count."""
    quotas = {row.study_pair_id: (row.reserved, row.done) for row in Quota.objects.all()}
    return [(row.state, *quotas[row.study_pair_id]) for row in Assignment.objects.order_by("pk")]


@EXCLUDE
def test_nothing_is_taken_back_or_changed(rita: Enrolment, exclude: bool) -> None:
    held = given(rita)
    first = submit_rating(held, held.token, said(1), 0)
    second = submit_rating(held, held.token, said(0), 1)
    skipped = given(rita)
    queue.skip_assignment(skipped, skipped.token, "can't say")
    raters.remove_rater(rita, "clicked through", factories.ada(), exclude=exclude)
    before = rows()
    with pytest.raises(NothingToTakeBack, match="ended your part"):
        undo_decision(rita)
    with pytest.raises(QueueClosed, match="ended your part"):
        submit_rating(held, held.token, said(1, "an hour of thought"), 2)
    with pytest.raises(NothingToRestore, match="ended your part"):
        restore_earlier_revision(Rating.objects.get(pk=first.pk))
    assert rows() == before and list(Rating.objects.current()) == [second]
    assert drafts.load_draft_texts(held)["notes"] == "an hour of thought"
    rita.refresh_from_db()
    assert rita.removed and rita.finished_at and rita.left_at and rita.excluded == exclude


@EXCLUDE
def test_the_pair_that_was_open_goes_to_others_whatever_its_window_does(
    rita: Enrolment, exclude: bool
) -> None:
    rolf = studies.rater("rolf", rita.study)
    held = given(rita)
    raters.remove_rater(rita, "clicked through", factories.ada(), exclude=exclude)
    now = queue.open_assignment(rita.user, rita.study_id, held.study_pair.number)
    with pytest.raises(Lapsed, match="ended your part"):
        queue.record_heartbeat(now, now.token)
    with pytest.raises(QueueClosed, match="ended your part"):
        queue.next_assignment(Enrolment.objects.select_related("study", "user").get(pk=rita.pk))
    with pytest.raises(QueueClosed, match="ended your part"):
        submit_rating(held, held.token, said(1, "half a thought"), 0)
    with pytest.raises(BadSkip, match="ended your part"):
        queue.skip_assignment(held, held.token, "can't say")
    assert runs.describe_run_refusal(now).startswith(REMOVED)
    Assignment.objects.filter(pk=held.pk).update(reserved_until=timezone.now() - timedelta(seconds=1))
    assert queue.expire_reservations() == (0 if exclude else 1), "places of the excluded are free at once"
    assert drafts.load_draft_texts(held)["notes"] == "half a thought"
    assert given(rolf).rater == rolf.user
    assert not Rating.objects.exists()


def test_a_second_look_from_an_old_window_is_told_why() -> None:
    rita = studies.rater("rita", studies.study(conditions=(Kind.SECOND_LOOK,), raters=1))
    held = given(rita)
    blind = submit_rating(held, held.token, said(1), 0)
    locked = given(rita)
    raters.remove_rater(rita, "slept", factories.ada())
    with pytest.raises(QueueClosed, match="ended your part"):
        submit_rating(locked, locked.token, said(0), 0)
    assert list(Rating.objects.current()) == [blind]
    assert ratings.submit_rating(held, held.token, said(1), 0) == blind, (
        "what is sent again is told as stored"
    )


def test_whoever_left_by_themselves_may_still_take_back(rita: Enrolment) -> None:
    held = given(rita)
    submit_rating(held, held.token, said(1), 0)
    queue.leave_study(rita)
    assert undo_decision(rita) == held
    rita.refresh_from_db()
    assert not rita.removed and rita.left_at is None


def test_a_rater_who_was_removed_is_not_enrolled_twice(rita: Enrolment) -> None:
    given(rita)
    raters.remove_rater(rita, "slept", factories.ada(), exclude=True)
    with pytest.raises(StudyRefused, match="in the study already"):
        raters.add_rater(rita.study, rita.user, rita.condition, 5, "back again", factories.ada())


def test_the_pages_say_so_and_keep_what_was_typed(client: Client, rita: Enrolment) -> None:
    held = given(rita)
    submit_rating(held, held.token, said(1), 0)
    raters.remove_rater(rita, "slept", factories.ada(), exclude=True)
    client.force_login(rita.user)
    refused = send(client, held, "0", notes="now I see")
    assert refused.status_code == 422
    text = refused.content.decode()
    assert "An admin has ended your part" in text and "now I see" in text
    undone = client.post(reverse("rate-undo", args=[rita.study_id]), follow=True)
    assert "An admin has ended your part" in undone.content.decode()
    client.cookies["csrftoken"] = "c" * 32
    answer = client.post(f"/api/rate/{rita.study_id}/undo", headers={"X-CSRFToken": "c" * 32})
    assert answer.status_code == 409 and "ended your part" in answer.json()["detail"]
    assert Rating.objects.get().value == 1


def reserving(rita: Enrolment) -> None:
    queue.next_assignment(rita)


def submitting(rita: Enrolment) -> None:
    held = Assignment.objects.get(rater=rita.user, state=State.RESERVED)
    submit_rating(held, held.token, said(0), 0)


def changing(rita: Enrolment) -> None:
    done = Assignment.objects.get(rater=rita.user, state=State.DONE)
    submit_rating(done, done.token, said(0), 1)


def taking_back(rita: Enrolment) -> None:
    undo_decision(rita)


def skipping(rita: Enrolment) -> None:
    held = Assignment.objects.get(rater=rita.user, state=State.RESERVED)
    queue.skip_assignment(held, held.token, "can't say")


def restoring(rita: Enrolment) -> None:
    restore_earlier_revision(Rating.objects.earliest("pk"))


def reporting(rita: Enrolment) -> None:
    held = queue.open_of(rita)
    assert held is not None
    queue.record_heartbeat(held, held.token)


HALFWAY: list[tuple[Callable[[Enrolment], None], str]] = [
    (reserving, "enrolment.places.take_rating_place"),
    (submitting, "rating.ratings.advance_assignment"),
    (changing, "rating.ratings.append_rating_revision"),
    (taking_back, "rating.undo.refuse_if_shown"),
    (skipping, "enrolment.queue.refuse_skip"),
    (restoring, "rating.earlier_revisions.advance_assignment"),
    (reporting, "enrolment.places.compute_reservation_expiry"),
]
"""What a rater does, and where it stops, having looked, while an admin removes the rater."""


def meanwhile(
    monkeypatch: pytest.MonkeyPatch, where: str, does: Callable[[], Any], then: Callable[[], Any]
) -> None:
    """Does one thing up to `where`, then begins another, and lets the first one go on."""
    reached, go_on = threading.Event(), threading.Event()
    module, _, name = where.rpartition(".")
    real = getattr(importlib.import_module(f"annotation.studies.{module}"), name)

    def stopping(*args: Any, **kwargs: Any) -> Any:
        reached.set()
        assert go_on.wait(30)
        return real(*args, **kwargs)

    def alone(act: Callable[[], Any]) -> None:
        try:
            act()
        except (QueueClosed, Lapsed, BadSkip, NothingToTakeBack, NothingToRestore):
            pass  # told that the part is over
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        monkeypatch.setattr(f"annotation.studies.{where}", stopping)
        first = pool.submit(alone, does)
        assert reached.wait(30)
        monkeypatch.setattr(f"annotation.studies.{where}", real)
        second = pool.submit(alone, then)
        wait([second], timeout=0.3)
        go_on.set()
        first.result(30)
        second.result(30)


@pytest.mark.parametrize(("does", "where"), HALFWAY, ids=[does.__name__ for does, _ in HALFWAY])
@EXCLUDE
@pytest.mark.django_db(transaction=True)
def test_what_is_under_way_is_stored_before_the_end_or_not_at_all(
    monkeypatch: pytest.MonkeyPatch, does: Callable[[Enrolment], None], where: str, exclude: bool
) -> None:
    rita = studies.rater("rita", studies.study(raters=1))
    done = given(rita)
    submit_rating(done, done.token, said(1), 0)
    if does is restoring:
        submit_rating(done, done.token, said(0), 1)
    if does not in (taking_back, reserving):
        given(rita)
    fresh = Enrolment.objects.select_related("study", "condition", "user").get(pk=rita.pk)
    ada = factories.ada()
    meanwhile(
        monkeypatch,
        where,
        lambda: does(fresh),
        lambda: raters.remove_rater(rita, "slept", ada, exclude=exclude),
    )
    queue.expire_reservations()
    gone = Enrolment.objects.get(pk=rita.pk)
    assert gone.removed and gone.left_at is not None and gone.finished_at is not None
    assert not gone.assignments.filter(state__in=queue.OPEN), "nothing is held"
    assert not Rating.objects.filter(created_at__gt=gone.left_at)
    states = list(gone.assignments.values_list("study_pair", "state"))
    for quota in Quota.objects.all():
        assert quota.reserved == quota.done == ((quota.study_pair_id, State.DONE) in states)


def fewer(who: Enrolment) -> None:
    raters.change_capacity(who, 9, "less time", factories.ada())


def back(who: Enrolment) -> None:
    with suppress(StudyRefused):  # is not out
        raters.include_excluded_rater(who, "it was a mistake", factories.ada())


def out(who: Enrolment) -> None:
    raters.remove_rater(who, "slept", factories.ada(), exclude=True)


def asked_again(who: Enrolment) -> None:
    ask_again(who.study, RepeatPairFilter(every=True), "a new meaning", factories.ada())


VERBS: dict[Callable[[Enrolment], None], Verb] = {
    fewer: Verb.RATER_CHANGED,
    back: Verb.RATER_INCLUDED,
    out: Verb.RATER_REMOVED,
    asked_again: Verb.ASKED_AGAIN,
}


@pytest.mark.parametrize(
    ("does", "where"),
    [
        (out, "enrolment.raters.change_with_amendment"),
        (out, "enrolment.exclusion.leave_out"),
        (asked_again, "enrolment.repeat_rounds.append_audit_event"),
    ],
)
@pytest.mark.parametrize("then", [fewer, back, out])
@pytest.mark.parametrize("same", [True, False])
@pytest.mark.django_db(transaction=True)
def test_admins_who_change_raters_at_once_wait_for_each_other(
    monkeypatch: pytest.MonkeyPatch,
    does: Callable[[Enrolment], None],
    where: str,
    then: Callable[[Enrolment], None],
    same: bool,
) -> None:
    """Rolf is finished, and can go on once Rita's places are free."""
    study = studies.study(raters=1)
    rita, rolf = (studies.rater(name, study) for name in ("rita", "rolf"))
    for who in (rolf, rita, rita):
        done = given(who)
        submit_rating(done, done.token, said(1), 0)
    assert queue.next_assignment(rolf) is None
    factories.ada()
    rows = Enrolment.objects.select_related("study", "condition", "user")
    one, other = rows.get(pk=rita.pk), rows.get(pk=rita.pk if same else rolf.pk)
    meanwhile(monkeypatch, where, lambda: does(one), lambda: then(other))
    done_by = [does, then] if then is not back or (does is out and same) else [does]
    told = Counter(AuditEvent.objects.filter(verb__in=VERBS.values()).values_list("verb", flat=True))
    assert told == Counter(VERBS[act] for act in done_by)


@pytest.mark.parametrize("then", [fewer, out])
def test_who_was_taken_out_of_a_draft_meanwhile_is_no_rater_any_more(
    rita: Enrolment, then: Callable[[Enrolment], None]
) -> None:
    Study.objects.update(state=Study.State.DRAFT)
    stale = Enrolment.objects.select_related("study", "user").get(pk=rita.pk)
    out(rita)
    with pytest.raises(StudyRefused, match="no rater of the study any more"):
        then(stale)


def test_a_page_that_does_not_know_holds_nothing_on(rita: Enrolment) -> None:
    held, stale = given(rita), Enrolment.objects.select_related("study", "user").get(pk=rita.pk)
    raters.remove_rater(Enrolment.objects.get(pk=rita.pk), "slept", factories.ada())
    with pytest.raises(Lapsed, match="ended your part"):
        queue.record_heartbeat(held, held.token)
    with pytest.raises(QueueClosed, match="ended your part"):
        queue.next_assignment(stale)
    queue.expire_reservations()
    assert rows() == [(State.LAPSED, 0, 0)]


def test_whoever_was_finished_takes_the_place_that_was_taken_back(rita: Enrolment) -> None:
    """Rita has the last places; she takes one back, is removed, and it comes free once it runs out."""
    rolf = studies.rater("rolf", rita.study)
    while (found := queue.next_assignment(rita)) is not None:
        submit_rating(found, found.token, said(1), 0)
    assert queue.next_assignment(rolf) is None
    rolf.refresh_from_db()
    assert rolf.finished_at is not None
    undo_decision(rita)
    raters.remove_rater(rita, "slept", factories.ada())
    queue.expire_reservations()
    assert given(Enrolment.objects.get(pk=rolf.pk)).state == State.RESERVED
