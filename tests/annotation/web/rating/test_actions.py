"""What raters send by form. The pages themselves are in test_rating_pages."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Assignment, Enrolment, Rating
from annotation.studies.rating import drafts
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
    assert drafts.load_draft_texts(held)["choice"] == "1"


def test_another_window_is_shown_both(rita: Enrolment, browser: Client) -> None:
    browser.get(address("next", rita))
    held = Assignment.objects.get()
    sent = {"token": held.token, "seen_revision": "0", "evidence": "a" * 64}
    browser.post(address("submit", rita, held.study_pair.number), sent | {"label": "1"})
    answer = browser.post(
        address("submit", rita, held.study_pair.number), sent | {"label": "0", "notes": "B"}
    )
    assert answer.status_code == 409
    assert drafts.load_draft_texts(held) == {"notes": "B", "choice": "0"}


def test_leaving_gives_back_what_is_open(rita: Enrolment, browser: Client) -> None:
    browser.get(address("next", rita))
    answer = browser.post(address("leave", rita))
    assert answer["Location"] == address("study", rita)
    assert Assignment.objects.get().state == "lapsed"
    rita.refresh_from_db()
    assert rita.left_at is not None


def test_leaving_is_asked_about_first(rita: Enrolment, browser: Client) -> None:
    studies.rated(rita, 1)
    browser.get(address("next", rita))
    assert address("leave", rita) in browser.get(address("study", rita)).content.decode()
    question = " ".join(browser.get(address("leave", rita)).content.decode().split())
    assert "The <strong>1 pair</strong> that you hold now is given back" in question
    assert "Your <strong>1 label</strong>, with notes, tags, tests and calls, stays and counts" in question
    assert Assignment.objects.filter(state="reserved").count() == 1, "asking changes nothing"
    browser.post(address("leave", rita))
    assert Rating.objects.filter(withdrawn=False).count() == 1
    assert address("leave", rita) not in browser.get(address("study", rita)).content.decode()
    assert browser.get(address("leave", rita))["Location"] == address("study", rita)


def test_a_locked_label_is_told_apart(browser: Client, rita: Enrolment) -> None:
    studies.assignment(rita, state=Assignment.State.LOCKED)
    question = browser.get(address("leave", rita)).content.decode()
    assert "with a locked blind label" in question and "that you hold now" not in question


@pytest.mark.parametrize("name", ["next", "undo", "leave"])
def test_who_is_no_rater_of_the_study_finds_nothing(rita: Enrolment, name: str) -> None:
    client = Client()
    client.force_login(studies.user("rolf"))
    send = client.get if name == "next" else client.post
    assert send(address(name, rita)).status_code == 404
