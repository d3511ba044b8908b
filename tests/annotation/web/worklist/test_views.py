"""The list of a build's pairs: what it shows, what it changes, and who may."""

from __future__ import annotations

import re

import pytest
from django.db import OperationalError
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from annotation.accounts.roles import Role
from annotation.models import Build, Case, PairTag, ReviewAssignment, SavedList, SeenBuild
from annotation.review.worklists.case_list import sample_cases
from annotation.review.worklists.code_search import search_collection_code
from annotation.studies.exposure import seen_among
from annotation.web.worklist import page as pages
from tests import factories
from tests.annotation.models.reviews.test_contradictions import say
from tests.conftest import logged_in

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    sample_cases.cache_clear()
    search_collection_code.cache_clear()


@pytest.fixture
def cases() -> list[Case]:
    """Nine cases, all a clear match."""
    return [factories.settled(case, 1) for case in factories.cases(factories.opened())]


def browser(name: str) -> Client:
    """Of an expert of that name."""
    client = Client()
    client.force_login(factories.person(name, Role.EXPERT))
    return client


def address(case: Case, name: str = "review-list", query: str = "") -> str:
    return reverse(name, args=[case.build_id]) + (f"?{query}" if query else "")


def listed(client: Client, case: Case, query: str = "") -> list[int]:
    """The keys of the cases on the page, in order."""
    text = client.get(address(case, query=query)).content.decode()
    return [int(key) for key in re.findall(r'form="bulk" name="case" value="(\d+)"', text)]


def test_the_list_shows_each_pair_with_ones_own_label(erin: Client, cases: list[Case]) -> None:
    say(factories.erin(), cases[0], 0)
    text = erin.get(address(cases[0])).content.decode()
    assert listed(erin, cases[0]) == [case.pk for case in cases]
    assert text.count("no match") > 1
    assert "Review this list" in text
    assert "Share out" not in text, "that is for admins"


def test_pages_follow_each_other_with_the_filters_in_the_address(
    erin: Client, cases: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PAGE_SIZE", 4)
    for sort in ("query", "information", "rank", "score", "changed"):
        found, query = [], f"label=1&sort={sort}"
        while query:
            text = erin.get(address(cases[0], query=query)).content.decode()
            found += [int(key) for key in re.findall(r'form="bulk" name="case" value="(\d+)"', text)]
            following = re.search(r'rel="next" href="\?([^"]+)"', text)
            query = following[1].replace("&amp;", "&") if following else ""
            assert not query or "label=1" in query
        assert sorted(found) == sorted(case.pk for case in cases), sort


def test_the_button_leads_through_the_list_that_is_shown(erin: Client, cases: list[Case]) -> None:
    text = erin.get(address(cases[0], query="q=flatten")).content.decode()
    link = re.search(r'href="([^"]+show=list-[^"]+)">Review this list', text)
    assert link
    first = erin.get(link[1])
    assert first["Location"].startswith(reverse("review-case", args=[listed(erin, cases[0], "q=flatten")[0]]))
    shown = erin.get(first["Location"]).content.decode()
    assert "“flatten”" in shown, "the menu names the list"
    assert f"{reverse('review-list', args=[cases[0].build_id])}?q=flatten" in shown


def test_hostile_text_is_escaped(erin: Client) -> None:
    factories.queries(["<script>alert(1)</script> \u202e"])
    factories.snippets(["def f():  # <img src=x>\n    return 1\n"])
    case = factories.settled(factories.cases(factories.opened(k=1))[0], 1)
    for query in ("", "q=%3Cscript%3Ealert(1)"):
        text = erin.get(address(case, query=query)).content.decode()
        assert "&lt;script&gt;alert(1)" in text
        assert "<script>alert" not in text
        assert "<img src" not in text
        assert "\u202e" not in text


def test_ticked_pairs_are_tagged_assigned_and_that_is_undone(erin: Client, cases: list[Case]) -> None:
    eve = factories.person("eve", Role.EXPERT)
    ticked = {"case": [cases[0].pk, cases[1].pk], "filters": "label=1&evil=x"}
    answer = erin.post(address(cases[0], "review-list-change"), {**ticked, "action": "tag", "tag": "partial"})
    assert answer["Location"] == address(cases[0], query="label=1"), "only known filters lead back"
    assert PairTag.objects.filter(removed=None).count() == 2
    assert listed(erin, cases[0], "tag=partial") == [cases[0].pk, cases[1].pk]
    assert "partial" in erin.get(address(cases[0])).content.decode()
    tag = 'title="A tag from the list of pairs"><span class="visually-hidden">tag </span>partial<'
    assert tag in erin.get(reverse("review-case", args=[cases[0].pk])).content.decode()
    Build.objects.update(hides_reviews=True)
    assert tag in erin.get(reverse("review-case", args=[cases[0].pk])).content.decode(), "the own one"
    assert tag not in browser("eve").get(reverse("review-case", args=[cases[0].pk])).content.decode()

    erin.post(address(cases[0], "review-list-change"), {**ticked, "action": "assign", "expert": eve.pk})
    assert listed(browser("eve"), cases[0], "assigned=me") == [cases[0].pk, cases[1].pk]
    said = erin.post(address(cases[0], "review-list-change"), {"action": "undo"}, follow=True)
    assert "Undone: assigned." in said.content.decode()
    assert not ReviewAssignment.objects.filter(removed=None).exists()


def test_all_on_the_page_are_those_that_were_shown(erin: Client, cases: list[Case]) -> None:
    sent = {"all": "on", "shown": [case.pk for case in cases[:4]], "case": [cases[8].pk]}
    erin.post(address(cases[0], "review-list-change"), {**sent, "action": "tag", "tag": "partial"})
    assert listed(erin, cases[0], "tag=partial") == [case.pk for case in cases[:4]]


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"action": "tag", "tag": "partial"}, "Tick at least one pair."),
        ({"action": "tag", "tag": "nonsense", "case": "1"}, "Choose a tag."),
        ({"action": "assign", "case": "1"}, "Choose an expert."),
        ({"action": "undo"}, "You have nothing to undo in this list."),
    ],
)
def test_what_can_not_be_done_says_why(
    erin: Client, cases: list[Case], sent: dict[str, str], words: str
) -> None:
    if "case" in sent:
        sent = {**sent, "case": str(cases[0].pk)}
    assert words in erin.post(address(cases[0], "review-list-change"), sent, follow=True).content.decode()
    assert erin.post(address(cases[0], "review-list-change"), {"action": "label"}).status_code == 400


def test_an_admin_shares_a_list_out(ada: Client, cases: list[Case]) -> None:
    people = [factories.erin(), factories.person("eve", Role.EXPERT)]
    where = address(cases[0], "review-list-share", "q=flatten")
    assert "3 pairs" in ada.get(where).content.decode() or "5 pairs" in ada.get(where).content.decode()
    assert ada.post(where, {"overlap": 1, "seed": 1}).status_code == 422
    number = len(listed(ada, cases[0], "q=flatten"))
    answer = ada.post(where, {"experts": [user.pk for user in people], "overlap": 2, "seed": 1})
    assert answer["Location"] == address(cases[0], query="q=flatten")
    assert ReviewAssignment.objects.count() == 2 * number
    event = cases[0].build.events.get(event="pairs shared out")
    assert "erin, eve" in event.note
    assert "Assigned to you" in browser("eve").get("/work/").content.decode()


def test_a_pair_of_somebody_else_says_so_and_can_be_reviewed(ada: Client, cases: list[Case]) -> None:
    factories.person("eve", Role.EXPERT)
    eve = browser("eve")
    sent = {"action": "assign", "expert": factories.erin().pk, "case": cases[0].pk}
    ada.post(address(cases[0], "review-list-change"), sent)
    words = "assigned to erin"
    assert words in eve.get(reverse("review-case", args=[cases[0].pk])).content.decode()
    assert words not in eve.get(reverse("review-case", args=[cases[1].pk])).content.decode()
    assert words not in logged_in("erin").get(reverse("review-case", args=[cases[0].pk])).content.decode()


def test_lists_are_saved_shared_and_deleted_by_their_owner(erin: Client, cases: list[Case]) -> None:
    where = address(cases[0], "review-list-saved")
    erin.post(where, {"action": "save", "name": "mine", "filters": "label=1&page=3"})
    erin.post(where, {"action": "save", "name": "<b>ours", "filters": "q=x%26y", "shared": "on"})
    again = erin.post(where, {"action": "save", "name": "mine", "filters": ""}, follow=True)
    assert "You already have a list" in again.content.decode()
    assert list(SavedList.objects.order_by("pk").values_list("query", flat=True)) == ["label=1", "q=x%26y"]

    factories.person("eve", Role.EXPERT)
    seen = browser("eve").get(address(cases[0])).content.decode()
    assert "&lt;b&gt;ours" in seen
    assert ">mine<" not in seen
    shared = SavedList.objects.get(shared=True).pk
    browser("eve").post(where, {"action": "delete", "list": shared})
    assert SavedList.objects.filter(pk=shared).exists()
    erin.post(where, {"action": "delete", "list": shared})
    assert not SavedList.objects.filter(pk=shared).exists()


def test_a_list_by_verdicts_is_remembered_as_seen(erin: Client, cases: list[Case]) -> None:
    user = factories.erin()
    pairs = [case.pair_id for case in cases]
    erin.get(address(cases[0], query="label=0"))
    assert len(seen_among([user.pk], pairs)) == 9, "also of those that are left out"
    assert not SeenBuild.objects.exists()


def test_a_list_that_takes_too_long_says_so(
    erin: Client, cases: list[Case], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "CANCELLED", ("too slow",))

    def stop(*_: object) -> int:
        raise OperationalError("too slow")

    monkeypatch.setattr(pages, "count_some", stop)
    text = erin.get(address(cases[0])).content.decode()
    assert "This took too long" in text
    assert "Saved lists" in text


def test_the_list_costs_the_same_for_many_rows(
    erin: Client, cases: list[Case], django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    say(factories.erin(), cases[0], 0)
    erin.get(address(cases[0], query="q=e"))
    with django_assert_max_num_queries(23):
        erin.get(address(cases[0], query="q=e&sort=information&label=1"))


def test_the_list_is_for_experts_and_sharing_for_admins(erin: Client, ray: Client, cases: list[Case]) -> None:
    assert ray.get(address(cases[0])).status_code == 403
    assert erin.get(address(cases[0], "review-list-share")).status_code == 403
    assert erin.get(reverse("review-list", args=[10_000])).status_code == 404


def test_others_labels_and_tags_are_hidden_until_mine_is_stored(erin: Client, cases: list[Case]) -> None:
    eve = factories.person("eve", Role.EXPERT)
    say(eve, cases[0], 0)
    say(factories.person("emil", Role.EXPERT), cases[0], 0)
    Build.objects.update(hides_reviews=True)
    Case.objects.filter(pk=cases[0].pk).get()
    text = erin.get(address(cases[0])).content.decode()
    assert "in force" not in text
    assert "hidden until you save yours" in text
    say(factories.erin(), cases[0], 1)
    assert "in force" in erin.get(address(cases[0])).content.decode()
