"""Keys: defaults, changes, conflicts, off and back."""

from __future__ import annotations

import contextlib

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.access import Role
from annotation.models import Preference
from annotation.review.shortcuts import (
    DEFAULTS,
    TITLES,
    Action,
    KeysRefused,
    keys_of,
    restore_keys,
    save_keys,
    switch_keys,
)
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def erin() -> User:
    return factories.erin()


def test_without_a_preference_the_defaults_work(erin: User) -> None:
    keys = keys_of(erin)

    assert dict(keys.of) == dict(DEFAULTS)
    assert keys.live(Action.MATCH) == "1"
    assert set(TITLES) == set(Action)


def test_only_what_differs_is_stored_and_only_for_that_person(erin: User) -> None:
    save_keys(erin, {**DEFAULTS, Action.NEXT: "J"}, on=True)

    assert Preference.objects.get().shortcuts == {"next": "j"}
    assert keys_of(erin).live(Action.NEXT) == "j"
    assert keys_of(factories.person("eve", Role.EXPERT)).live(Action.NEXT) == "n"


def test_a_newer_action_leaves_a_key_to_who_uses_it_already(erin: User) -> None:
    Preference.objects.create(user=erin, shortcuts={"next": "i"})
    keys = keys_of(erin)

    assert keys.live(Action.NEXT) == "i"
    assert keys.live(Action.TAG_INVERSE) == ""


def test_one_key_for_two_actions_is_refused_and_nothing_changes(erin: User) -> None:
    with pytest.raises(KeysRefused) as refused:
        save_keys(erin, {Action.NEXT: "1"}, on=True)

    assert set(refused.value.problems) == {Action.NEXT, Action.MATCH}
    assert not Preference.objects.exists()


@pytest.mark.parametrize("key", ["Enter", "ab", "\x07"])
def test_a_key_is_one_visible_character(erin: User, key: str) -> None:
    with pytest.raises(KeysRefused, match="one visible character"):
        save_keys(erin, {Action.NEXT: key}, on=True)


def test_an_action_may_have_no_key(erin: User) -> None:
    save_keys(erin, {Action.UNDO: "", Action.NEXT: ""}, on=True)

    assert keys_of(erin).live(Action.UNDO) == ""


def test_switched_off_no_key_works_and_the_map_stays(erin: User) -> None:
    save_keys(erin, {Action.NEXT: "j"}, on=True)
    switch_keys(erin, on=False)

    keys = keys_of(erin)
    assert all(keys.live(action) == "" for action in Action)
    assert keys.of[Action.NEXT] == "j"


def test_restoring_brings_back_the_defaults(erin: User) -> None:
    save_keys(erin, {Action.NEXT: "j"}, on=False)
    restore_keys(erin)

    assert keys_of(erin).live(Action.NEXT) == "n"


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(wanted=st.dictionaries(st.sampled_from(Action), st.text(max_size=2)))
def test_whatever_is_wanted_no_stored_key_has_two_meanings(erin: User, wanted: dict[Action, str]) -> None:
    with contextlib.suppress(KeysRefused):
        save_keys(erin, wanted, on=True)
    live = [key for key in keys_of(erin).of.values() if key]
    assert len(live) == len(set(live))
    assert all(len(key) == 1 for key in live)
