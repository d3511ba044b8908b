"""How wide one person has made the two columns of the pages on which pairs are judged.

The review page, a rater's page and that of two snippets are arranged apart: they hold other things.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import Preference
from annotation.review.shortcuts import store_shortcuts


class LayoutPage(StrEnum):
    """A page that is arranged for itself."""

    REVIEW = "review"
    RATING = "rating"
    PAIRWISE = "pairwise"


COLUMNS: Final = frozenset({"left", "right"})
SMALLEST: Final = 5
LARGEST: Final = 90


class BadLayout(ValueError):
    """What was sent is no arrangement of a page; the message says why. Nothing was stored."""


@dataclass(frozen=True, slots=True)
class Layout:
    """`sizes` are shares of the page's width in percent. A column without one has that of the style sheet."""

    sizes: Mapping[str, int] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The sizes as the page's script reads them: `left=40,right=30`."""
        return ",".join(f"{name}={size}" for name, size in sorted(self.sizes.items()))

    @property
    def stored(self) -> dict[str, object]:
        return {"sizes": dict(self.sizes)}


def layout_in(kept: Preference | None, place: LayoutPage = LayoutPage.REVIEW) -> Layout:
    """The arrangement of a page in a person's preferences; what this version does not know is left out."""
    found = part_of(kept.layout if kept else {}, place)
    sizes = found.get("sizes", {})
    return Layout({name: size for name, size in sizes.items() if name in COLUMNS and isinstance(size, int)})


def part_of(layout: Any, place: LayoutPage) -> dict[str, Any]:
    """What is stored of one page. That of the review page stands by itself: it was there first."""
    found = layout.get(place) if place != LayoutPage.REVIEW and isinstance(layout, dict) else layout
    return found if isinstance(found, dict) else {}


def save_layout(user: User, sizes: Mapping[str, str], place: LayoutPage = LayoutPage.REVIEW) -> Layout:
    """Store how the person has arranged a page; the others stay as they are. Raises BadLayout."""
    made = Layout({name: size_of(name, size) for name, size in sizes.items()})
    with transaction.atomic():
        kept = Preference.objects.select_for_update().filter(user=user).first()
        parts = {one: layout_in(kept, one).stored for one in LayoutPage} | {place: made.stored}
        store_shortcuts(user, layout=parts.pop(LayoutPage.REVIEW) | parts)
    return made


def place_of(name: str) -> LayoutPage:
    """Raises BadLayout."""
    if name not in set(LayoutPage):
        raise BadLayout(f"No page is called {name[:40]!r}. Pages are: {', '.join(LayoutPage)}.")
    return LayoutPage(name)


def size_of(name: str, size: str) -> int:
    """A share in percent. Raises BadLayout."""
    if name not in COLUMNS:
        raise BadLayout(f"Nothing that has a size is called {name[:40]!r}.")
    if not (size.isascii() and size.isdigit() and len(size) <= 3 and SMALLEST <= int(size) <= LARGEST):
        raise BadLayout(f"The size of {name} is a whole number from {SMALLEST} to {LARGEST}.")
    return int(size)
