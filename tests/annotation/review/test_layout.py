"""The arrangement of the page: kept for one person, refused where it is none, never in the way."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from annotation.models import Preference
from annotation.review.layout import BadLayout, Layout, LayoutPage, Pane, layout_in, place_of, save_layout
from annotation.review.shortcuts import keys_of, switch_keys
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def erin() -> User:
    return factories.erin()


def kept(user: User) -> Preference | None:
    return Preference.objects.filter(user=user).first()


def test_without_a_preference_everything_is_open(erin: User) -> None:
    usual = layout_in(kept(erin))
    assert (usual.text, usual.closed) == ("", frozenset())


def test_it_comes_back_as_it_was_left_and_leaves_the_keys_alone(erin: User) -> None:
    switch_keys(erin, on=False)
    save_layout(erin, {"right": "30", "left": "40"}, ["agent"])
    found = layout_in(kept(erin))

    assert (found.text, found.closed) == ("left=40,right=30", frozenset({Pane.AGENT}))
    assert not keys_of(erin).on


@pytest.mark.parametrize(
    ("sizes", "closed"),
    [
        ({"left": "4"}, []),
        ({"left": "91"}, []),
        ({"left": "4e1"}, []),
        ({"left": "٤٠"}, []),
        ({"nothing": "40"}, []),
        ({}, ["nothing"]),
    ],
)
def test_what_is_no_arrangement_is_refused(erin: User, sizes: dict[str, str], closed: list[str]) -> None:
    with pytest.raises(BadLayout):
        save_layout(erin, sizes, closed)
    assert kept(erin) is None


@pytest.mark.parametrize(
    "stored", [{"sizes": {"left": "x", "old": 3}, "closed": ["old"]}, {"closed": []}, []]
)
def test_what_another_version_stored_is_left_out(erin: User, stored: object) -> None:
    Preference.objects.create(user=erin, layout=stored)

    assert layout_in(kept(erin)) == Layout()


def test_each_page_is_arranged_for_itself(erin: User) -> None:
    save_layout(erin, {"left": "40"}, ["agent"])
    save_layout(erin, {"left": "60"}, ["run"], LayoutPage.RATING)
    save_layout(erin, {}, ["other"], LayoutPage.PAIRWISE)
    save_layout(erin, {"left": "45"}, [])
    found = {place: layout_in(kept(erin), place) for place in LayoutPage}

    assert {place: (one.text, one.closed_text) for place, one in found.items()} == {
        LayoutPage.REVIEW: ("left=45", ""),
        LayoutPage.RATING: ("left=60", "run"),
        LayoutPage.PAIRWISE: ("", "other"),
    }


def test_what_was_stored_before_raters_could_arrange_their_pages_is_kept(erin: User) -> None:
    Preference.objects.create(user=erin, layout={"sizes": {"left": 40}, "closed": ["agent"]})
    save_layout(erin, {"middle": "30"}, [], LayoutPage.RATING)

    assert layout_in(kept(erin)).text == "left=40"
    assert layout_in(kept(erin), LayoutPage.RATING).text == "middle=30"


def test_a_page_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadLayout, match="Pages are: review, rating, pairwise"):
        place_of("somewhere")
