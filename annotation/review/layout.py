"""How one person has arranged the review page: which panes are closed, and who gets how much room."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from django.contrib.auth.models import User

from annotation.models import Preference
from annotation.review.shortcuts import store


class Pane(StrEnum):
    """What can be closed."""

    QUERY = "query"
    CODE = "code"
    HISTORY = "history"
    AGENT = "agent"
    TEST = "test"
    EXECUTION = "execution"


COLUMNS: Final = ("left", "middle", "right")
SIZED: Final = frozenset({*COLUMNS, *Pane})
SMALLEST: Final = 5
LARGEST: Final = 90


class BadLayout(ValueError):
    """What was sent is no arrangement of the page; the message says why. Nothing was stored."""


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


USUAL: Final = Layout()


def layout_in(kept: Preference | None) -> Layout:
    """The arrangement in a person's preferences; what this version does not know is left out."""
    if kept is None or not isinstance(kept.layout, dict):
        return USUAL
    sizes, closed = kept.layout.get("sizes", {}), kept.layout.get("closed", [])
    return Layout(
        {name: size for name, size in sizes.items() if name in SIZED and isinstance(size, int)},
        frozenset(Pane(name) for name in closed if name in set(Pane)),
    )


def save_layout(user: User, sizes: Mapping[str, str], closed: Iterable[str]) -> Layout:
    """Store how the person has arranged the page. Raises BadLayout."""
    made = Layout(
        {name: size_of(name, size) for name, size in sizes.items()},
        frozenset(pane_of(name) for name in closed),
    )
    store(user, layout={"sizes": dict(made.sizes), "closed": sorted(made.closed)})
    return made


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
