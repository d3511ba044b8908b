"""How often the planned raters of a pair have no strict majority: what a plan has to expect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import ceil, factorial
from typing import Any

from annotation.stats.planning.planner import Assumptions

USUAL = Assumptions(pairs=1)


@dataclass(frozen=True, slots=True)
class Splitting:
    """How raters are assumed to judge, each by themselves: how often right, and how often unsure."""

    accuracy: float = USUAL.rater_accuracy
    unsure: float = USUAL.skipped

    @classmethod
    def of(cls, rates: Mapping[str, Any]) -> Splitting:
        """From the rates that were typed for a plan, or the planner's usual ones."""
        accuracy, unsure = rates.get("rater_accuracy"), rates.get("skipped")
        return cls(
            USUAL.rater_accuracy if accuracy is None else accuracy,
            USUAL.skipped if unsure is None else unsure,
        )

    def share(self, raters: int) -> float:
        """The share of pairs on which so many raters split, of match and no match.

        Three split only where somebody is unsure; of choices of which two can tie it is more.
        """
        right, wrong = (1 - self.unsure) * self.accuracy, (1 - self.unsure) * (1 - self.accuracy)
        return sum(
            multinomial_coefficient(*counts)
            * right ** counts[0]
            * wrong ** counts[1]
            * self.unsure ** counts[2]
            for counts in enumerate_vote_outcomes(raters)
            if 2 * max(counts[:2]) <= raters
        )

    def expected(self, pairs: int, raters: int) -> int:
        """How many pairs of so many: rounded up."""
        return ceil(round(pairs * self.share(raters), 9))


def enumerate_vote_outcomes(raters: int) -> Iterator[tuple[int, int, int]]:
    """(right, wrong, unsure) in every combination."""
    for right in range(raters + 1):
        for wrong in range(raters - right + 1):
            yield right, wrong, raters - right - wrong


def multinomial_coefficient(*counts: int) -> int:
    """In how many orders so many of each kind can come."""
    found = factorial(sum(counts))
    for count in counts:
        found //= factorial(count)
    return found
