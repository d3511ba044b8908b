"""The arrangement of the review page: kept for the next page, refused where it is none."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Case, Preference
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def case() -> Case:
    return factories.settled(factories.cases(factories.opened())[0], 1)


def test_the_next_page_is_arranged_as_this_one_was_left(erin: Client, case: Case) -> None:
    answer = erin.post(reverse("review-layout"), {"size-left": "40", "size-right": "60"})
    page = erin.get(reverse("review-case", args=[case.pk])).content.decode()

    assert answer.status_code == 204
    assert '<meta name="review-layout" content="left=40,right=60">' in page


def test_what_is_no_arrangement_is_refused_in_words(erin: Client) -> None:
    answer = erin.post(reverse("review-layout"), {"size-left": "400"})

    assert answer.status_code == 400
    assert "from 5 to 90" in answer.content.decode()
    assert not Preference.objects.exists()


def test_it_is_only_ever_sent(erin: Client) -> None:
    assert erin.get(reverse("review-layout")).status_code == 405
