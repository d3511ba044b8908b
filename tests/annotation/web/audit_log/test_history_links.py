"""Where one's own labels are found again: without a link nobody would restore anything."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation import review
from tests import factories

pytestmark = pytest.mark.django_db
LINK = 'href="/history/"'


def test_experts_find_their_labels_in_the_menu_and_where_review_starts(erin: Client) -> None:
    html = erin.get(reverse("work")).content.decode()
    head, _, content = html.partition("<main")
    assert LINK in head and LINK in content


def test_readers_have_no_link_to_labels_that_they_can_not_give(ray: Client) -> None:
    assert LINK not in ray.get(reverse("browse")).content.decode()


def test_the_last_decisions_lead_to_all_of_them(erin: Client) -> None:
    case = factories.settled(factories.cases(factories.opened())[0], 1)
    review.store_label(factories.erin(), case, 1, "", "a" * 64, 0)
    decisions = erin.get(reverse("review-case", args=[case.pk])).content.decode()
    assert LINK in decisions.partition('<details class="menu decisions">')[2].partition("</details>")[0]
