"""Who the raters are, for all of them together: years of Python, roles, languages. Never one by one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from annotation.models import Enrolment

BETWEEN: Final = re.compile(r"\s*(?:[,;/\n]|\band\b)\s*", re.IGNORECASE)
"""What raters put between two languages."""


@dataclass(frozen=True, slots=True)
class Profile:
    """All raters that gave a rating. `told_years` of them said for how long they know Python, from `fewest`
    to `most`; `roles` and `languages` with how many named each, the most frequent first.
    """

    raters: int
    told_years: int
    fewest: int
    median_years: float
    most: int
    roles: tuple[tuple[str, int], ...]
    languages: tuple[tuple[str, int], ...]

    @property
    def years(self) -> str:
        return f"{self.fewest}" if self.fewest == self.most else f"{self.fewest} to {self.most}"


def profile_of(raters: Sequence[Enrolment]) -> Profile:
    """Of these raters together; nobody is told apart."""
    years = [rater.years_of_python for rater in raters if rater.years_of_python is not None]
    return Profile(
        raters=len(raters),
        told_years=len(years),
        fewest=min(years, default=0),
        median_years=median(years) if years else 0.0,
        most=max(years, default=0),
        roles=count_profile_answers([rater.occupation] for rater in raters),
        languages=count_profile_answers(BETWEEN.split(rater.languages) for rater in raters),
    )


def count_profile_answers(said: Iterable[Iterable[str]]) -> tuple[tuple[str, int], ...]:
    """How many raters said each, however they spelled it; who said one twice counts once."""
    spelled: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for some in said:
        named = {one.strip().casefold(): one.strip() for one in some if one.strip()}
        spelled = named | spelled
        counts.update(named.keys())
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return tuple((spelled[name], count) for name, count in ordered)
