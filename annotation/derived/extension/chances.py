"""What a build's settled pairs tell of further ones: how likely a match is by rank, and what one costs."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Max, Q

from annotation.models import Build, Case, Tally
from annotation.stages import Stage
from annotation.stats.intervals import Mean, Share


@dataclass(frozen=True, slots=True)
class Chance:
    """How many of the settled pairs at one rank are matches. They belong to as many queries."""

    rank: int
    matches: Share


@dataclass(frozen=True, slots=True)
class NextCandidate:
    """One more candidate for each query, in nanodollars; `chance` is that at the last rank there is.

    A pair costs what all rounds of the build cost. Matches become rarer with the rank, so `a_match` is rather
    too low.
    """

    rank: int
    queries: int
    a_pair: float
    total: float
    chance: Share
    a_match: Mean | None

    @property
    def at_least(self) -> float | None:
        """What a match costs at the least, by the upper end of the chance's interval."""
        return self.a_pair / self.chance.high if self.chance.high else None


def by_rank(build: Build) -> tuple[Chance, ...]:
    """The chance of a match at each rank that has settled pairs. One read of the build's cases.

    By the first round: a pair that is judged three times is still one pair.
    """
    settled = Case.objects.filter(build=build, round=1, stage=Stage.SETTLED)
    ranks = settled.order_by("rank").values_list("rank")
    rows = ranks.annotate(pairs=Count("pk"), found=Count("pk", filter=Q(label=1)))
    return tuple(Chance(rank, Share(found, pairs)) for rank, pairs, found in rows)


def next_candidate(build: Build, chances: tuple[Chance, ...]) -> NextCandidate | None:
    """What one more candidate for each query would cost and find; None before any pair is settled."""
    tally = Tally.objects.get(pk=build.pk)
    if not chances or not tally.settled:
        return None
    cases = Case.objects.filter(build=build).order_by()
    about = cases.aggregate(last=Max("rank"), queries=Count("query", distinct=True))
    a_pair, chance = tally.spent * build.rounds / tally.settled, chances[-1].matches
    return NextCandidate(
        rank=about["last"] + 1,
        queries=about["queries"],
        a_pair=a_pair,
        total=a_pair * about["queries"],
        chance=chance,
        a_match=cost_of_a_match(a_pair, chance),
    )


def cost_of_a_match(a_pair: float, chance: Share) -> Mean | None:
    """Nanodollars for each match at this chance; None where not one was found: nobody can say how much."""
    if not chance.value or not chance.low or not chance.high:
        return None
    return Mean(a_pair / chance.value, a_pair / chance.high, a_pair / chance.low)
