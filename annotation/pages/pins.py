"""The pages of pins: what was kept, and what it rests on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from annotation.access import Visitor
from annotation.pages.benchmarks import MATCHES
from annotation.pinning import may_see
from retrieval.models import Pin

MOST_PINS: Final = 200


@dataclass(frozen=True, slots=True)
class PinPage:
    """A pin; `figure` and `interval` as they are printed, the rest as names and values."""

    pin: Pin
    figure: str
    interval: str
    subject: Sequence[tuple[str, str]]
    ground: Sequence[tuple[str, str]]


def pins_page(user: Visitor) -> list[tuple[Pin, str]]:
    """The newest pins that are open to `user`, each with its figure."""
    found = Pin.objects.select_related("created_by")[:MOST_PINS]
    return [(pin, printed(pin.value.get("value"))) for pin in found if may_see(user, pin)]


def pin_page(pin: Pin) -> PinPage:
    return PinPage(
        pin, printed(pin.value.get("value")), interval(pin.value), lines(pin.subject), lines(pin.ground)
    )


def printed(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else "–" if value is None else str(value)


def interval(value: dict[str, Any]) -> str:
    """A leaderboard's figure has its ends in `interval`, a study's beside its value."""
    ends = value.get("interval") or value
    low, high = ends.get("low"), ends.get("high")
    return f"{printed(low)} to {printed(high)}" if low is not None and high is not None else ""


def lines(facts: dict[str, Any]) -> list[tuple[str, str]]:
    told = {name: value if isinstance(value, str) else json.dumps(value) for name, value in facts.items()}
    return [(name.replace("_", " "), value or "–") for name, value in told.items()]


def matches_of(written: str) -> tuple[int, int | None]:
    """Fewest and most matches of a filter as a leaderboard writes it; of any number for anything else."""
    _, _, fewest, most = next((one for one in MATCHES if one[0] == written), MATCHES[0])
    return fewest, most
