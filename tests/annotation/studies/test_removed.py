"""A rater whose part an admin has ended: what stood stays, nothing more is taken, nothing typed is lost."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Condition, Enrolment, Quota, Rating
from annotation.studies import drafts, enrolling, queueing, rating, running
from annotation.studies.planning import StudyRefused
from annotation.studies.queueing import REMOVED, BadSkip, Lapsed, QueueClosed
from annotation.studies.rating import Said, submit
from annotation.studies.restoring import NothingToRestore, restore
from annotation.studies.undoing import NothingToTakeBack, undo
from tests import factories, studies
from tests.rating_pages import send

pytestmark = pytest.mark.django_db
Kind, State = Condition.Kind, Assignment.State
EXCLUDE = pytest.mark.parametrize("exclude", [True, False])


def said(value: int | None = 1, notes: str = "") -> Said:
    return Said(value, "", notes, (), 12.0, (), (), "a" * 64)


@pytest.fixture
def rita() -> Enrolment:
    return studies.rater("rita", studies.study(raters=1))


def given(enrolment: Enrolment) -> Assignment:
    found = queueing.next_assignment(enrolment)
    assert found is not None
    return found


def rows() -> list[tuple[str, int, int]]:
    """All that stands: the states of pairs, and what their quotas count."""
    quotas = {row.study_pair_id: (row.reserved, row.done) for row in Quota.objects.all()}
    return [(row.state, *quotas[row.study_pair_id]) for row in Assignment.objects.order_by("pk")]


@EXCLUDE
def test_nothing_is_taken_back_or_changed(rita: Enrolment, exclude: bool) -> None:
    held = given(rita)
    first = submit(held, held.token, said(1), 0)
    second = submit(held, held.token, said(0), 1)
    skipped = given(rita)
    queueing.skip(skipped, skipped.token, "can't say")
    enrolling.remove(rita, "clicked through", factories.ada(), exclude=exclude)
    before = rows()
    with pytest.raises(NothingToTakeBack, match="ended your part"):
        undo(rita)
    with pytest.raises(QueueClosed, match="ended your part"):
        submit(held, held.token, said(1, "an hour of thought"), 2)
    with pytest.raises(NothingToRestore, match="ended your part"):
        restore(Rating.objects.get(pk=first.pk))
    assert rows() == before and list(Rating.objects.current()) == [second]
    assert drafts.texts(held)["notes"] == "an hour of thought"
    rita.refresh_from_db()
    assert rita.removed and rita.finished_at and rita.left_at and rita.excluded == exclude


@EXCLUDE
def test_the_pair_that_was_open_goes_to_others_whatever_its_window_does(
    rita: Enrolment, exclude: bool
) -> None:
    rolf = studies.rater("rolf", rita.study)
    held = given(rita)
    enrolling.remove(rita, "clicked through", factories.ada(), exclude=exclude)
    now = queueing.open_assignment(rita.user, rita.study_id, held.study_pair.number)
    with pytest.raises(Lapsed, match="ended your part"):
        queueing.heartbeat(now, now.token)
    with pytest.raises(QueueClosed, match="ended your part"):
        queueing.next_assignment(Enrolment.objects.select_related("study", "user").get(pk=rita.pk))
    with pytest.raises(QueueClosed, match="ended your part"):
        submit(held, held.token, said(1, "half a thought"), 0)
    with pytest.raises(BadSkip, match="ended your part"):
        queueing.skip(held, held.token, "can't say")
    assert running.refuse(now).startswith(REMOVED)
    Assignment.objects.filter(pk=held.pk).update(reserved_until=timezone.now() - timedelta(seconds=1))
    assert queueing.expire() == (0 if exclude else 1), "places of the excluded are free at once"
    assert drafts.texts(held)["notes"] == "half a thought"
    assert given(rolf).rater == rolf.user
    assert not Rating.objects.exists()


def test_a_second_look_from_an_old_window_is_told_why() -> None:
    rita = studies.rater("rita", studies.study(conditions=(Kind.SECOND_LOOK,), raters=1))
    held = given(rita)
    blind = submit(held, held.token, said(1), 0)
    locked = given(rita)
    enrolling.remove(rita, "slept", factories.ada())
    with pytest.raises(QueueClosed, match="ended your part"):
        submit(locked, locked.token, said(0), 0)
    assert list(Rating.objects.current()) == [blind]
    assert rating.submit(held, held.token, said(1), 0) == blind, "what is sent again is told as stored"


def test_whoever_left_by_themselves_may_still_take_back(rita: Enrolment) -> None:
    held = given(rita)
    submit(held, held.token, said(1), 0)
    queueing.leave(rita)
    assert undo(rita) == held
    rita.refresh_from_db()
    assert not rita.removed and rita.left_at is None


def test_a_rater_who_was_removed_is_not_enrolled_twice(rita: Enrolment) -> None:
    given(rita)
    enrolling.remove(rita, "slept", factories.ada(), exclude=True)
    with pytest.raises(StudyRefused, match="in the study already"):
        enrolling.add(rita.study, rita.user, rita.condition, 5, "back again", factories.ada())


def test_the_pages_say_so_and_keep_what_was_typed(client: Client, rita: Enrolment) -> None:
    held = given(rita)
    submit(held, held.token, said(1), 0)
    enrolling.remove(rita, "slept", factories.ada(), exclude=True)
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
