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


def test_what_can_be_no_draft_is_said(erin: Client, case: Case) -> None:
    assert save(erin, case, "label", "1") == 400
    assert save(erin, case, "test", "x" * 70_000) == 400
    assert not Draft.objects.exists()


def test_readers_have_no_drafts(ray: Client, case: Case) -> None:
    assert save(ray, case, "reason", "x") == 403
