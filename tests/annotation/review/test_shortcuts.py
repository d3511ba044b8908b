"""Keys: defaults, changes, conflicts, off and back."""

from __future__ import annotations

import contextlib

import pytest
from django.contrib.auth.models import User
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.accounts.roles import Role
from annotation.models import Preference, Study
from annotation.review.shortcuts import (
    DEFAULTS,
    LABELS,
    LED,
    SCALES,
    Action,
    KeysRefused,
    bad_keys,
    find_taken_shortcuts,
    keys_of,
    label_action,
    restore_keys,
    save_keys,
    shared_keys,
    switch_keys,
)
from annotation.studies.plan.form_checks import words_of
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.alike]


@pytest.fixture
def erin() -> User:
    return factories.erin()


def test_without_a_preference_the_defaults_work(erin: User) -> None:
    keys = keys_of(erin)

    assert dict(keys.of) == dict(DEFAULTS)
    assert keys.live(Action.MATCH) == "1"
    assert all(action.words for action in Action)


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

    of_labels = {Action.MATCH, Action.STEPS_HALF, Action.GRADED_WEAK, Action.LEFT}
    assert set(refused.value.problems) == {Action.NEXT, *of_labels}
    assert not Preference.objects.exists()


def test_labels_of_two_scales_may_have_the_same_key(erin: User) -> None:
    save_keys(erin, {Action.GRADED_EXACT: "1", Action.GRADED_WEAK: "0", Action.GRADED_NONE: "5"}, on=True)

    keys = keys_of(erin)
    assert [keys.live(action) for action in (Action.MATCH, Action.GRADED_EXACT, Action.LEFT)] == ["1"] * 3
    with pytest.raises(KeysRefused) as refused:
        save_keys(erin, {Action.GRADED_EXACT: "2"}, on=True)
    assert set(refused.value.problems) == {Action.GRADED_EXACT, Action.GRADED_STRONG}


def test_a_label_leaves_its_key_only_to_what_is_on_its_page(erin: User) -> None:
    Preference.objects.create(user=erin, shortcuts={"match": "2", "next": "3"})
    keys = keys_of(erin)

    assert keys.live(Action.GRADED_STRONG) == "2"
    assert keys.live(Action.GRADED_EXACT) == ""


def test_a_refused_key_names_what_it_meets_on_a_page(erin: User) -> None:
    with pytest.raises(KeysRefused) as refused:
        save_keys(erin, {Action.NEXT: "3"}, on=True)

    assert set(refused.value.problems) == {Action.NEXT, Action.GRADED_EXACT, Action.AS_BEFORE}
    met = "3 is also the key of “Reuse my label for identical code”, “Relevance: 3, exact”"
    assert met in refused.value.problems[Action.NEXT]
    assert "3 is also the key of “Next pair”" in refused.value.problems[Action.GRADED_EXACT]


@pytest.mark.parametrize("digit", "0123")
@pytest.mark.parametrize("action", [action for action in Action if action not in SCALES])
def test_no_digit_of_a_scale_stands_for_anything_else(erin: User, action: Action, digit: str) -> None:
    with pytest.raises(KeysRefused, match="Both can be on one page"):
        save_keys(erin, {action: digit}, on=True)
    assert not Preference.objects.exists()


def test_the_usual_keys_keep_the_rules() -> None:
    assert not shared_keys(DEFAULTS)
    assert not bad_keys(DEFAULTS)
    assert all(DEFAULTS[action].isdigit() for action in LABELS)


@pytest.mark.parametrize("action", sorted(LABELS))
@pytest.mark.parametrize("letter", ["j", "é", "Ж"])
def test_a_letter_for_a_label_is_refused(erin: User, action: Action, letter: str) -> None:
    with pytest.raises(KeysRefused, match=r"a letter can't store a label\. Choose"):
        save_keys(erin, {action: letter}, on=True)
    assert not Preference.objects.exists()


def test_a_stored_letter_for_a_label_counts_no_more_and_other_keys_stay(erin: User) -> None:
    own = {"unsure": "j", "match": "+", "next": "u", "as_before": "y", "graded_3": "q"}
    Preference.objects.create(user=erin, shortcuts=own)
    keys = keys_of(erin)

    assert keys.live(Action.UNSURE) == "2", "the default"
    assert (keys.live(Action.AS_BEFORE), keys.live(Action.GRADED_EXACT)) == ("3", "3")
    assert (keys.live(Action.MATCH), keys.live(Action.NEXT)) == ("+", "u"), "their own"


def test_without_a_first_key_tools_and_tags_have_none(erin: User) -> None:
    save_keys(erin, {Action.LEAD: ""}, on=True)
    keys = keys_of(erin)

    assert {action for action in Action if not keys.live(action)} == {Action.LEAD, *LED}
    assert keys.of[Action.RUN] == "r", "it comes back with the first key"


def test_what_gave_way_gets_its_key_back_when_it_is_free(erin: User) -> None:
    Preference.objects.create(user=erin, shortcuts={"next": "3"})
    assert find_taken_shortcuts(keys_of(erin)) == dict.fromkeys(
        (Action.GRADED_EXACT, Action.AS_BEFORE), Action.NEXT
    )
    as_shown = keys_of(erin).of

    assert save_keys(erin, {**as_shown, Action.UNDO: "j"}, on=True).of[Action.GRADED_EXACT] == ""
    assert save_keys(erin, {**as_shown, Action.NEXT: "n"}, on=True).of[Action.GRADED_EXACT] == "3"


def test_a_form_from_before_an_action_was_there_leaves_it_its_key(erin: User) -> None:
    old: dict[Action, str] = dict(DEFAULTS)
    del old[Action.STRENGTH]
    save_keys(erin, {**old, Action.NEXT: "j"}, on=True)

    assert keys_of(erin).of[Action.STRENGTH] == DEFAULTS[Action.STRENGTH]


@pytest.mark.parametrize("scale", Study.Scale.values)
def test_every_label_of_every_scale_has_an_action(scale: str) -> None:
    words = words_of(Study(scale=scale, ties=True))
    actions = [label_action(scale, word) for word in words]

    assert len(set(actions)) == len(words)
    assert all(DEFAULTS[action] for action in actions)


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


@settings(
    max_examples=50,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(wanted=st.dictionaries(st.sampled_from(Action), st.text(max_size=2)))
def test_whatever_is_wanted_no_stored_key_has_two_meanings(erin: User, wanted: dict[Action, str]) -> None:
    with contextlib.suppress(KeysRefused):
        save_keys(erin, wanted, on=True)
    kept = keys_of(erin).of
    for scale in Study.Scale.values:
        live = [key for action, key in kept.items() if key and SCALES.get(action, scale) == scale]
        assert len(live) == len(set(live))
    assert all(len(key) == 1 for key in live)
