"""The keys of the review page as its buttons and its settings show them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import User
from django.utils.html import format_html
from django.utils.safestring import SafeString

from annotation.review.shortcuts import BINARY, DEFAULTS, SCALES, TITLES, Action, Keys, keys_of, taken


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


@dataclass(frozen=True, slots=True)
class KeyField:
    """One action in the form that changes keys."""

    action: str
    title: str
    key: str
    default: str
    problem: str
    taken: str
    """The action that has its usual key, so that it has none."""


@dataclass(frozen=True, slots=True)
class KeyGroup:
    """Fields that belong together."""

    title: str
    hint: str
    fields: tuple[KeyField, ...]


@dataclass(frozen=True, slots=True)
class KeysPage:
    """The form that changes keys."""

    groups: tuple[KeyGroup, ...]
    on: bool


def key_views(user: User) -> dict[str, KeyView]:
    """By action. One query."""
    return views_of(keys_of(user))


def views_of(keys: Keys) -> dict[str, KeyView]:
    """The same for keys that are known."""
    return {action.value: KeyView(keys.live(action), TITLES[action]) for action in Action}


def helped(views: Iterable[KeyView]) -> tuple[KeyView, ...]:
    """Of these the keys that work: what the help of a page lists."""
    return tuple(view for view in views if view.key)


def keys_page(keys: Keys, problems: Mapping[Action, str] | None = None) -> KeysPage:
    """The form, filled in with `keys` (also those that were refused)."""
    said, gone = problems or {}, {} if problems else taken(keys)

    def group(title: str, wanted: Callable[[Action], bool], hint: str = "") -> KeyGroup:
        return KeyGroup(
            title,
            hint,
            tuple(
                KeyField(
                    action,
                    TITLES[action],
                    keys.of[action],
                    DEFAULTS[action],
                    said.get(action, ""),
                    TITLES[gone[action]] if action in gone else "",
                )
                for action in Action
                if wanted(action)
            ),
        )

    groups = (
        group("Labels and pages", lambda action: not is_tag(action) and not is_of_other_scale(action)),
        group("Tags", is_tag),
        group(
            "Studies with another scale",
            is_of_other_scale,
            "A page has one scale, so labels of different scales may have the same key. "
            "Anything else is on all pages, and shares its key with no label.",
        ),
    )
    return KeysPage(groups, keys.on)


def is_tag(action: Action) -> bool:
    return action.startswith("tag_")


def is_of_other_scale(action: Action) -> bool:
    return SCALES.get(action, BINARY) != BINARY
