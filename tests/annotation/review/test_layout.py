"""The arrangement of the page: kept for one person, refused where it is none, never in the way."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from annotation.models import Preference
from annotation.review.layout import BadLayout, Layout, LayoutPage, layout_in, place_of, save_layout
from annotation.review.shortcuts import keys_of, switch_keys
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def erin() -> User:
    return factories.erin()


def kept(user: User) -> Preference | None:
    return Preference.objects.filter(user=user).first()


def test_without_a_preference_there_are_no_sizes(erin: User) -> None:
    assert layout_in(kept(erin)).text == ""


def test_it_comes_back_as_it_was_left_and_leaves_the_keys_alone(erin: User) -> None:
    switch_keys(erin, on=False)
    save_layout(erin, {"right": "30", "left": "40"})

    assert layout_in(kept(erin)).text == "left=40,right=30"
    assert not keys_of(erin).on


@pytest.mark.parametrize(
    "sizes", [{"left": "4"}, {"left": "91"}, {"left": "4e1"}, {"left": "٤٠"}, {"middle": "40"}]
)
def test_what_is_no_arrangement_is_refused(erin: User, sizes: dict[str, str]) -> None:
    with pytest.raises(BadLayout):
        save_layout(erin, sizes)
    assert kept(erin) is None


@pytest.mark.parametrize(
    "stored", [{"sizes": {"left": "x", "middle": 30, "code": 3}, "closed": ["code"]}, {"closed": []}, []]
)
def test_what_another_version_stored_is_left_out(erin: User, stored: object) -> None:
    Preference.objects.create(user=erin, layout=stored)

    assert layout_in(kept(erin)) == Layout()


def test_each_page_is_arranged_for_itself(erin: User) -> None:
    save_layout(erin, {"left": "40"})
    save_layout(erin, {"left": "60"}, LayoutPage.RATING)
    save_layout(erin, {"left": "45"})

    assert {place: layout_in(kept(erin), place).text for place in LayoutPage} == {
        LayoutPage.REVIEW: "left=45",
        LayoutPage.RATING: "left=60",
        LayoutPage.PAIRWISE: "",
    }


def test_what_was_stored_before_raters_could_arrange_their_pages_is_kept(erin: User) -> None:
    Preference.objects.create(user=erin, layout={"sizes": {"left": 40}, "closed": ["agent"]})
    save_layout(erin, {"right": "30"}, LayoutPage.RATING)

    assert layout_in(kept(erin)).text == "left=40"
    assert layout_in(kept(erin), LayoutPage.RATING).text == "right=30"


def test_a_page_that_is_not_there_is_refused() -> None:
    with pytest.raises(BadLayout, match="Pages are: review, rating, pairwise"):
        place_of("somewhere")
