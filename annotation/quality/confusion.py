"""Where an annotator is wrong: by how the last run of its test ended, by what decided, and why it gave up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from annotation.quality.answers import NO_RUN, Answer, BenchEntry
from annotation.quality.ground import Ground

BY: Final[Mapping[str, Callable[[Answer], str]]] = MappingProxyType(
    {
        "outcome": lambda answer: answer.outcome or NO_RUN,
        "decided": lambda answer: answer.decided,
        "cause": lambda answer: answer.cause,
    }
)
"""What pairs are told apart by: the last run's outcome, the stage and event that decided, the cause."""


@dataclass(frozen=True, slots=True)
class ConfusionRow:
    """Pairs with a truth that have one outcome (or decision, or cause), all answerings added up.

    `true_match`: both say match; `false_match`: only the annotator; `missed`: only the truth; `true_other`:
    neither; `unjudged` has no label.
    """

    key: str
    true_match: int
    false_match: int
    missed: int
    true_other: int
    unjudged: int

    @property
    def wrong(self) -> int:
        return self.false_match + self.missed

    @property
    def pairs(self) -> int:
        return self.true_match + self.true_other + self.wrong + self.unjudged


def tabulate_all_confusions(ground: Ground, entry: BenchEntry) -> dict[str, tuple[ConfusionRow, ...]]:
    """By each of `BY`; empty for an annotator of which nothing but labels is known."""
    return {name: rows for name, key in BY.items() if (rows := tabulate_confusion(ground, entry, key))}


def tabulate_confusion(
    ground: Ground, entry: BenchEntry, key: Callable[[Answer], str]
) -> tuple[ConfusionRow, ...]:
    """One row for each kind that `key` names, those with the most pairs first; unnamed ones are left out."""
    counts = Counter[tuple[str, int, int | None]]()
    for truth, answer in iterate_closed_answers(ground, entry):
        if (name := key(answer)) and entry.has_stages:
            counts[name, truth, answer.label] += 1
    rows = [
        ConfusionRow(
            name,
            counts[name, 1, 1],
            counts[name, 0, 1],
            counts[name, 1, 0],
            counts[name, 0, 0],
            counts[name, 0, None] + counts[name, 1, None],
        )
        for name in {name for name, _, _ in counts}
    ]
    return tuple(sorted(rows, key=lambda row: (-row.pairs, row.key)))


def iterate_closed_answers(ground: Ground, entry: BenchEntry) -> Iterator[tuple[int, Answer]]:
    """The truth and the answer of each pair that has both and is no longer worked on."""
    for pair, truth in zip(ground.pairs, ground.truth, strict=True):
        for many in entry.answerings:
            answer = many.answers.get(pair.id)
            if answer is not None and not answer.is_open and truth == truth:
                yield int(truth), answer
