"""The keys of the review page: one key an action, to be changed or switched off by each person.

The rule: on a page a key stands for one action. Labels of two scales are never on one page, so they may have
the same key, as the digits do; everything else is on the pages of every scale, so it shares its key with no
label of any. What would break it is not stored. A key that a person chose counts before the usual one of an
action that came later: that action has none, which the settings say, and gets it back when it is free again.

No letter stores a label, so that no word that misses its field does. Tools and tags have two keys, one after
the other: the lead key, then their own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Self

from django.contrib.auth.models import User

from annotation.models import Preference
from annotation.review.tags import Tag
from retrieval.models.prepared_query import PreparedQuery

PREFERENCE: PreparedQuery[Preference] = PreparedQuery(lambda user: Preference.objects.filter(user=user), int)
BINARY: Final = "binary"
OTHER_SCALES: Final = ("steps_", "graded_", "preference_")


def describe_tag_key(tag: Tag, key: str) -> tuple[str, str, str]:
    """The action that sets a tag, or takes it away again: its name, its usual key and its words."""
    return f"tag_{tag}", key, f"Tag {'the test' if tag.of_test else 'the pair'}: {tag.word}"


class Action(StrEnum):
    """What a key does, with its usual key and its words; each is also a button or a link on the page."""

    default_key: str
    words: str

    def __new__(cls, value: str, default_key: str = "", words: str = "") -> Self:
        made = str.__new__(cls, value)
        made._value_, made.default_key, made.words = value, default_key, words
        return made

    MATCH = "match", "1", "Label: match"
    NO_MATCH = "no_match", "0", "Label: no match"
    UNSURE = "unsure", "2", "Unsure: no label"
    AS_BEFORE = "as_before", "3", "Reuse my label for identical code"
    NEXT = "next", "n", "Next pair"
    PREVIOUS = "previous", "p", "Previous pair"
    UNDO = "undo", "z", "Undo the latest label"
    NOTE = "note", "e", "Write a reason or note"
    RUN = "run", "r", "Run the test program again"
    EDIT = "edit", "t", "Edit a copy of the test program"
    CALL = "call", "c", "Call the function with your own values"
    COMMENT = "comment", "y", "Write a comment, or flag the pair for an admin"
    MARK_LINES = "mark_lines", "u", "Mark lines of the function as the reason"
    ASSERT = "assert", "a", "Make the latest call an assertion of your test"
    STEP_NEXT = "step_next", ".", "Next step of the trace"
    STEP_PREVIOUS = "step_previous", ",", "Previous step of the trace"
    STEP_FAILING = "step_failing", "f", "Go to the step that failed"
    STEP_FOLLOW = "step_follow", "g", "Choose the variable to follow"
    TAB_TEST = "tab_test", "7", "Show the test"
    TAB_TRACE = "tab_trace", "8", "Show the trace"
    TAB_HISTORY = "tab_history", "9", "Show the history"
    DECISIONS = "decisions", "d", "Go to your last ten labels"
    TAG_INVERSE = describe_tag_key(Tag.INVERSE, "i")
    TAG_PARTIAL = describe_tag_key(Tag.PARTIAL, "h")
    TAG_EDGE_CASE = describe_tag_key(Tag.EDGE_CASE, "b")
    TAG_NEEDS_PROJECT = describe_tag_key(Tag.NEEDS_PROJECT, "s")
    TAG_AMBIGUOUS = describe_tag_key(Tag.AMBIGUOUS, "q")
    TAG_LOW_QUALITY = describe_tag_key(Tag.LOW_QUALITY, "l")
    TAG_UNSAFE = describe_tag_key(Tag.UNSAFE, "x")
    TAG_TEST_EXPECTATION = describe_tag_key(Tag.TEST_EXPECTATION, "w")
    TAG_TEST_READING = describe_tag_key(Tag.TEST_READING, "m")
    TAG_TEST_EMPTY = describe_tag_key(Tag.TEST_EMPTY, "o")
    TAG_TEST_ENVIRONMENT = describe_tag_key(Tag.TEST_ENVIRONMENT, "v")
    SKIP = "skip", "-", "In a study: skip the pair"
    GUIDELINES = "guidelines", "/", "Show the guidelines"
    STRENGTH = "strength", "k", "Check how strong the test is"
    STEPS_ALL = "steps_2", "2", "Three steps: all of it"
    STEPS_HALF = "steps_1", "1", "Three steps: at least half"
    STEPS_LESS = "steps_0", "0", "Three steps: less"
    GRADED_EXACT = "graded_3", "3", "Relevance: 3, exact"
    GRADED_STRONG = "graded_2", "2", "Relevance: 2, strong"
    GRADED_WEAK = "graded_1", "1", "Relevance: 1, weak"
    GRADED_NONE = "graded_0", "0", "Relevance: 0, irrelevant"
    LEFT = "preference_left", "1", "Of two: left is better"
    RIGHT = "preference_right", "2", "Of two: right is better"
    TIE = "preference_tie", "0", "Of two: equally good"
    SCALE_UNSURE = "scale_unsure", "4", "Unsure, on another scale"
    LEAD = "lead", ";", "First key for a tool or a tag"
    HELP = "help", "?", "Show the keys"


def label_action(scale: str, word: str) -> Action:
    """The action that gives a label: `word` is what a form sends for a value of the scale."""
    if word == "unsure":
        return Action.UNSURE if scale == BINARY else Action.SCALE_UNSURE
    if scale == BINARY:
        return Action.MATCH if word == "1" else Action.NO_MATCH
    return Action(f"{scale}_{word}")


def tag_action(tag: Tag) -> Action:
    """The action that sets a tag, or takes it away again."""
    return Action(f"tag_{tag}")


DEFAULTS: Final[Mapping[Action, str]] = MappingProxyType({action: action.default_key for action in Action})
SCALES: Final[Mapping[Action, str]] = MappingProxyType(
    {
        Action.MATCH: BINARY,
        Action.NO_MATCH: BINARY,
        Action.UNSURE: BINARY,
        Action.AS_BEFORE: BINARY,
        **{action: action.partition("_")[0] for action in Action if action.startswith(OTHER_SCALES)},
    }
)
"""The scale that an action belongs to. A page has one scale, so those of two may have the same key."""
LABELS: Final = frozenset({*SCALES, Action.SCALE_UNSURE})
"""What stores a label: no letter does."""
OF_OTHER_SCALES: Final = frozenset(action for action in LABELS if SCALES.get(action) != BINARY)
OF_STUDIES: Final = frozenset({Action.SKIP, *OF_OTHER_SCALES})
"""What is done on pages of raters only."""
TAGS: Final = frozenset(map(tag_action, Tag))
TOOLS: Final = frozenset(
    {
        Action.RUN,
        Action.EDIT,
        Action.CALL,
        Action.ASSERT,
        Action.COMMENT,
        Action.MARK_LINES,
        Action.STRENGTH,
        Action.STEP_FAILING,
        Action.STEP_FOLLOW,
    }
)
LED: Final = TAGS | TOOLS
"""What takes the lead key before its own."""


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
        """The key that works now: none while keys are off, and none of a tool or tag without a lead key."""
        return self.of[action] if self.on and (self.lead or action not in LED) else ""

    @property
    def lead(self) -> str:
        """The key before that of a tool or tag, empty for none."""
        return self.of[Action.LEAD]


def keys_of(user: User) -> Keys:
    """The person's keys: the defaults, where they changed nothing."""
    return keys_in(load_preference(user))


def load_preference(user: User) -> Preference | None:
    """The person's keys and layout, as they were stored; None for one who changed neither."""
    return PREFERENCE.first(user.pk)


def keys_in(kept: Preference | None) -> Keys:
    """The keys in a person's preferences."""
    if kept is None:
        return Keys(DEFAULTS)
    own = {
        action: kept.shortcuts[action.value]
        for action in Action
        if action.value in kept.shortcuts and not is_letter_for_label(action, kept.shortcuts[action.value])
    }
    return Keys({**giving_way(own), **own}, kept.shortcuts_on)


def is_letter_for_label(action: Action, key: str) -> bool:
    """Whether words that miss their field would store a label by this key."""
    return action in LABELS and key.isalpha()


def giving_way(own: Mapping[Action, str]) -> dict[Action, str]:
    """The defaults without the keys that a person uses otherwise: actions may be newer than them."""
    return {
        action: ""
        if any(key == used and has_shared_page(action, other) for other, used in own.items())
        else key
        for action, key in DEFAULTS.items()
    }


def has_shared_page(one: Action, other: Action) -> bool:
    """Whether two actions are on one page, so that a key can stand for one of them only."""
    scales = {SCALES[action] for action in (one, other) if action in SCALES}
    return len(scales) < 2


def find_taken_shortcuts(keys: Keys) -> dict[Action, Action]:
    """By action without a key: the one that has its usual key."""
    return {
        action: other
        for action, usual in DEFAULTS.items()
        for other, key in keys.of.items()
        if not keys.of[action] and key == usual and has_shared_page(action, other)
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
    gave_way = {action for action in find_taken_shortcuts(before) if not chosen[action]}
    changed = {
        action.value: key
        for action, key in chosen.items()
        if key != DEFAULTS[action] and action not in gave_way
    }
    store_shortcuts(user, shortcuts=changed, shortcuts_on=on)
    return keys_of(user)


def switch_keys(user: User, on: bool) -> None:
    """Switch all single-key shortcuts on or off; which keys they are stays."""
    store_shortcuts(user, shortcuts_on=on)


def restore_keys(user: User) -> None:
    """Back to the defaults, switched on."""
    store_shortcuts(user, shortcuts={}, shortcuts_on=True)


def store_shortcuts(user: User, **columns: object) -> None:
    Preference.objects.update_or_create(user=user, defaults=columns)


def bad_keys(chosen: Mapping[Action, str]) -> dict[Action, str]:
    """Keys that are more than one visible character, and letters that would store a label.

    An empty text is fine: the action has no key then.
    """
    problems: dict[Action, str] = {}
    for action, key in chosen.items():
        if key and (len(key) != 1 or not key.isprintable() or key.isspace()):
            problems[action] = f"{action.words}: choose one visible character, not {key!r}."
        elif is_letter_for_label(action, key):
            problems[action] = f"{action.words}: a letter can't store a label. Choose a digit or a sign."
    return problems


def shared_keys(chosen: Mapping[Action, str]) -> dict[Action, str]:
    """Keys that stand for more than one action of a page."""
    by_key: dict[str, list[Action]] = defaultdict(list)
    for action, key in chosen.items():
        by_key[key].append(action)
    others = {
        action: [other.words for other in by_key[key] if other != action and has_shared_page(action, other)]
        for action, key in chosen.items()
        if key
    }
    return {
        action: f"{action.words}: {chosen[action]} is also the key of “{'”, “'.join(titles)}”. "
        "Both can be on one page: choose another key."
        for action, titles in others.items()
        if titles
    }
