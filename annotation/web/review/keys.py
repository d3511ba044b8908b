"""The keys of the review page as its buttons and its settings show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from django.contrib.auth.models import User
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotation.review.shortcuts import (
    LABELS,
    LED,
    OF_OTHER_SCALES,
    TAGS,
    TOOLS,
    Action,
    Keys,
    find_taken_shortcuts,
    keys_of,
)


class KeyKind(StrEnum):
    """What a key does, for the rules that decide when it is obeyed: `static/js/key-rules.js`."""

    LABEL = "label"
    MOVE = "move"
    UNDO = "undo"
    HELP = "help"
    STEP = "step"
    FIELD = "field"
    LED = "led"


TABS: Final = frozenset({Action.TAB_TEST, Action.TAB_TRACE, Action.TAB_HISTORY})
KINDS: Final[Mapping[Action, KeyKind]] = MappingProxyType(
    {
        **dict.fromkeys(LABELS, KeyKind.LABEL),
        **dict.fromkeys(LED, KeyKind.LED),
        Action.NEXT: KeyKind.MOVE,
        Action.PREVIOUS: KeyKind.MOVE,
        Action.DECISIONS: KeyKind.MOVE,
        Action.UNDO: KeyKind.UNDO,
        Action.HELP: KeyKind.HELP,
        Action.GUIDELINES: KeyKind.HELP,
        Action.STEP_NEXT: KeyKind.STEP,
        Action.STEP_PREVIOUS: KeyKind.STEP,
        **dict.fromkeys(TABS, KeyKind.STEP),
    }
)
"""Of every action that does more than enter a field or a menu."""


@dataclass(frozen=True, slots=True)
class KeyView:
    """The key of one action: empty where it has none or keys are switched off.

    `lead` is the key that is pressed before it, empty for most.
    """

    key: str
    title: str
    kind: KeyKind = KeyKind.FIELD
    lead: str = ""

    @property
    def shown(self) -> str:
        """The key, or both keys, as people read them."""
        return f"{self.lead} {self.key}" if self.lead else self.key

    @property
    def attributes(self) -> SafeString:
        """For the button or link that the key presses. ARIA can't name a sequence of two keys."""
        if not self.key:
            return SafeString("")
        aria = SafeString("") if self.lead else format_html(' aria-keyshortcuts="{}"', self.key)
        return format_html(' data-key="{}"{} data-key-kind="{}"', self.shown, aria, self.kind)

    @property
    def hint(self) -> SafeString:
        """The key as a small cap; useless without JavaScript, and not part of the button's name."""
        if not self.key:
            return SafeString("")
        return format_html('<kbd class="kbd needs-js" aria-hidden="true">{}</kbd>', self.shown)


@dataclass(frozen=True, slots=True)
class HelpGroup:
    """One part of the list of keys."""

    title: str
    keys: tuple[KeyView, ...]


NO_KEY: Final = KeyView("", "")
OF_SCALES: Final = (
    "A page has one scale, so labels of different scales may have the same key. Anything else is on all "
    "pages, and shares its key with no label."
)
OF_LABELS: Final = "A letter can't store a label."
ABOUT_LABELS: Final = frozenset({Action.NOTE, Action.COMMENT, Action.MARK_LINES, Action.UNDO})
ABOUT_TESTS: Final = TOOLS - ABOUT_LABELS | TABS | {Action.STEP_NEXT, Action.STEP_PREVIOUS}
NO_PROBLEMS: Final[Mapping[Action, str]] = MappingProxyType({})


def key_views(user: User) -> dict[str, KeyView]:
    """By action. One query."""
    return views_of(keys_of(user))


def views_of(keys: Keys) -> dict[str, KeyView]:
    """The same for keys that are known."""
    return {action.value: view_of(action, keys) for action in Action}


def view_of(action: Action, keys: Keys) -> KeyView:
    kind, lead = KINDS.get(action, KeyKind.FIELD), keys.lead if action in LED else ""
    return KeyView(keys.live(action), action.words, kind, lead)


def help_groups(views: Mapping[str, KeyView]) -> tuple[HelpGroup, ...]:
    """The keys that work on a page, by action, in the parts in which its help lists them."""
    parts: dict[str, list[KeyView]] = {"Label": [], "Move": [], "Test and trace": [], "Tags": []}
    for action, view in views.items():
        if view.key and action != Action.LEAD:
            parts[help_part(Action(action))].append(view)
    return tuple(HelpGroup(title, tuple(found)) for title, found in parts.items() if found)


def help_part(action: Action) -> str:
    if action in LABELS or action in ABOUT_LABELS:
        return "Label"
    if action in ABOUT_TESTS:
        return "Test and trace"
    return "Tags" if action in TAGS else "Move"


def keys_page(keys: Keys, problems: Mapping[Action, str] = NO_PROBLEMS) -> dict[str, Any]:
    """The form that changes keys, filled in with `keys` (also those that were refused)."""
    gone = {} if problems else find_taken_shortcuts(keys)
    of_pages = [action for action in Action if action not in LED | OF_OTHER_SCALES]
    led = (
        f"Press {keys.lead} first, then the key." if keys.lead else "Without a first key these have no keys."
    )
    groups = (
        ("Labels and pages", of_pages, OF_LABELS),
        ("Tools", [action for action in Action if action in TOOLS], led),
        ("Tags", [action for action in Action if action in TAGS], led),
        ("Studies with another scale", [action for action in Action if action in OF_OTHER_SCALES], OF_SCALES),
    )
    return {
        "groups": [
            {
                "title": title,
                "hint": hint,
                "fields": [key_field(action, keys, problems.get(action, ""), gone) for action in actions],
            }
            for title, actions, hint in groups
        ],
        "on": keys.on,
    }


def key_field(action: Action, keys: Keys, problem: str, gone: Mapping[Action, Action]) -> dict[str, str]:
    """One action; `taken` is the one that has its usual key, so that it has none."""
    return {
        "action": action,
        "title": action.words,
        "key": keys.of[action],
        "default": action.default_key,
        "problem": problem,
        "taken": gone[action].words if action in gone else "",
    }
