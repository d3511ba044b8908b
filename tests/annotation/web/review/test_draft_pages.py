"""Drafts over HTTP."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Case, Draft
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def case() -> Case:
    return factories.settled(factories.cases(factories.opened())[0], 1)


def save(client: Client, case: Case, field: str, text: str) -> int:
    return client.post(reverse("review-draft", args=[case.pk]), {"field": field, "text": text}).status_code


def test_a_draft_is_kept_and_cleared(erin: Client, case: Case) -> None:
    assert save(erin, case, "reason", "it cop") == 204
    assert Draft.objects.get().text == "it cop"
    assert save(erin, case, "reason", "") == 204
    assert not Draft.objects.exists()


def test_another_windows_text_is_shown_and_not_overwritten(erin: Client, case: Case) -> None:
    url = reverse("review-draft", args=[case.pk])
    sent = {"field": "reason", "text": "one", "draft_window": "one", "draft_reason": ""}
    kept = erin.post(url, sent)
    page = erin.get(reverse("review-case", args=[case.pk])).content.decode()
    assert f'data-draft-revision="{kept["Draft-Revision"]}"' in page
    refused = erin.post(url, sent | {"text": "two", "draft_window": "two"})
    assert refused.status_code == 409
    assert refused.json()["text"] == "one" and refused.json()["revision"] == kept["Draft-Revision"]
    chosen = sent | {"text": "two", "draft_window": "two", "draft_reason": kept["Draft-Revision"]}
    assert erin.post(url, chosen).status_code == 204
    assert Draft.objects.get().text == "two"


def test_a_label_that_is_refused_shows_what_was_sent_as_not_kept(erin: Client, case: Case) -> None:
    sent = {"field": "reason", "text": "thought elsewhere", "draft_window": "two", "draft_reason": ""}
    erin.post(reverse("review-draft", args=[case.pk]), sent)
    form = {"label": "1", "reason": "typed here", "evidence": "", "seen_revision": "0", "draft_window": "one"}
    page = erin.post(reverse("review-label", args=[case.pk]), form).content.decode()
    assert "data-draft-unsaved" in page and "typed here" in page
    assert Draft.objects.get().text == "thought elsewhere"


def test_what_can_be_no_draft_is_said(erin: Client, case: Case) -> None:
    assert save(erin, case, "label", "1") == 400
    assert save(erin, case, "test", "x" * 70_000) == 400
    assert not Draft.objects.exists()


def test_readers_have_no_drafts(ray: Client, case: Case) -> None:
    assert save(ray, case, "reason", "x") == 403


def test_the_name_of_a_window_is_stored_as_any_other_text(erin: Client, case: Case) -> None:
    sent = {"field": "reason", "text": "one", "draft_window": "a\x00b", "draft_reason": "\x00"}
    assert erin.post(reverse("review-draft", args=[case.pk]), sent).status_code == 204
    assert Draft.objects.get().window == "a␀b"
