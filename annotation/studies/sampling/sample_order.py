"""What an admin asks of a sample."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final, Self

MOST_PAIRS: Final = 20_000
MOST_STRATA: Final = 60


class SampleRefused(ValueError):
    """Such a sample can't be drawn; the message says what to change."""


class Stratifier(StrEnum):
    """What pairs can be told apart by before anybody has rated them; `words` say it."""

    words: str

    def __new__(cls, value: str, words: str = "") -> Self:
        made = str.__new__(cls, value)
        made._value_, made.words = value, words
        return made

    LABEL = "label", "the agents' label"
    SCREENER = "screener", "the screener's value"
    EXECUTABLE = "executable", "whether the test program ran"
    DISAGREEMENT = "disagreement", "whether builds or rounds disagree"
    RANK = "rank", "the rank (1, 2 to 5, 6 to 10, after 10)"


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
        strata = [stratifier.value for stratifier in self.strata]
        return asdict(self) | {"strata": strata, "allocation": self.allocation.value}


def refuse_impossible_sample(wish: Wish) -> None:
    """Raises SampleRefused where no frame could satisfy the wish."""
    if not 0 < wish.size <= MOST_PAIRS:
        raise SampleRefused(f"Ask for 1 to {MOST_PAIRS:,} pairs.")
    if wish.per_query < 0:
        raise SampleRefused("Pairs a query: 1 or more, or 0 for no limit.")
    if wish.strata and wish.per_query > 1:
        raise SampleRefused("With strata, take one pair a query, or as many as come (0).")
