"""The arrangement of the page: kept for one person, refused where it is none, never in the way."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from annotation.models import Preference
from annotation.review.layout import USUAL, BadLayout, Pane, layout_in, save_layout
from annotation.review.shortcuts import keys_of, switch_keys
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def erin() -> User:
    return factories.erin()


def kept(user: User) -> Preference | None:
    return Preference.objects.filter(user=user).first()


def test_without_a_preference_everything_is_open(erin: User) -> None:
    assert layout_in(kept(erin)) == USUAL
    assert (USUAL.text, USUAL.closed) == ("", frozenset())


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

    assert layout_in(kept(erin)) == USUAL
