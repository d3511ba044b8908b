"""The offer to label as before, and its key."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import review
from annotation.models import CarriedOver, Case, Review
from annotation.review.evidence_hash import evidence_hash
from annotation.web.cases.evidence import steps_of
from tests import factories
from tests.annotation.review.test_carried_labels import SNIPPETS

pytestmark = pytest.mark.django_db


@pytest.fixture
def cases() -> list[Case]:
    factories.snippets(SNIPPETS)
    build = factories.opened(k=4)
    return [factories.settled(case, 1) for case in factories.cases(build)[:4]]


@pytest.fixture
def before(cases: list[Case]) -> Review:
    return review.store_label(factories.erin(), cases[0], 0, "<b>it changes</b>", "0" * 64, 0)


def send(client: Client, case: Case, source: int, **more: object) -> tuple[int, str]:
    sent = {"evidence": evidence_hash(case, steps_of(case)), "seen_revision": 0, "source": source, **more}
    answer = client.post(reverse("review-as-before", args=[case.pk]), sent)
    return answer.status_code, answer.content.decode()


def page(client: Client, case: Case) -> str:
    return client.get(reverse("review-case", args=[case.pk])).content.decode()


def test_an_equal_candidate_has_the_offer_with_its_key(
    erin: Client, cases: list[Case], before: Review
) -> None:
    shown = page(erin, cases[1])

    assert "As before? No match" in shown
    assert 'data-key="3" aria-keyshortcuts="3" data-key-kind="label"' in shown
    assert "&lt;b&gt;it changes&lt;/b&gt;" in shown
    assert reverse("review-case", args=[cases[0].pk]) in shown
    assert "As before?" not in page(erin, cases[0]) + page(erin, cases[2])


def test_the_label_is_stored_marked_and_the_next_case_comes(
    erin: Client, cases: list[Case], before: Review
) -> None:
    status, _ = send(erin, cases[1], before.pk)
    assert status == 302
    made = CarriedOver.objects.get()
    assert (made.source, made.review.case, made.review.label) == (before, cases[1], 0)

    shown = page(erin, cases[1])
    assert re.search("carried over, given <time[^>]*>now</time></a>", shown)
    assert "As before?" not in shown


def test_the_offer_names_the_tags_that_are_carried_and_the_history_has_them(
    erin: Client, cases: list[Case]
) -> None:
    beside = review.Beside(("partial", "test_wrong_reading"))
    before = review.store_label(factories.erin(), cases[0], 0, "", "0" * 64, 0, beside)
    Review.objects.filter(pk=before.pk).update(created_at=timezone.now() - timedelta(days=3))
    assert "(partial)." in page(erin, cases[1])
    send(erin, cases[1], before.pk)
    shown = page(erin, cases[1])
    assert re.search("carried over, given <time[^>]*>3.days ago</time></a>", shown)
    assert '<span class="badge">partial</span>' in shown
    assert Review.objects.get(case=cases[1]).tags == ["partial"]


def test_one_that_is_gone_stores_nothing_and_says_so(erin: Client, cases: list[Case], before: Review) -> None:
    review.undo_latest_label(factories.erin(), cases[0], 1)
    status, shown = send(erin, cases[1], before.pk)

    assert (status, "has changed. Please label" in shown) == (422, True)
    assert Review.objects.filter(case=cases[1]).count() == 0


def test_beside_other_evidence_nothing_is_stored(erin: Client, cases: list[Case], before: Review) -> None:
    status, shown = send(erin, cases[1], before.pk, evidence="1" * 64)

    assert (status, "continued with this pair" in shown) == (409, True)


def test_another_window_was_faster(erin: Client, cases: list[Case], before: Review) -> None:
    review.store_label(factories.erin(), cases[1], 1, "", "0" * 64, 0)
    status, shown = send(erin, cases[1], before.pk)

    assert (status, "changed in another window" in shown) == (409, True)


def test_a_get_stores_nothing(erin: Client, cases: list[Case], before: Review) -> None:
    answer = erin.get(reverse("review-as-before", args=[cases[1].pk]))

    assert answer.status_code == 302
    assert not CarriedOver.objects.exists()
