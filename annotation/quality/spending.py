"""Requests and tokens a pair, by stratum and by agent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annotation.quality.answers import Answer, Entry, Spent
from annotation.quality.files import ALL
from annotation.quality.ground import Ground, inside


@dataclass(frozen=True, slots=True)
class SpentRow:
    """The mean of `pairs` (of all answerings) in a stratum, or of one agent's requests over all of them."""

    name: str
    pairs: int
    mean: Spent


@dataclass(frozen=True, slots=True)
class Spending:
    """What an annotator took; no rows where nothing is known of its requests."""

    strata: tuple[SpentRow, ...] = ()
    agents: tuple[SpentRow, ...] = ()


def spending(ground: Ground, entry: Entry, strata: Sequence[str]) -> Spending:
    """Over all pairs of the bench that are answered for good, with a truth or without."""
    if not any(answer.spent for answer in answers(ground, entry)):
        return Spending()
    rows = []
    for stratum in strata:
        some = list(answers(ground, entry, stratum))
        if some:
            rows.append(SpentRow(stratum, len(some), summed(some).over(len(some))))
    everything = list(answers(ground, entry))
    agents = sorted({agent for answer in everything for agent in answer.spent})
    return Spending(
        tuple(rows),
        tuple(
            SpentRow(agent, len(everything), summed(everything, agent).over(len(everything)))
            for agent in agents
        ),
    )


def answers(ground: Ground, entry: Entry, stratum: str = ALL) -> Iterator[Answer]:
    """The answers of a stratum that are no longer worked on."""
    for pair in ground.pairs:
        for many in entry.answerings:
            answer = inside(ground, pair, many.answers.get(pair.id), stratum)
            if answer is not None and not answer.is_open:
                yield answer


def summed(some: Sequence[Answer], only: str = "") -> Spent:
    """What these answers took, or of it one agent's part."""
    total = Spent()
    for answer in some:
        for agent, spent in answer.spent.items():
            if only in ("", agent):
                total = total.plus(spent)
    return total
