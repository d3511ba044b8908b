"""The keys of the review page as its buttons and its settings show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from django.contrib.auth.models import User
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotation.review.shortcuts import BINARY, SCALES, Action, Keys, find_taken_shortcuts, keys_of


@dataclass(frozen=True, slots=True)
class KeyView:
    """The key of one action: empty where it has none or keys are switched off."""

    key: str
    title: str

    @property
    def attributes(self) -> SafeString:
        """For the button or link that the key presses."""
        return (
            format_html(' data-key="{0}" aria-keyshortcuts="{0}"', self.key) if self.key else SafeString("")
        )

    @property
    def hint(self) -> SafeString:
        """The key as a small cap; useless without JavaScript, and not part of the button's name."""
        if not self.key:
            return SafeString("")
        return format_html('<kbd class="kbd needs-js" aria-hidden="true">{}</kbd>', self.key)


NO_KEY: Final = KeyView("", "")
OF_SCALES: Final = (
    "A page has one scale, so labels of different scales may have the same key. Anything else is on all "
    "pages, and shares its key with no label."
)
NO_PROBLEMS: Final[Mapping[Action, str]] = MappingProxyType({})


def key_views(user: User) -> dict[str, KeyView]:
    """By action. One query."""
    return views_of(keys_of(user))


def views_of(keys: Keys) -> dict[str, KeyView]:
    """The same for keys that are known."""
    return {action.value: KeyView(keys.live(action), action.words) for action in Action}


def filter_working_keys(views: Iterable[KeyView]) -> tuple[KeyView, ...]:
    """Of these the keys that work: what the help of a page lists."""
    return tuple(view for view in views if view.key)


def keys_page(keys: Keys, problems: Mapping[Action, str] = NO_PROBLEMS) -> dict[str, Any]:
    """The form that changes keys, filled in with `keys` (also those that were refused)."""
    gone = {} if problems else find_taken_shortcuts(keys)
    labels = [action for action in Action if not is_tag(action) and not is_of_other_scale(action)]
    groups = (
        ("Labels and pages", labels, ""),
        ("Tags", filter(is_tag, Action), ""),
        ("Studies with another scale", filter(is_of_other_scale, Action), OF_SCALES),
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


def is_tag(action: Action) -> bool:
    return action.startswith("tag_")


def is_of_other_scale(action: Action) -> bool:
    return SCALES.get(action, BINARY) != BINARY
