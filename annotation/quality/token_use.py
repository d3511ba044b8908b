"""Requests and tokens a pair, by stratum and by agent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annotation.quality.answers import Answer, BenchEntry, Spent
from annotation.quality.ground import Ground, answer_in_stratum
from annotation.quality.inputs.files import ALL


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


def measure_spending(ground: Ground, entry: BenchEntry, strata: Sequence[str]) -> Spending:
    """Over all pairs of the bench that are answered for good, with a truth or without."""
    if not any(answer.spent for answer in iterate_stratum_answers(ground, entry)):
        return Spending()
    rows = []
    for stratum in strata:
        some = list(iterate_stratum_answers(ground, entry, stratum))
        if some:
            rows.append(SpentRow(stratum, len(some), sum_answer_spending(some).over(len(some))))
    everything = list(iterate_stratum_answers(ground, entry))
    agents = sorted({agent for answer in everything for agent in answer.spent})
    return Spending(
        tuple(rows),
        tuple(
            SpentRow(agent, len(everything), sum_answer_spending(everything, agent).over(len(everything)))
            for agent in agents
        ),
    )


def iterate_stratum_answers(ground: Ground, entry: BenchEntry, stratum: str = ALL) -> Iterator[Answer]:
    """The answers of a stratum that are no longer worked on."""
    for pair in ground.pairs:
        for many in entry.answerings:
            answer = answer_in_stratum(ground, pair, many.answers.get(pair.id), stratum)
            if answer is not None and not answer.is_open:
                yield answer


def sum_answer_spending(some: Sequence[Answer], only: str = "") -> Spent:
    """What these answers took, or of it one agent's part."""
    total = Spent()
    for answer in some:
        for agent, spent in answer.spent.items():
            if only in ("", agent):
                total = total.plus(spent)
    return total
