"""The keys of the review page: one key an action, to be changed or switched off by each person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from django.contrib.auth.models import User

from annotation.models import Preference


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
    AS_BEFORE = "as_before"
    STRENGTH = "strength"
    HELP = "help"


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
        Action.AS_BEFORE: "y",
        Action.STRENGTH: "k",
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
        Action.AS_BEFORE: "Label as before, where the code is the same",
        Action.STRENGTH: "Find out how strong the test is",
        Action.HELP: "Show the keys",
    }
)


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
    kept = Preference.objects.filter(user=user).first()
    if kept is None:
        return Keys(DEFAULTS)
    return Keys(
        {action: kept.shortcuts.get(action.value, key) for action, key in DEFAULTS.items()}, kept.shortcuts_on
    )


def save_keys(user: User, wanted: Mapping[Action, str], on: bool) -> Keys:
    """Store the person's keys. Raises KeysRefused for a key that two actions share or that is none."""
    chosen = {action: wanted.get(action, DEFAULTS[action]).strip().lower() for action in Action}
    problems = bad_keys(chosen) or shared_keys(chosen)
    if problems:
        raise KeysRefused(problems)
    changed = {action.value: key for action, key in chosen.items() if key != DEFAULTS[action]}
    store(user, shortcuts=changed, shortcuts_on=on)
    return Keys(chosen, on)


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
    """Keys that stand for more than one action."""
    used = Counter(key for key in chosen.values() if key)
    return {
        action: f"{TITLES[action]}: {key} has another action already; choose a different key."
        for action, key in chosen.items()
        if key and used[key] > 1
    }
