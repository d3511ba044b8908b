"""The keys of the review page: one key an action, to be changed or switched off by each person.

The rule: on a page a key stands for one action. Labels of two scales are never on one page, so they may have
the same key, as the digits do; everything else is on the pages of every scale, so it shares its key with no
label of any. What would break it is not stored. A key that a person chose counts before the usual one of an
action that came later: that action has none, which the settings say, and gets it back when it is free again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from django.contrib.auth.models import User

from annotation.models import Preference
from annotation.review.tags import WORDS, Tag

BINARY: Final = "binary"
OTHER_SCALES: Final = ("steps_", "graded_", "preference_")


class Action(StrEnum):
    """What a key does; each is also a button or a link on the page."""

    MATCH = "match"
    NO_MATCH = "no_match"
    UNSURE = "unsure"
    NEXT = "next"
    PREVIOUS = "previous"
    UNDO = "undo"
    NOTE = "note"
    RUN = "run"
    EDIT = "edit"
    CALL = "call"
    ASSERT = "assert"
    STEP_NEXT = "step_next"
    STEP_PREVIOUS = "step_previous"
    STEP_FAILING = "step_failing"
    STEP_FOLLOW = "step_follow"
    DECISIONS = "decisions"
    TAG_INVERSE = "tag_inverse"
    TAG_PARTIAL = "tag_partial"
    TAG_EDGE_CASE = "tag_edge_case"
    TAG_NEEDS_PROJECT = "tag_needs_project"
    TAG_AMBIGUOUS = "tag_ambiguous_query"
    TAG_LOW_QUALITY = "tag_low_quality"
    TAG_UNSAFE = "tag_unsafe"
    TAG_TEST_EXPECTATION = "tag_test_wrong_expectation"
    TAG_TEST_READING = "tag_test_wrong_reading"
    TAG_TEST_EMPTY = "tag_test_tests_nothing"
    TAG_TEST_ENVIRONMENT = "tag_test_environment"
    SKIP = "skip"
    GUIDELINES = "guidelines"
    AS_BEFORE = "as_before"
    STRENGTH = "strength"
    STEPS_ALL = "steps_2"
    STEPS_HALF = "steps_1"
    STEPS_LESS = "steps_0"
    GRADED_EXACT = "graded_3"
    GRADED_STRONG = "graded_2"
    GRADED_WEAK = "graded_1"
    GRADED_NONE = "graded_0"
    LEFT = "preference_left"
    RIGHT = "preference_right"
    TIE = "preference_tie"
    HELP = "help"


def label_action(scale: str, word: str) -> Action:
    """The action that gives a label: `word` is what a form sends for a value of the scale."""
    if word == "unsure":
        return Action.UNSURE
    if scale == BINARY:
        return Action.MATCH if word == "1" else Action.NO_MATCH
    return Action(f"{scale}_{word}")


def tag_action(tag: Tag) -> Action:
    """The action that sets a tag, or takes it away again."""
    return Action(f"tag_{tag}")


DEFAULTS: Final[Mapping[Action, str]] = MappingProxyType(
    {
        Action.MATCH: "1",
        Action.NO_MATCH: "0",
        Action.UNSURE: "u",
        Action.NEXT: "n",
        Action.PREVIOUS: "p",
        Action.UNDO: "z",
        Action.NOTE: "e",
        Action.RUN: "r",
        Action.EDIT: "t",
        Action.CALL: "c",
        Action.ASSERT: "a",
        Action.STEP_NEXT: ".",
        Action.STEP_PREVIOUS: ",",
        Action.STEP_FAILING: "f",
        Action.STEP_FOLLOW: "g",
        Action.DECISIONS: "d",
        Action.TAG_INVERSE: "i",
        Action.TAG_PARTIAL: "h",
        Action.TAG_EDGE_CASE: "b",
        Action.TAG_NEEDS_PROJECT: "s",
        Action.TAG_AMBIGUOUS: "q",
        Action.TAG_LOW_QUALITY: "l",
        Action.TAG_UNSAFE: "x",
        Action.TAG_TEST_EXPECTATION: "w",
        Action.TAG_TEST_READING: "m",
        Action.TAG_TEST_EMPTY: "o",
        Action.TAG_TEST_ENVIRONMENT: "v",
        Action.SKIP: "-",
        Action.GUIDELINES: "/",
        Action.AS_BEFORE: "y",
        Action.STRENGTH: "k",
        Action.STEPS_ALL: "2",
        Action.STEPS_HALF: "1",
        Action.STEPS_LESS: "0",
        Action.GRADED_EXACT: "3",
        Action.GRADED_STRONG: "2",
        Action.GRADED_WEAK: "1",
        Action.GRADED_NONE: "0",
        Action.LEFT: "1",
        Action.RIGHT: "2",
        Action.TIE: "0",
        Action.HELP: "?",
    }
)
TITLES: Final[Mapping[Action, str]] = MappingProxyType(
    {
        Action.MATCH: "Label: match",
        Action.NO_MATCH: "Label: no match",
        Action.UNSURE: "Unsure: skip without a label",
        Action.NEXT: "Next case",
        Action.PREVIOUS: "Previous case",
        Action.UNDO: "Undo the latest label",
        Action.NOTE: "Write a reason or note",
        Action.RUN: "Run the test program again",
        Action.EDIT: "Edit a copy of the test program",
        Action.CALL: "Call the candidate with values of your own",
        Action.ASSERT: "Make the latest call an assertion of your test",
        Action.STEP_NEXT: "Next step of the trace",
        Action.STEP_PREVIOUS: "Previous step of the trace",
        Action.STEP_FAILING: "Go to the step that failed",
        Action.STEP_FOLLOW: "Choose the variable to follow",
        Action.DECISIONS: "Go to your last ten decisions",
        **{tag_action(tag): f"Tag {'the test' if tag.of_test else 'the pair'}: {WORDS[tag]}" for tag in Tag},
        Action.SKIP: "In a study: skip the pair",
        Action.GUIDELINES: "In a study: the guidelines",
        Action.AS_BEFORE: "Label as before, where the code is the same",
        Action.STRENGTH: "Find out how strong the test is",
        Action.STEPS_ALL: "Three steps: all of it",
        Action.STEPS_HALF: "Three steps: at least half",
        Action.STEPS_LESS: "Three steps: less",
        Action.GRADED_EXACT: "Relevance: 3, exact",
        Action.GRADED_STRONG: "Relevance: 2, strong",
        Action.GRADED_WEAK: "Relevance: 1, weak",
        Action.GRADED_NONE: "Relevance: 0, irrelevant",
        Action.LEFT: "Of two: left is better",
        Action.RIGHT: "Of two: right is better",
        Action.TIE: "Of two: equally good",
        Action.HELP: "Show the keys",
    }
)


SCALES: Final[Mapping[Action, str]] = MappingProxyType(
    {
        Action.MATCH: BINARY,
        Action.NO_MATCH: BINARY,
        **{action: action.partition("_")[0] for action in Action if action.startswith(OTHER_SCALES)},
    }
)
"""The scale that an action belongs to. A page has one scale, so those of two may have the same key."""
OF_STUDIES: Final = frozenset(
    {Action.SKIP, Action.GUIDELINES, *(action for action, scale in SCALES.items() if scale != BINARY)}
)
"""What is done on pages of raters only."""


class KeysRefused(ValueError):
    """The keys can't be used so; `problems` says by action what to change. Nothing was stored."""

    def __init__(self, problems: Mapping[Action, str]) -> None:
        super().__init__("; ".join(problems.values()))
        self.problems = problems


@dataclass(frozen=True)
class Keys:
    """One person's keys. `of` has an empty text for an action without a key."""

    of: Mapping[Action, str]
    on: bool = True

    def live(self, action: Action) -> str:
        """The key that works now: none while single-key shortcuts are switched off."""
        return self.of[action] if self.on else ""


def keys_of(user: User) -> Keys:
    """The person's keys: the defaults, where they changed nothing."""
    return keys_in(Preference.objects.filter(user=user).first())


def keys_in(kept: Preference | None) -> Keys:
    """The keys in a person's preferences."""
    if kept is None:
        return Keys(DEFAULTS)
    own = {action: kept.shortcuts[action.value] for action in Action if action.value in kept.shortcuts}
    return Keys({**giving_way(own), **own}, kept.shortcuts_on)


def giving_way(own: Mapping[Action, str]) -> dict[Action, str]:
    """The defaults without the keys that a person uses otherwise: actions may be newer than them."""
    return {
        action: "" if any(key == used and meet(action, other) for other, used in own.items()) else key
        for action, key in DEFAULTS.items()
    }


def meet(one: Action, other: Action) -> bool:
    """Whether two actions are on one page, so that a key can stand for one of them only."""
    scales = {SCALES[action] for action in (one, other) if action in SCALES}
    return len(scales) < 2


def taken(keys: Keys) -> dict[Action, Action]:
    """By action without a key: the one that has its usual key."""
    return {
        action: other
        for action, usual in DEFAULTS.items()
        for other, key in keys.of.items()
        if not keys.of[action] and key == usual and meet(action, other)
    }


def save_keys(user: User, wanted: Mapping[Action, str], on: bool) -> Keys:
    """Store the person's keys; an action that is not in `wanted` keeps its own.

    Raises KeysRefused for a key that two actions share or that is none.
    """
    before = keys_of(user)
    chosen = {action: wanted.get(action, before.of[action]).strip().lower() for action in Action}
    problems = bad_keys(chosen) or shared_keys(chosen)
    if problems:
        raise KeysRefused(problems)
    # An action that gave way and was left without a key was not asked to have none for ever.
    gave_way = {action for action in taken(before) if not chosen[action]}
    changed = {
        action.value: key
        for action, key in chosen.items()
        if key != DEFAULTS[action] and action not in gave_way
    }
    store(user, shortcuts=changed, shortcuts_on=on)
    return keys_of(user)


def switch_keys(user: User, on: bool) -> None:
    """Switch all single-key shortcuts on or off; which keys they are stays."""
    store(user, shortcuts_on=on)


def restore_keys(user: User) -> None:
    """Back to the defaults, switched on."""
    store(user, shortcuts={}, shortcuts_on=True)


def store(user: User, **columns: object) -> None:
    Preference.objects.update_or_create(user=user, defaults=columns)


def bad_keys(chosen: Mapping[Action, str]) -> dict[Action, str]:
    """Keys that are more than one visible character. An empty text is fine: the action has no key then."""
    return {
        action: f"{TITLES[action]}: choose one visible character, not {key!r}."
        for action, key in chosen.items()
        if key and (len(key) != 1 or not key.isprintable() or key.isspace())
    }


def shared_keys(chosen: Mapping[Action, str]) -> dict[Action, str]:
    """Keys that stand for more than one action of a page."""
    by_key: dict[str, list[Action]] = defaultdict(list)
    for action, key in chosen.items():
        by_key[key].append(action)
    others = {
        action: [TITLES[other] for other in by_key[key] if other != action and meet(action, other)]
        for action, key in chosen.items()
        if key
    }
    return {
        action: f"{TITLES[action]}: {chosen[action]} is also the key of “{'”, “'.join(titles)}”. "
        "Both can be on one page: choose a different key for one of them."
        for action, titles in others.items()
        if titles
    }
