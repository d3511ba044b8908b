"""An undo takes back what its page showed, and nothing that was decided since in another window."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Assignment, Condition, Enrolment, Rating
from annotation.studies import queueing
from annotation.studies.rating import Said, submit
from annotation.studies.undoing import NothingToTakeBack, last_decision, undo
from tests import studies
from tests.rating_pages import path

pytestmark = pytest.mark.django_db
Kind, State = Condition.Kind, Assignment.State


def said(value: int | None = 1, notes: str = "", reason: str = "") -> Said:
    return Said(value, reason, notes, (), 12.0, (), (), "a" * 64)


@pytest.fixture
def rita() -> Enrolment:
    return studies.rater("rita", studies.study())


def given(enrolment: Enrolment) -> Assignment:
    found = queueing.next_assignment(enrolment)
    assert found is not None
    return found


def rated(enrolment: Enrolment, value: int = 1) -> Assignment:
    held = given(enrolment)
    submit(held, held.token, said(value), 0)
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
    assert undo(rita, page) == first
    assert standing() == {(second.pk, 0)}
    with pytest.raises(NothingToTakeBack, match="In another window"):
        undo(rita, page)
    assert standing() == {(second.pk, 0)}
    assert undo(rita, shown(rita)) == second


def test_a_change_in_another_window_is_not_taken_back_unseen(rita: Enrolment) -> None:
    held = rated(rita)
    page = shown(rita)
    submit(held, held.token, said(0, "looked again"), 1)
    with pytest.raises(NothingToTakeBack, match="What stands now stays"):
        undo(rita, page)
    assert standing() == {(held.pk, 0)}
    assert undo(rita, shown(rita)) == held
    assert standing() == {(held.pk, 1)}


def test_a_second_click_takes_back_no_other_one(rita: Enrolment) -> None:
    first, second = rated(rita), rated(rita, 0)
    page = shown(rita)
    assert undo(rita, page) == second
    with pytest.raises(NothingToTakeBack):
        undo(rita, page)
    assert standing() == {(first.pk, 1)}


def test_a_page_that_knew_of_none_takes_back_none(rita: Enrolment) -> None:
    page = shown(rita)
    with pytest.raises(NothingToTakeBack, match="no decision"):
        undo(rita, page)
    held = rated(rita)
    with pytest.raises(NothingToTakeBack, match="since this page was opened stays"):
        undo(rita, page)
    assert standing() == {(held.pk, 1)}
    assert undo(rita) == held, "who names nothing takes back the last one"


def test_a_skip_is_named_as_well(rita: Enrolment) -> None:
    held = given(rita)
    queueing.skip(held, held.token, "can't say")
    page = shown(rita)
    second = rated(rita)
    assert undo(rita, page) == held
    assert standing() == {(second.pk, 1)}
    with pytest.raises(NothingToTakeBack):
        undo(rita, page)


def test_a_second_look_is_named_by_its_phase() -> None:
    rita = studies.rater("rita", studies.study(conditions=(Kind.REVEAL,)))
    held = rated(rita)
    assert shown(rita) == "", "a blind label that is locked can't be taken back"
    locked = given(rita)
    submit(locked, locked.token, said(1), 0)
    page = shown(rita)
    assert undo(rita, page) == held
    assert Rating.objects.current().get().phase == "blind"


@pytest.mark.parametrize("name", ["nonsense", "1.blind", "999999.blind.1", "\x00"])
def test_a_name_of_nothing_takes_back_nothing(rita: Enrolment, name: str) -> None:
    held = rated(rita)
    with pytest.raises(NothingToTakeBack):
        undo(rita, name)
    assert standing() == {(held.pk, 1)}


def named_on(html: str) -> str:
    found = re.search(r'name="undoes" value="([^"]*)"', html)
    assert found is not None
    return found[1]


def test_the_page_names_what_it_takes_back(client: Client, rita: Enrolment) -> None:
    client.force_login(rita.user)
    first = rated(rita)
    html = client.get(path(given(rita))).content.decode()
    assert f"Take back your last decision in this study: pair {first.study_pair.number}" in html
    second = rated(rita, 0)
    to = reverse("rate-undo", args=[rita.study_id])
    answer = client.post(to, {"undoes": named_on(html)})
    assert answer["Location"] == path(first)
    again = client.post(to, {"undoes": named_on(html)}, follow=True)
    assert "In another window you have changed or taken back" in again.content.decode()
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
