r"""The draw: which pairs of a frame are in the sample, and with which probability.

Three designs, all by one stored seed. Q queries, m_q pairs of query q, M pairs in all, n pairs wanted:

*No limit a query* — simple random sampling inside each stratum h of M_h pairs, n_h of them drawn:
    p = n_h / M_h.

*c pairs a query, no strata* — two stages: ⌈n / c⌉ = n_Q queries of Q at random, min(c, m_q) pairs of each:
    p = (n_Q / Q) · (min(c, m_q) / m_q).
With c = 1 that is p = (n / Q) · (1 / m_q).

*One pair a query, with strata* — two phases. First each query puts forward one pair: its stratum h with
probability a_h / Σ a_h' over the strata that the query has (a_h: the share of the sample wanted for h), then
one of the m_qh pairs of it there. Of the N_h pairs so put forward for h, n_h are drawn at random:
    p = (a_h / Σ_{h' in q} a_h') · (1 / m_qh) · (n_h / N_h).
N_h depends on the first phase, so p is the product of the probabilities of both phases. Weights 1 / p give
unbiased totals for such a design (Särndal, Swensson and Wretman 1992, *Model Assisted Survey Sampling*,
ch. 9, the π* estimator): E[Σ 1/p] = M, because every N_h > 0 gets n_h > 0.

Where a stratum can't give what is wanted of it, it is taken whole and the others get the rest.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil
from operator import attrgetter

from annotation.schemas.studies.studies import Allocation, SampleWish
from annotation.studies.sampling.frame import Unit
from annotation.studies.sampling.sample_order import SampleRefused, refuse_impossible_sample


@dataclass(frozen=True, slots=True)
class Drawn:
    """A pair of the sample and the probability, above 0 and at most 1, with which it came in."""

    unit: Unit
    probability: float


@dataclass(frozen=True, slots=True)
class Stratum:
    """How many pairs of the frame are in a stratum, and how many of the sample.

    Of those of the frame so many had a label when it was drawn, and so many label 1.
    """

    name: str
    population: int
    drawn: int
    labelled: int = 0
    matches: int = 0


@dataclass(frozen=True, slots=True)
class Sample:
    """The draw in an order that tells nothing of it, with what it was drawn from.

    `room` is how many pairs could be drawn at most, with so many of a query.
    """

    drawn: tuple[Drawn, ...]
    strata: tuple[Stratum, ...]
    queries: int
    population: int
    population_queries: int
    room: int


def draw_sample(units: Sequence[Unit], wish: SampleWish) -> Sample:
    """The sample of a frame that is sorted by query. Raises SampleRefused."""
    refuse_impossible_sample(wish)
    if not units:
        raise SampleRefused("The chosen builds have no pairs to draw from.")
    chance = random.Random(wish.seed)  # noqa: S311 – a reproducible draw, no secret
    by_query = [list(group) for _, group in groupby(units, attrgetter("query"))]
    drawn = draw_by_design(wish, units, by_query, chance)
    chance.shuffle(drawn)
    return Sample(
        drawn=tuple(drawn),
        strata=summarize_strata(units, drawn),
        queries=len({one.unit.query for one in drawn}),
        population=len(units),
        population_queries=len(by_query),
        room=sum(min(wish.per_query or len(pairs), len(pairs)) for pairs in by_query),
    )


def draw_by_design(
    wish: SampleWish, units: Sequence[Unit], by_query: Sequence[list[Unit]], chance: random.Random
) -> list[Drawn]:
    if wish.per_query == 0:
        return from_strata(
            [Drawn(unit, 1.0) for unit in units], stratum_shares_of(units, wish), wish.size, chance
        )
    if wish.strata:
        wanted = stratum_shares_of(units, wish)
        return from_strata(put_forward(by_query, wanted, chance), wanted, wish.size, chance)
    return by_stages(by_query, wish, chance)


def by_stages(by_query: Sequence[list[Unit]], wish: SampleWish, chance: random.Random) -> list[Drawn]:
    """So many queries, then so many pairs of each."""
    queries = min(len(by_query), ceil(wish.size / wish.per_query))
    drawn = []
    for pairs in chance.sample(by_query, queries):
        taken = min(wish.per_query, len(pairs))
        probability = queries / len(by_query) * taken / len(pairs)
        drawn += [Drawn(unit, probability) for unit in chance.sample(pairs, taken)]
    return drawn


def put_forward(
    by_query: Sequence[list[Unit]], wanted: Mapping[str, float], chance: random.Random
) -> list[Drawn]:
    """One pair of each query, with the probability of the first phase."""
    found = []
    for pairs in by_query:
        inside: dict[str, list[Unit]] = defaultdict(list)
        for unit in pairs:
            inside[unit.stratum].append(unit)
        weights = [wanted[name] for name in inside]
        name = chance.choices(list(inside), weights)[0]
        share = wanted[name] / sum(weights)
        found.append(Drawn(chance.choice(inside[name]), share / len(inside[name])))
    return found


def from_strata(
    rows: Sequence[Drawn], wanted: Mapping[str, float], size: int, chance: random.Random
) -> list[Drawn]:
    """A simple random sample inside each stratum; probabilities are multiplied with those of the rows."""
    inside: dict[str, list[Drawn]] = defaultdict(list)
    for row in rows:
        inside[row.unit.stratum].append(row)
    sizes = allocate_to_strata(size, wanted, {name: len(found) for name, found in inside.items()})
    return [
        Drawn(row.unit, row.probability * sizes[name] / len(inside[name]))
        for name in sorted(inside)
        for row in chance.sample(inside[name], sizes[name])
    ]


def stratum_shares_of(units: Sequence[Unit], wish: SampleWish) -> dict[str, float]:
    """The share of the sample that is wanted for each stratum."""
    counts: dict[str, int] = defaultdict(int)
    for unit in units:
        counts[unit.stratum] += 1
    if wish.allocation is Allocation.EQUAL:
        return {name: 1 / len(counts) for name in counts}
    return {name: count / len(units) for name, count in counts.items()}


def allocate_to_strata(size: int, wanted: Mapping[str, float], room: Mapping[str, int]) -> dict[str, int]:
    """`size` divided by shares; at least 1 for each stratum with room, none beyond its room.

    One by one to the stratum that is furthest behind its share: what one lacks room for goes to others.
    Raises SampleRefused where there are more strata than pairs wanted.
    """
    if len(room) > size:
        raise SampleRefused(f"{len(room)} strata need at least {len(room)} pairs; {size} are wanted.")
    given = dict.fromkeys(sorted(room), 1)
    for _ in range(min(size, sum(room.values())) - len(given)):
        free = (name for name in given if given[name] < room[name])
        given[max(free, key=lambda name: size * wanted[name] - given[name])] += 1
    return given


def summarize_strata(units: Sequence[Unit], drawn: Sequence[Drawn]) -> tuple[Stratum, ...]:
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for unit in units:
        found = counts[unit.stratum]
        found[0] += 1
        found[2] += unit.label is not None
        found[3] += unit.label == 1
    for row in drawn:
        counts[row.unit.stratum][1] += 1
    return tuple(Stratum(name, *counts[name]) for name in sorted(counts))
