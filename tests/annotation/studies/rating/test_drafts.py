"""Drafts of two windows: neither overwrites what the other has kept without having seen it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest
from django.test import Client

from annotation import draft_rules
from annotation.draft_rules import DraftChanged, Window
from annotation.models import Assignment, Rating, RatingDraft
from annotation.models.reviews.typed_text import KeptText
from annotation.studies.plan.form_checks import RaterStatement
from annotation.studies.rating import drafts, ratings
from annotation.studies.rating.drafts import save_draft
from annotation.studies.rating.ratings import (
    RatedMeanwhile,
)
from tests import studies
from tests.rating_pages import path

pytestmark = pytest.mark.django_db
TEXTS = pytest.mark.parametrize("field", ["notes", "reason", "reading", "test", "skip"])


@pytest.fixture
def held() -> Assignment:
    return studies.assignment(studies.rater("rita", studies.study()))


def said(notes: str, value: int = 1) -> RaterStatement:
    return RaterStatement(value, "", notes, (), 12.0, (), (), "a" * 64)


def window(name: str, **revisions: str) -> Window:
    return Window(name, revisions)


@TEXTS
def test_a_window_that_has_not_seen_the_others_text_is_told(held: Assignment, field: str) -> None:
    first = save_draft(held, field, "an hour of thought", window("one", **{field: ""}))
    with pytest.raises(DraftChanged, match="Both texts are kept") as told:
        save_draft(held, field, "something else", window("two", **{field: ""}))
    assert told.value.stored.text == "an hour of thought"
    with pytest.raises(DraftChanged):
        save_draft(held, field, "", window("two"))
    second = save_draft(held, field, "something else", window("two", **{field: first}))
    assert drafts.load_draft_texts(held) == {field: "something else"} and second != first
    with pytest.raises(DraftChanged):
        save_draft(held, field, "an hour of thought, and more", window("one", **{field: first}))


def test_a_save_that_arrives_after_its_rating_is_no_draft(held: Assignment) -> None:
    ratings.submit_rating(held, held.token, said("it drops the last item"), 0)
    held.refresh_from_db()

    assert save_draft(held, "notes", "it drops the last item", window("one", notes="")) == ""
    assert not drafts.load_draft_texts(held)
    save_draft(held, "notes", "it drops the first item", window("one", notes=""))
    assert drafts.load_draft_texts(held) == {"notes": "it drops the first item"}


def test_one_window_goes_on_whatever_became_of_its_answers(held: Assignment) -> None:
    for text in ("a", "ab", "abc"):
        save_draft(held, "notes", text, window("one", notes="an answer that got lost"))
    assert drafts.load_draft_texts(held) == {"notes": "abc"}
    assert save_draft(held, "notes", "", window("one")) == ""
    assert not drafts.load_draft_texts(held)
    assert save_draft(held, "notes", "", window("two")) == ""


def test_the_same_text_twice_is_one(held: Assignment) -> None:
    first = save_draft(held, "notes", "the same", window("one"))
    assert save_draft(held, "notes", "the same", window("two")) == first


def test_what_was_chosen_and_a_call_are_the_last_windows(held: Assignment) -> None:
    for field in ("choice", "call"):
        save_draft(held, field, "1", window("one"))
        save_draft(held, field, "0", window("two"))
    assert drafts.load_draft_texts(held) == {"choice": "0", "call": "0"}


def test_a_rating_takes_along_only_what_its_window_knows(held: Assignment) -> None:
    known = save_draft(held, "notes", "seen", window("two"))
    save_draft(held, "reading", "as it was read elsewhere", window("two"))
    save_draft(held, "choice", "1 partial", window("two"))
    ratings.submit_rating(held, held.token, said("seen, and more"), 0, window("one", notes=known))
    assert drafts.load_draft_texts(held) == {"reading": "as it was read elsewhere"}


def test_a_text_that_is_kept_in_the_moment_of_a_rating_stays(
    held: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    revision, look = save_draft(held, "notes", "mine", window("one")), draft_rules.is_of_another

    def looking(draft: KeptText, of: Window | None, texts: Collection[str]) -> bool:
        monkeypatch.setattr(draft_rules, "is_of_another", look)
        save_draft(held, "notes", "mine, and more", window("two", notes=revision))
        return look(draft, of, texts)

    monkeypatch.setattr(draft_rules, "is_of_another", looking)
    drafts.clear_sent_drafts(held, "notes", window=window("one"))
    assert drafts.load_draft_texts(held) == {"notes": "mine, and more"}


def test_what_could_not_be_stored_overwrites_no_draft_of_another_window(held: Assignment) -> None:
    ratings.submit_rating(held, held.token, said("first"), 0)
    save_draft(held, "notes", "an hour of thought", window("one"))
    with pytest.raises(RatedMeanwhile):
        ratings.submit_rating(held, held.token, said("late", 0), 0, window("two"))
    assert drafts.load_draft_texts(held) == {"notes": "an hour of thought", "choice": "0"}
    with pytest.raises(RatedMeanwhile):
        ratings.submit_rating(held, held.token, said("late", 0), 0, window("one"))
    assert drafts.load_draft_texts(held)["notes"] == "late"


def test_of_two_that_begin_at_once_one_is_told(held: Assignment, monkeypatch: pytest.MonkeyPatch) -> None:
    create = draft_rules.create_draft

    def late(*args: Any) -> str | None:
        monkeypatch.setattr(draft_rules, "create_draft", create)
        save_draft(held, "notes", "faster", window("one"))
        return create(*args)

    monkeypatch.setattr(draft_rules, "create_draft", late)
    with pytest.raises(DraftChanged) as told:
        save_draft(held, "notes", "slower", window("two"))
    assert told.value.stored.text == "faster"


def test_the_page_is_told_both_texts_and_shows_which_it_knows(client: Client, held: Assignment) -> None:
    client.force_login(held.rater)
    sent = {"field": "notes", "text": "one", "draft_window": "one", "draft_notes": ""}
    kept = client.post(path(held, "draft/"), sent)
    assert kept.status_code == 204
    shown = f'data-draft-revision="{kept["Draft-Revision"].replace("+", "&#x2B;")}"'
    html = client.get(path(held)).content.decode()
    assert shown in html or shown.replace("&#x2B;", "+") in html
    other = client.post(path(held, "draft/"), {**sent, "text": "two", "draft_window": "two"})
    assert other.status_code == 409
    assert (other.json()["text"], other.json()["revision"]) == ("one", kept["Draft-Revision"])
    assert "choose which one to use" in other.json()["message"]
    assert RatingDraft.objects.get().text == "one"


def test_a_form_that_is_shown_again_says_that_its_text_is_not_kept(client: Client, held: Assignment) -> None:
    client.force_login(held.rater)
    save_draft(held, "notes", "an hour of thought", window("one"))
    body = {"label": "", "notes": "late", "token": held.token, "evidence": "a" * 64, "draft_window": "two"}
    html = client.post(path(held, "submit/"), body).content.decode()
    notes = html.split('id="notes"')[1].split("</textarea>")[0]
    assert "data-draft-unsaved" in notes and 'data-draft-revision=""' in notes and notes.endswith("late")
    assert drafts.load_draft_texts(held)["notes"] == "an hour of thought"
    assert not Rating.objects.exists()


def test_a_test_that_another_window_has_kept_outlives_a_run(client: Client, held: Assignment) -> None:
    client.force_login(held.rater)
    save_draft(held, "test", "assert True  # an hour of thought", window("one"))
    body = {"source": "assert 1", "draft_window": "two", "draft_test": ""}
    assert client.post(path(held, "runs/"), body).status_code == 302
    assert "an hour of thought" in drafts.load_draft_texts(held)["test"]
    client.post(path(held, "runs/"), {"source": "", **body, "draft_window": "one"})
    assert not drafts.load_draft_texts(held)


def test_by_the_api_with_the_revision_that_one_saw(client: Client, held: Assignment) -> None:
    client.force_login(held.rater)
    client.cookies["csrftoken"] = "c" * 32
    at = f"/api/rate/{held.enrolment.study_id}/pairs/{held.study_pair.number}"

    def post(**body: str) -> Any:
        more: dict[str, Any] = {"content_type": "application/json", "headers": {"X-CSRFToken": "c" * 32}}
        return client.post(f"{at}/draft", {"field": "notes", **body}, **more)

    kept = post(text="one", seen="")
    assert kept.status_code == 204
    assert client.get(at).json()["draft_revisions"] == {"notes": kept["Draft-Revision"]}
    refused = post(text="two", seen="")
    assert refused.status_code == 409 and refused.json()["stored"]["text"] == "one"
    assert post(text="two", seen=kept["Draft-Revision"]).status_code == 204
    assert post(text="three").status_code == 204, "without a revision it is overwritten, as it always was"
