"""What raters send by form. The pages themselves are in test_rating_pages."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Assignment, Enrolment, Rating
from annotation.studies import drafts
from tests import studies

pytestmark = pytest.mark.django_db


@pytest.fixture
def rita() -> Enrolment:
    return studies.rater("rita", studies.study())


@pytest.fixture
def browser(rita: Enrolment) -> Client:
    client = Client()
    client.force_login(rita.user)
    return client


def address(name: str, rita: Enrolment, *number: int) -> str:
    return reverse(f"rate-{name}", args=[rita.study_id, *number])


def test_a_pair_is_taken_rated_and_taken_back(rita: Enrolment, browser: Client) -> None:
    browser.get(address("next", rita))
    held = Assignment.objects.get()
    number = held.study_pair.number
    sent = {"token": held.token, "label": "1", "seen_revision": "0", "evidence": "a" * 64, "seconds": "2.5"}
    answer = browser.post(address("submit", rita, number), sent)
    assert (answer.status_code, answer["Location"]) == (302, address("next", rita))
    assert Rating.objects.get().seconds == 2.5
    answer = browser.post(address("undo", rita))
    assert answer["Location"] == address("pair", rita, number)
    assert drafts.texts(held)["choice"] == "1"


def test_another_window_is_shown_both(rita: Enrolment, browser: Client) -> None:
    browser.get(address("next", rita))
    held = Assignment.objects.get()
    sent = {"token": held.token, "seen_revision": "0", "evidence": "a" * 64}
    browser.post(address("submit", rita, held.study_pair.number), sent | {"label": "1"})
    answer = browser.post(
        address("submit", rita, held.study_pair.number), sent | {"label": "0", "notes": "B"}
    )
    assert answer.status_code == 409
    assert drafts.texts(held) == {"notes": "B", "choice": "0"}


def test_leaving_gives_back_what_is_open(rita: Enrolment, browser: Client) -> None:
    browser.get(address("next", rita))
    answer = browser.post(address("leave", rita))
    assert answer["Location"] == address("study", rita)
    assert Assignment.objects.get().state == "lapsed"
    rita.refresh_from_db()
    assert rita.left_at is not None


@pytest.mark.parametrize("name", ["next", "undo", "leave"])
def test_who_is_no_rater_of_the_study_finds_nothing(rita: Enrolment, name: str) -> None:
    client = Client()
    client.force_login(studies.user("rolf"))
    send = client.get if name == "next" else client.post
    assert send(address(name, rita)).status_code == 404
