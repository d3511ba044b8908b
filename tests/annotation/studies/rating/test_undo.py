"""An undo takes back what its page showed, and nothing that was decided since in another window."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Assignment, Condition, Enrolment, Rating
from annotation.studies.enrolment import queue
from annotation.studies.enrolment.queue import next_assignment
from annotation.studies.enrolment.repeat_rounds import RepeatPairFilter, ask_again
from annotation.studies.plan.form_checks import RaterStatement
from annotation.studies.rating import drafts, ratings
from annotation.studies.rating import undo as undoing
from annotation.studies.rating.ratings import (
    RatedMeanwhile,
    submit_rating,
)
from annotation.studies.rating.undo import NothingToTakeBack, UndoableDecision, last_decision, undo_decision
from tests import factories, studies
from tests.annotation.studies.rating.test_ratings import counts, state_of
from tests.rating_pages import path

pytestmark = pytest.mark.django_db
Kind, State, Phase = Condition.Kind, Assignment.State, Rating.Phase


def said(value: int | None = 1, notes: str = "", reason: str = "") -> RaterStatement:
    return RaterStatement(value, reason, notes, (), 12.0, (), (), "a" * 64)


@pytest.fixture
def rita() -> Enrolment:
    return studies.rater("rita", studies.study())


def given(enrolment: Enrolment) -> Assignment:
    found = queue.next_assignment(enrolment)
    assert found is not None
    return found


def rated(enrolment: Enrolment, value: int = 1) -> Assignment:
    held = given(enrolment)
    submit_rating(held, held.token, said(value), 0)
    return held


def shown(enrolment: Enrolment) -> str:
    """What the button of a page that is opened now names."""
    last = last_decision(enrolment)
    return last.name if last else ""


def standing() -> set[tuple[int, int | None]]:
    return set(Rating.objects.current().values_list("assignment", "value"))


def test_what_was_decided_since_stays(rita: Enrolment) -> None:
    first = rated(rita)
    page = shown(rita)
    second = rated(rita, 0)
    assert undo_decision(rita, page) == first
    assert standing() == {(second.pk, 0)}
    with pytest.raises(NothingToTakeBack, match="in another window"):
        undo_decision(rita, page)
    assert standing() == {(second.pk, 0)}
    assert undo_decision(rita, shown(rita)) == second


def test_a_change_in_another_window_is_not_taken_back_unseen(rita: Enrolment) -> None:
    held = rated(rita)
    page = shown(rita)
    submit_rating(held, held.token, said(0, "looked again"), 1)
    with pytest.raises(NothingToTakeBack, match="The current label is kept"):
        undo_decision(rita, page)
    assert standing() == {(held.pk, 0)}
    assert undo_decision(rita, shown(rita)) == held
    assert standing() == {(held.pk, 1)}


def test_a_second_click_takes_back_no_other_one(rita: Enrolment) -> None:
    first, second = rated(rita), rated(rita, 0)
    page = shown(rita)
    assert undo_decision(rita, page) == second
    with pytest.raises(NothingToTakeBack):
        undo_decision(rita, page)
    assert standing() == {(first.pk, 1)}


def test_a_page_that_knew_of_none_takes_back_none(rita: Enrolment) -> None:
    page = shown(rita)
    with pytest.raises(NothingToTakeBack, match="no decision"):
        undo_decision(rita, page)
    held = rated(rita)
    with pytest.raises(NothingToTakeBack, match="since this page was opened stays"):
        undo_decision(rita, page)
    assert standing() == {(held.pk, 1)}
    assert undo_decision(rita) == held, "who names nothing takes back the last one"


def test_a_skip_is_named_as_well(rita: Enrolment) -> None:
    held = given(rita)
    queue.skip_assignment(held, held.token, "can't say")
    page = shown(rita)
    second = rated(rita)
    assert undo_decision(rita, page) == held
    assert standing() == {(second.pk, 1)}
    with pytest.raises(NothingToTakeBack):
        undo_decision(rita, page)


def test_a_second_look_is_named_by_its_phase() -> None:
    rita = studies.rater("rita", studies.study(conditions=(Kind.REVEAL,)))
    held = rated(rita)
    assert shown(rita) == "", "a blind label that is locked can't be taken back"
    locked = given(rita)
    submit_rating(locked, locked.token, said(1), 0)
    page = shown(rita)
    assert undo_decision(rita, page) == held
    assert Rating.objects.current().get().phase == "blind"


@pytest.mark.parametrize("name", ["nonsense", "1.blind", "999999.blind.1", "\x00"])
def test_a_name_of_nothing_takes_back_nothing(rita: Enrolment, name: str) -> None:
    held = rated(rita)
    with pytest.raises(NothingToTakeBack):
        undo_decision(rita, name)
    assert standing() == {(held.pk, 1)}


def named_on(html: str) -> str:
    found = re.search(r'name="undoes" value="([^"]*)"', html)
    assert found is not None
    return found[1]


def test_the_page_names_what_it_takes_back(client: Client, rita: Enrolment) -> None:
    client.force_login(rita.user)
    first = rated(rita)
    html = client.get(path(given(rita))).content.decode()
    assert f"Undo your last label in this study: pair {first.study_pair.number}" in html
    second = rated(rita, 0)
    to = reverse("rate-undo", args=[rita.study_id])
    answer = client.post(to, {"undoes": named_on(html)})
    assert answer["Location"] == path(first)
    again = client.post(to, {"undoes": named_on(html)}, follow=True)
    assert "You changed or undid this decision in another window" in again.content.decode()
    assert standing() == {(second.pk, 0)}


def test_by_the_api_a_rating_tells_its_name(client: Client, rita: Enrolment) -> None:
    client.force_login(rita.user)
    client.cookies["csrftoken"] = "c" * 32
    first, second = rated(rita), rated(rita, 0)
    names = [row["undoes"] for row in client.get(f"/api/rate/{rita.study_id}/ratings").json()]
    to, header = f"/api/rate/{rita.study_id}/undo?undoes=", {"X-CSRFToken": "c" * 32}
    assert client.post(to + names[1], headers=header).json()["number"] == first.study_pair.number
    assert client.post(to + names[1], headers=header).status_code == 409
    assert standing() == {(second.pk, 0)}


def test_undo_takes_back_one_decision_after_the_other() -> None:
    rita = studies.rater("rita", studies.study())
    order = []
    for value in (1, 0, None):
        held = given(rita)
        submit_rating(held, held.token, said(value, notes=f"note {value}"), 0)
        order.append(held)
    assert next_assignment(rita) is None
    for held, word in zip(reversed(order), ("unsure", "0", "1"), strict=True):
        assert undo_decision(rita) == held
        assert state_of(held) == State.RESERVED
        assert drafts.load_draft_texts(held)["choice"] == word
        assert counts(held) == (1, 0)
    with pytest.raises(NothingToTakeBack):
        undo_decision(rita)
    assert not Rating.objects.current().exists()
    assert Rating.objects.count() == 6
    rita.refresh_from_db()
    assert rita.finished_at is None
    assert given(rita) == order[0]


def test_an_undone_pair_is_rated_again_as_a_further_revision() -> None:
    rita = studies.rater("rita", studies.study(raters=1))
    held = given(rita)
    submit_rating(held, held.token, said(1), 0)
    undo_decision(rita)
    now = given(rita)
    assert ratings.revision_seen(ratings.last_of(now, Phase.BLIND)) == 2
    with pytest.raises(RatedMeanwhile):
        submit_rating(now, now.token, said(1), 1)
    assert submit_rating(now, now.token, said(1), 2).revision == 3
    assert counts(held) == (1, 1)


def test_undo_of_a_change_restores_what_stood_before() -> None:
    rita = studies.rater("rita", studies.study(raters=1))
    held = given(rita)
    submit_rating(held, held.token, said(1, notes="first"), 0)
    submit_rating(held, held.token, said(0, notes="second"), 1)
    assert undo_decision(rita) == held
    assert state_of(held) == State.DONE
    current = Rating.objects.current().get()
    assert (current.value, current.notes, current.revision) == (1, "first", 3)
    undo_decision(rita)
    assert not Rating.objects.current().exists()


def test_undo_of_a_skip_opens_the_pair_again_while_it_is_free() -> None:
    study = studies.study(pairs=studies.three_pairs()[:1], raters=1)
    rita, rolf = studies.rater("rita", study), studies.rater("rolf", study)
    held = given(rita)
    queue.skip_assignment(held, held.token, "by mistake")
    assert undo_decision(rita) == held
    assert (state_of(held), counts(held)) == (State.RESERVED, (1, 0))
    queue.skip_assignment(Assignment.objects.get(), Assignment.objects.get().token, "again")
    given(rolf)
    with pytest.raises(NothingToTakeBack, match="another rater"):
        undo_decision(rita)


def test_undo_of_the_second_label_opens_the_second_phase_and_leaves_the_blind_one() -> None:
    revealed = studies.rater("rita", studies.study(conditions=(Kind.REVEAL,), raters=1))
    held = given(revealed)
    blind = submit_rating(held, held.token, said(1), 0)
    locked = given(revealed)
    submit_rating(locked, locked.token, said(1), 0)
    assert undo_decision(revealed) == held
    assert (state_of(held), counts(held)) == (State.LOCKED, (1, 0))
    with pytest.raises(NothingToTakeBack):
        undo_decision(revealed)
    assert list(Rating.objects.current()) == [blind]


def test_at_least_twenty_decisions_can_be_undone() -> None:
    from tests.annotation.studies.enrolment.test_queue import grid

    rita = studies.rater("rita", studies.study(pairs=grid(22, 1)))
    for _ in range(22):
        held = given(rita)
        submit_rating(held, held.token, said(), 0)
    assert len({undo_decision(rita).pk for _ in range(20)}) == 20


def asked_again(enrolment: Enrolment) -> None:
    ask_again(enrolment.study, RepeatPairFilter(every=True), "the meaning has changed", factories.ada())


def test_what_was_said_before_a_pair_was_asked_again_stays(rita: Enrolment) -> None:
    first = rated(rita)
    page = shown(rita)
    asked_again(rita)
    assert shown(rita) == ""
    with pytest.raises(NothingToTakeBack, match="its pair is asked again"):
        undo_decision(rita, page)
    assert standing() == {(first.pk, 1)}
    numbers = [rated(rita).study_pair.number for _ in range(3)]
    assert sorted(numbers) == [1, 2, 3], "no pair of a round that is over is in the way"
    assert queue.next_assignment(rita) is None


def test_a_pair_that_is_asked_again_in_that_moment_is_not_taken_back(
    rita: Enrolment, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = rated(rita)
    page, look = shown(rita), undoing.choose_decision_to_undo

    def look_too_early(enrolment: Enrolment, wanted: str | None) -> UndoableDecision:
        found = look(enrolment, wanted)
        monkeypatch.setattr(undoing, "choose_decision_to_undo", look)
        asked_again(rita)
        return found

    monkeypatch.setattr(undoing, "choose_decision_to_undo", look_too_early)
    with pytest.raises(NothingToTakeBack):
        undo_decision(rita, page)
    assert standing() == {(first.pk, 1)}


def test_a_skip_before_the_pair_was_asked_again_stays(rita: Enrolment) -> None:
    held = given(rita)
    queue.skip_assignment(held, held.token, "can't say")
    studies.rated(studies.rater("sam", rita.study), 1, held.study_pair)
    asked_again(rita)
    assert shown(rita) == ""
