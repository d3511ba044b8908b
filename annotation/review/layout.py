"""How one person has arranged the pages on which pairs are judged: which panes are closed, and who gets how
much room. The review page, a rater's page and that of two snippets are arranged apart: they hold other panes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import Preference
from annotation.review.shortcuts import store_shortcuts


class Pane(StrEnum):
    """What can be closed. On a rater's page *test* and *run* are the rater's own.

    What the agents made is *agent*, *program* and *execution* there, and *other* is the second snippet.
    """

    QUERY = "query"
    CODE = "code"
    OTHER = "other"
    HISTORY = "history"
    AGENT = "agent"
    TEST = "test"
    RUN = "run"
    PROGRAM = "program"
    EXECUTION = "execution"


class LayoutPage(StrEnum):
    """A page that is arranged for itself."""

    REVIEW = "review"
    RATING = "rating"
    PAIRWISE = "pairwise"


COLUMNS: Final = ("left", "middle", "right")
SIZED: Final = frozenset({*COLUMNS, *Pane})
SMALLEST: Final = 5
LARGEST: Final = 90


class BadLayout(ValueError):
    """What was sent is no arrangement of a page; the message says why. Nothing was stored."""


@dataclass(frozen=True, slots=True)
class Layout:
    """`sizes` are shares in percent, of the page's width for a column and of its column for a pane.

    What has no size has the one that the style sheet gives.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    closed: frozenset[Pane] = frozenset()

    @property
    def text(self) -> str:
        """The sizes as the page's script reads them: `left=40,right=30`."""
        return ",".join(f"{name}={size}" for name, size in sorted(self.sizes.items()))

    @property
    def closed_text(self) -> str:
        """The closed panes as the page's script reads them: `agent history`."""
        return " ".join(sorted(self.closed))

    @property
    def stored(self) -> dict[str, object]:
        return {"sizes": dict(self.sizes), "closed": sorted(self.closed)}


def layout_in(kept: Preference | None, place: LayoutPage = LayoutPage.REVIEW) -> Layout:
    """The arrangement of a page in a person's preferences; what this version does not know is left out."""
    found = part_of(kept.layout if kept else {}, place)
    sizes, closed = found.get("sizes", {}), found.get("closed", [])
    return Layout(
        {name: size for name, size in sizes.items() if name in SIZED and isinstance(size, int)},
        frozenset(Pane(name) for name in closed if name in set(Pane)),
    )


def part_of(layout: Any, place: LayoutPage) -> dict[str, Any]:
    """What is stored of one page. That of the review page stands by itself: it was there first."""
    found = layout.get(place) if place != LayoutPage.REVIEW and isinstance(layout, dict) else layout
    return found if isinstance(found, dict) else {}


def save_layout(
    user: User, sizes: Mapping[str, str], closed: Iterable[str], place: LayoutPage = LayoutPage.REVIEW
) -> Layout:
    """Store how the person has arranged a page; the others stay as they are. Raises BadLayout."""
    made = Layout(
        {name: size_of(name, size) for name, size in sizes.items()},
        frozenset(pane_of(name) for name in closed),
    )
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
    if name not in SIZED:
        raise BadLayout(f"Nothing that has a size is called {name[:40]!r}.")
    if not (size.isascii() and size.isdigit() and len(size) <= 3 and SMALLEST <= int(size) <= LARGEST):
        raise BadLayout(f"The size of {name} is a whole number from {SMALLEST} to {LARGEST}.")
    return int(size)


def pane_of(name: str) -> Pane:
    """Raises BadLayout."""
    if name not in set(Pane):
        raise BadLayout(f"No pane is called {name[:40]!r}. Panes are: {', '.join(Pane)}.")
    return Pane(name)
