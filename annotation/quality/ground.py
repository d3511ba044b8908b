"""The bench's pairs and their truth as arrays, in strata; and what one annotator said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from annotation.quality.answers import SCREENED, TESTED, Answer, Answering, BenchEntry, BenchPair
from annotation.quality.inputs.files import ALL
from annotation.stats.agreement.figures import Flags, Floats
from annotation.stats.agreement.sample import Draws, Sample
from annotation.stats.agreement.scores import Against

OWN: Final = (SCREENED, TESTED)


class NothingToMeasure(ValueError):
    """No pair has a truth, or nobody was named; the message says which."""


@dataclass(frozen=True, eq=False)
class Ground:
    """The pairs in their order, the truth of each (nan: none). The order of pairs changes no figure."""

    pairs: tuple[BenchPair, ...]
    truth: Floats

    @classmethod
    def of(cls, pairs: Sequence[BenchPair], labels: Mapping[str, int]) -> Ground:
        """Raises NothingToMeasure where no pair has a label."""
        truth = np.array([labels.get(pair.id, np.nan) for pair in pairs], dtype=np.float64)
        if np.isnan(truth).all():
            raise NothingToMeasure(
                "No pair has a label in the truth: there is nothing to hold labels against."
            )
        return cls(tuple(pairs), truth)

    @cached_property
    def sample(self) -> Sample:
        """Queries are numbered by their hashes, so that the draws are the same in any order of pairs."""
        numbers = {query: number for number, query in enumerate(sorted({pair.query for pair in self.pairs}))}
        return Sample.of([numbers[pair.query] for pair in self.pairs])

    @cached_property
    def draws(self) -> Draws:
        return Draws.of(self.sample)

    @property
    def is_fixed(self) -> bool:
        """Whether the file says which pairs belong to which stratum."""
        return any(pair.stratum for pair in self.pairs)

    @property
    def known(self) -> Flags:
        """The pairs that have a truth."""
        return ~np.isnan(self.truth)

    def strata(self, entries: Sequence[BenchEntry]) -> tuple[str, ...]:
        """All, then the file's strata, or where it has none screened and tested, if anybody has stages."""
        if self.is_fixed:
            return (ALL, *sorted({pair.stratum for pair in self.pairs}))
        return (ALL, *OWN) if any(entry.has_stages for entry in entries) else (ALL,)

    def within(self, stratum: str) -> Flags:
        """The pairs of one of the file's strata, or all."""
        return np.array([stratum in (ALL, pair.stratum) for pair in self.pairs], dtype=bool)

    def together(self, stratum: str, *entries: BenchEntry) -> Flags:
        """The pairs of a stratum for annotators that are set against each other.

        Without strata of the file a pair is tested where any of them tested it, and screened where one
        screened it and nobody tested it.
        """
        if self.is_fixed or stratum == ALL:
            return self.within(stratum)
        stages = [stages_of(self, many) for entry in entries for many in entry.answerings]
        tested = np.any([stage == TESTED for stage in stages], axis=0)
        screened = np.any([stage == SCREENED for stage in stages], axis=0) & ~tested
        return np.asarray(tested if stratum == TESTED else screened, dtype=bool)


def stages_of(ground: Ground, answering: Answering) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
    """Screened, tested or empty for each pair."""
    answers = (answering.answers.get(pair.id) for pair in ground.pairs)
    return np.array([answer.stage if answer else "" for answer in answers], dtype=np.str_)


@dataclass(frozen=True, eq=False)
class StratumAnswers:
    """What an annotator said of a stratum's pairs: pairs × answerings.

    `said` is nan without a label; `asked` are pairs of the stratum that are answered for good, `open` those
    still worked on.
    """

    name: str
    said: Floats
    asked: Flags
    open: Flags

    @classmethod
    def of(
        cls, ground: Ground, name: str, answerings: Sequence[Answering], stratum: str = ALL
    ) -> StratumAnswers:
        found = [
            [answer_in_stratum(ground, pair, many.answers.get(pair.id), stratum) for many in answerings]
            for pair in ground.pairs
        ]
        shape = len(ground.pairs), len(answerings)
        flat = [answer for row in found for answer in row]
        labels = [np.nan if answer is None or answer.label is None else answer.label for answer in flat]
        asked = [answer is not None and not answer.is_open for answer in flat]
        waits = [answer is not None and answer.is_open for answer in flat]
        said = np.array(labels, dtype=np.float64).reshape(shape)
        return cls(name, said, np.reshape(asked, shape), np.reshape(waits, shape))

    @property
    def unjudged(self) -> Flags:
        """Answered for good, without a label."""
        return self.asked & np.isnan(self.said)

    def against(self, truth: Floats) -> Against:
        """What was said beside what holds; what was not judged is not compared."""
        return Against(self.name, self.said, truth[:, None])

    def against_as_wrong(self, truth: Floats) -> Against:
        """The same, where what could not be judged counts as wrong."""
        holds = np.broadcast_to(truth[:, None], self.said.shape)
        return Against(self.name, np.where(self.unjudged, 1 - holds, self.said), truth[:, None])


def answer_in_stratum(ground: Ground, pair: BenchPair, answer: Answer | None, stratum: str) -> Answer | None:
    """The answer, if it belongs to the stratum: the file's, or by its own stage."""
    if answer is None or stratum == ALL:
        return answer
    return answer if stratum == (pair.stratum if ground.is_fixed else answer.stage) else None
