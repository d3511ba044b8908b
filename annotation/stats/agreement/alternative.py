"""Could the annotator stand in for one of the people who made the reference?

The alternative annotator test (Calderon, Reichart and Dror, ACL 2025, 2025.acl-long.782): the annotator and
rater i are scored on the same pairs against the same others, a split of those counting ½, and i goes round.
The plain rules do not do that: they hold the annotator against a majority in which each rater has a part, and
the raters against one without their own, so equally good ones seem unequal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from annotation.stats.agreement.differences import Margin, assess_noninferiority
from annotation.stats.agreement.figures import Figure, Flags, Floats, student_tail_probability
from annotation.stats.agreement.labels import Labels, other_raters_majority
from annotation.stats.agreement.sample import Draws, Sample
from annotation.stats.agreement.statistic import Drawn, Statistic, divide_or_nan, measure_statistics
from annotation.stats.agreement.tango_interval import Apart

EPSILON: Final = 0.2
"""What an expert's time is worth in agreement: the paper's value for experts (0.15 skilled, 0.1 crowd)."""
LEVEL: Final = 0.05
FEWEST: Final = 30
"""Pairs of a rater that the paper asks for; with fewer that rater is not tested."""
NO_PAIR: Final = "no rater has a pair that the annotator and another rater judged too"
NO_RATER: Final = f"no rater has {FEWEST} pairs that the annotator and another rater judged too"


@dataclass(frozen=True, slots=True)
class RaterTest:
    """One rater against the annotator: their agreement with the same others, and whether the annotator wins
    (`p` of its being worse by `EPSILON` or more, corrected for the number of raters, is below 5 %).
    """

    rater: str
    n: int
    annotator: float
    person: float
    p: float | None
    wins: bool | None


@dataclass(frozen=True, slots=True)
class Alternative:
    """The annotator against the people of a condition. `difference` is its agreement minus theirs, averaged
    over raters; `winning` the share of tested raters that it could replace (≥ 0.5 passes the test).
    """

    annotator: str
    people: str
    n: int
    agrees: Figure
    people_agree: Figure
    difference: Figure
    winning: float | None
    raters: tuple[RaterTest, ...]
    epsilon: float = EPSILON
    p: float | None = None
    margin: Margin | None = None
    words: str = ""


def run_alternative_test(
    sample: Sample,
    draws: Draws,
    annotator: Labels,
    people: Labels,
    weights: Floats,
    epsilon: float = EPSILON,
    margin: float | None = None,
) -> Alternative:
    """One annotator with 0/1 labels against the people who made the reference."""
    mine, theirs = leave_one_out_agreements(annotator, people)
    columns, known = by_rater(sample, mine, theirs, weights)
    apart = apart_of(sample, mine, theirs, known, weights)
    drawn = measure_statistics(
        draws, average_over_raters(columns, apart) | rater_advantages(columns, len(people.raters), epsilon)
    )
    tests = rater_tests(people, known, drawn)
    decided = [test.wins for test in tests if test.wins is not None]
    return Alternative(
        annotator=annotator.name,
        people=people.name,
        n=int(known.any(axis=1).sum()),
        agrees=drawn["annotator"].figure,
        people_agree=drawn["people"].figure,
        difference=drawn["difference"].figure,
        winning=sum(decided) / len(decided) if decided else None,
        raters=tests,
        epsilon=epsilon,
        p=drawn["difference"].p,
        margin=assess_noninferiority(drawn["difference"], margin),
        words="" if decided else NO_RATER,
    )


def leave_one_out_agreements(annotator: Labels, people: Labels) -> tuple[Floats, Floats]:
    """How far the annotator, and how far each rater, says what the others say: pairs × raters, 0, ½ or 1.
    Where the annotator is the people of another condition it is the mean of what each of them would have.
    """
    rest, said = other_raters_majority(people), annotator.each[:, None]
    mine, theirs = (given * rest + (1 - given) * (1 - rest) for given in (said, people.values))
    return mine, np.where(np.isnan(mine), np.nan, theirs)


def by_rater(sample: Sample, mine: Floats, theirs: Floats, weights: Floats) -> tuple[Floats, Flags]:
    """Columns by query: pairs, both agreements, and how often the annotator and the rater are not behind."""
    known = ~np.isnan(mine) & (weights != 0)[:, None]
    counted = np.where(known, weights[:, None], 0.0)
    one, two = np.nan_to_num(mine), np.nan_to_num(theirs)
    parts = [counted, counted * one, counted * two, counted * (one >= two), counted * (two >= one)]
    return sample.sums(np.hstack(parts)), known


def apart_of(sample: Sample, mine: Floats, theirs: Floats, known: Flags, weights: Floats) -> Apart | None:
    """How the annotator and the raters are apart, where each rater with a pair counts alike."""
    counted = np.where(known, weights[:, None], 0.0)
    shares = np.nan_to_num(divide_or_nan(counted, counted.sum(axis=0)))
    return Apart.of(sample, np.where(known, mine - theirs, 0.0), shares)


def average_over_raters(columns: Floats, apart: Apart | None) -> dict[str, Statistic]:
    """The figures that average over raters; a rater without a pair counts in none."""

    def mean(part: int, less: int | None = None, apart: Apart | None = None) -> Statistic:
        def of(sums: Floats) -> Floats:
            parts = np.split(sums, 5, axis=-1)
            value = parts[part] if less is None else parts[part] - parts[less]
            each = divide_or_nan(value, parts[0])
            defined = ~np.isnan(each)
            return divide_or_nan(np.nansum(each, axis=-1), defined.sum(axis=-1).astype(np.float64))

        return Statistic(columns, of, NO_PAIR, apart=apart)

    difference = mean(1, 2, apart)
    return {"annotator": mean(1), "people": mean(2), "difference": difference}


def rater_advantages(columns: Floats, raters: int, epsilon: float) -> dict[str, Statistic]:
    """For each rater (by number): how much more often the rater is ahead, less epsilon."""

    def of(sums: Floats) -> Floats:
        return divide_or_nan(sums[..., 4] - sums[..., 3], sums[..., 0]) - epsilon

    # A rater's own columns alone: only the queries of their pairs count in Student's t.
    return {str(rater): Statistic(columns[:, rater::raters], of, NO_PAIR) for rater in range(raters)}


def rater_tests(people: Labels, known: Flags, drawn: dict[str, Drawn]) -> tuple[RaterTest, ...]:
    """Each rater who shares a pair, corrected by Benjamini and Yekutieli (2001), as the paper does."""
    counts = known.sum(axis=0)
    ps = [one_sided(drawn[str(rater)]) if counts[rater] >= FEWEST else None for rater in range(len(counts))]
    rejected = benjamini_yekutieli(ps)
    rows = []
    for rater in np.flatnonzero(counts):
        sums = drawn[str(rater)].sums
        p = ps[rater]
        wins = None if p is None else rejected[rater]
        one, two = float(sums[1] / sums[0]), float(sums[2] / sums[0])
        rows.append(RaterTest(people.raters[rater], int(counts[rater]), one, two, p, wins))
    return tuple(rows)


def one_sided(drawn: Drawn) -> float | None:
    """The p that the statistic is 0 or more, by its standard error over the draws."""
    if np.isnan(drawn.value) or drawn.queries < 2:
        return None
    if not drawn.deviation > 0:
        return float(drawn.value >= 0)
    return student_tail_probability(-drawn.value / drawn.deviation, drawn.queries)


def benjamini_yekutieli(ps: list[float | None]) -> list[bool]:
    """Which hypotheses fall at 5 % false discoveries under any dependence (Benjamini and Yekutieli 2001)."""
    found = sorted(p for p in ps if p is not None)
    many = len(found)
    harmonic = sum(1 / rank for rank in range(1, many + 1))
    passing = [p for rank, p in enumerate(found, 1) if p <= LEVEL * rank / (many * harmonic)]
    bar = max(passing, default=-1.0)
    return [p is not None and p <= bar for p in ps]
