"""Where a build hides them, no door tells an expert what others said of a pair before the own label."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import pytest
from django.test import Client
from django.urls import reverse

from annotation.accounts.roles import Role
from annotation.models import Build, Case, Review, Tally
from retrieval.models import Annotator
from tests import factories
from tests.annotation.models.reviews.test_contradictions import say

pytestmark = pytest.mark.django_db
EVE: Final = "evangeline"
EMIL: Final = "emilian"


@pytest.fixture
def case() -> Case:
    """A match of three of its query, on which two experts say no match: that label is in force."""
    found = [factories.settled(case, 1) for case in factories.cases(factories.opened())]
    for name in (EVE, EMIL):
        say(factories.person(name, Role.EXPERT), found[0], 0)
    Review.objects.update(tags=["inverse", "test_tests_nothing"], reason="the quokka is upside down")
    Build.objects.update(hides_reviews=True)
    return Case.objects.get(pk=found[0].pk)


def pages(case: Case) -> list[str]:
    """Every page and operation that would tell."""
    build, query = case.build_id, case.query_id
    return [
        reverse("review-case", args=[case.pk]),
        reverse("review-list", args=[build]),
        reverse("query", args=[build, query]),
        reverse("matches", args=[build, query]),
        reverse("case", args=[case.pk]),
        reverse("crossing", args=[build, query]),
        f"/api/cases/{case.pk}/reviews",
        f"/api/builds/{build}/reviews",
        f"/api/cases/{case.pk}",
    ]


def told(client: Client, case: Case) -> set[str]:
    """The pages that name another expert, what they wrote, or that their label is in force."""
    words = EVE, EMIL, "quokka", "in force:", "2 experts", "overruled", "sent back", '"label_in_force": 0'
    found = set()
    for page in pages(case):
        text = client.get(page).content.decode().lower()
        text = re.sub(r"<option[^>]*>[^<]*</option>", "", text)  # whom one can assign pairs to
        if any(word.lower() in text for word in words):
            found.add(page)
    return found


def test_no_page_tells_others_labels_before_ones_own(erin: Client, ada: Client, case: Case) -> None:
    assert told(erin, case) == set()
    open_ones = told(ada, case)
    assert len(open_ones) >= 7, "admins see all"
    say(factories.erin(), case, 1)
    assert told(erin, case) >= open_ones


def test_an_undo_hides_them_again(erin: Client, case: Case) -> None:
    say(factories.erin(), case, 1)
    assert told(erin, case)
    erin.post(reverse("review-undo", args=[case.pk]), {"seen_revision": 1})
    assert told(erin, case) == set()


def test_filters_and_counts_do_not_tell_either(erin: Client, ada: Client, case: Case) -> None:
    browse = reverse("browse-build", args=[case.build_id])
    words = factories.QUERIES[0]
    for query in ("differs=experts", "differs=overruled", "tag=inverse"):
        assert factories.QUERIES[1] not in ada.get(f"{browse}?{query}").content.decode()
        assert factories.QUERIES[1] in erin.get(f"{browse}?{query}").content.decode(), "no filter"
    assert words not in ada.get(f"{browse}?found=3").content.decode(), "two are in force"
    assert words in erin.get(f"{browse}?found=3").content.decode()
    cases = f"/api/builds/{case.build_id}/cases"
    assert len(ada.get(f"{cases}?differs=experts").json()["items"]) == 1
    assert len(erin.get(f"{cases}?differs=experts").json()["items"]) == 9
    assert {row["label_in_force"] for row in erin.get(cases).json()["items"]} == {1}
    queries = erin.get(f"/api/builds/{case.build_id}/queries").json()["items"]
    assert {row["matches_in_force"] for row in queries} == {3}
    candidates = f"/api/builds/{case.build_id}/queries/{case.query_id}/candidates"
    assert '"label_in_force": 0' not in erin.get(candidates).content.decode()


def test_totals_of_a_build_do_not_tell_either(erin: Client, ada: Client, case: Case) -> None:
    for address in ("/api/builds", f"/api/builds/{case.build_id}"):
        of_ada, of_erin = (client.get(address).json() for client in (ada, erin))
        rows = [found["items"][0] if "items" in found else found for found in (of_ada, of_erin)]
        assert [(row["matches_in_force"], row["no_matches_in_force"]) for row in rows] == [(8, 1), (9, 0)]
    lists = [client.get(reverse("browse")).content.decode() for client in (ada, erin)]
    assert ['class="num">8</td>' in page for page in lists] == [True, False]
    corpus = reverse("build-corpus", args=[case.build_id])
    assert "Matches by the label in force" in ada.get(corpus).content.decode()
    assert "Matches by the agents’ label" in erin.get(corpus).content.decode()
    assert Tally.objects.get(build=case.build).matches_in_force == 8, "what is stored stays"


def test_lists_of_the_review_page_do_not_tell(erin: Client, ada: Client, case: Case) -> None:
    for show in ("overridden", "tagged-inverse"):
        where = reverse("review-next", args=[case.build_id]) + f"?show={show}"
        assert ada.get(where).status_code == 302
        assert erin.get(where).status_code == 200, "the end of the list"


def test_single_experts_are_not_compared(erin: Client, ada: Client, case: Case) -> None:
    one, other = Annotator.objects.filter(kind=Annotator.Kind.PERSON).order_by("pk")
    query = f"first={one.pk}&second={other.pk}"
    where = f"{reverse('compare')}?of=annotators&{query}"
    show = f"{reverse('review-next', args=[case.build_id])}?show=apart-{one.pk}.0-{other.pk}.0"
    api = f"/api/annotators/{one.pk}/comparison/{other.pk}"
    for page in (where, show):
        assert erin.get(page).status_code == 403, page
        assert ada.get(page).status_code != 403, page
    assert erin.get(api).status_code == 404, "labels given beside the agents' verdict are not compared"


@pytest.fixture
def switch(ada: Client, case: Case) -> Callable[[bool, str], str]:
    def switched(hides: bool, reason: str) -> str:
        sent = {"reviews_needed": 2, "reason": reason, **({"hides_reviews": "on"} if hides else {})}
        where = reverse("build-review-rule", args=[case.build_id])
        return ada.post(where, sent, follow=True).content.decode()

    return switched


def test_an_admin_switches_it_with_a_reason(
    erin: Client, ada: Client, case: Case, switch: Callable[[bool, str], str]
) -> None:
    assert "Others’ labels are shown now." in switch(False, "all is over")
    assert told(erin, case)
    assert "Others’ labels are hidden now." in switch(True, "another round")
    assert told(erin, case) == set()
    api = f"/api/builds/{case.build_id}/review-rule"
    sent = {"reviews_needed": 2, "reason": "by the API", "hides_reviews": False}
    answer = ada.post(api, sent, content_type="application/json").json()
    assert answer == {"reviews_needed": 2, "hides_reviews": False, "changed": 0}
    assert told(erin, case)
    answer = ada.post(api, sent | {"hides_reviews": True}, content_type="application/json").json()
    assert answer["hides_reviews"] is True
    kept = ada.post(api, {"reviews_needed": 2, "reason": "x"}, content_type="application/json").json()
    assert kept["hides_reviews"] is True, "what is not said stays"
    assert told(erin, case) == set()
    events = case.build.events.filter(event="review rule changed").order_by("pk")
    assert [event.note for event in events] == [
        "others' labels are shown: all is over",
        "others' labels are hidden until one's own is stored: another round",
        "others' labels are shown: by the API",
        "others' labels are hidden until one's own is stored: by the API",
    ]
