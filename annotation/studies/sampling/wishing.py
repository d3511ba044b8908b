"""What an admin asks of a sample."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

MOST_PAIRS: Final = 20_000
MOST_STRATA: Final = 60


class SampleRefused(ValueError):
    """Such a sample can't be drawn; the message says what to change."""


class Stratifier(StrEnum):
    """What pairs can be told apart by before anybody has rated them."""

    LABEL = "label"
    SCREENER = "screener"
    EXECUTABLE = "executable"
    DISAGREEMENT = "disagreement"
    RANK = "rank"


STRATIFIERS: Final[Mapping[Stratifier, str]] = MappingProxyType(
    {
        Stratifier.LABEL: "the agents' label",
        Stratifier.SCREENER: "the screener's value",
        Stratifier.EXECUTABLE: "whether the test program ran",
        Stratifier.DISAGREEMENT: "whether builds or rounds disagree",
        Stratifier.RANK: "the rank (1, 2 to 5, 6 to 10, after 10)",
    }
)


class Allocation(StrEnum):
    """How a sample is divided among strata."""

    PROPORTIONAL = "proportional"
    EQUAL = "equal"


@dataclass(frozen=True, slots=True)
class Wish:
    """`size` pairs by `seed`; `per_query` of each chosen query, 0 for no limit; crossed strata, or none."""

    size: int
    seed: int = 1
    per_query: int = 1
    strata: tuple[Stratifier, ...] = ()
    allocation: Allocation = Allocation.PROPORTIONAL

    def as_json(self) -> dict[str, Any]:
        told = asdict(self)
        told["strata"] = [one.value for one in self.strata]
        told["allocation"] = self.allocation.value
        return told


def wish_from(told: Mapping[str, Any]) -> Wish:
    """The wish that `as_json` wrote down."""
    return Wish(
        size=told["size"],
        seed=told["seed"],
        per_query=told["per_query"],
        strata=tuple(Stratifier(one) for one in told["strata"]),
        allocation=Allocation(told["allocation"]),
    )


def refuse_bad(wish: Wish) -> None:
    """Raises SampleRefused where no frame could satisfy the wish."""
    if not 0 < wish.size <= MOST_PAIRS:
        raise SampleRefused(f"Ask for 1 to {MOST_PAIRS:,} pairs.")
    if wish.per_query < 0:
        raise SampleRefused("Pairs a query: 1 or more, or 0 for no limit.")
    if wish.strata and wish.per_query > 1:
        raise SampleRefused("With strata, take one pair a query, or as many as come (0).")
