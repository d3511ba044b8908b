"""What seeing the agent does to people: switching after reveal, less the switching after a second look.

People also change labels when nothing new is shown, and mostly towards the agent (they correct slips), so
only the difference of both arms is the agent's influence. Relying on right and on wrong advice apart:
RAIR and RSR of Schemmer et al. 2023 (arXiv 2302.02187), truth from other raters' blind labels alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from annotation.stats.agreement.figures import Figure, Flags, Floats, Ints
from annotation.stats.agreement.korn_graubard import effective_sample_size
from annotation.stats.agreement.sample import Draws, Sample
from annotation.stats.agreement.statistic import Statistic, measure_statistics, share_of

NO_TOWARDS: Final = "nobody had another label than the agent in this arm"
NO_AWAY: Final = "nobody had the agent's label in this arm"
NO_RIGHT: Final = "nobody was wrong by the others where the agent was right in this arm"
NO_WRONG: Final = "nobody was right by the others where the agent was wrong in this arm"


@dataclass(frozen=True, eq=False)
class Revisions:
    """Labels that were looked at again, one a row: the pair (a row of the sample), the label before and
    after, the agent's, `truth` (the majority of the other raters' blind labels, nan where they are split or
    nobody else was blind), and whether the agent was shown (else: a second look). Labels are 0, 1 or nan.
    """

    pair: Ints
    before: Floats
    after: Floats
    agent: Floats
    truth: Floats
    revealed: Flags


@dataclass(frozen=True, slots=True)
class Arms:
    """A share after reveal, after a second look, and the first less the second: the agent's influence."""

    revealed: Figure
    second_look: Figure
    influence: Figure


@dataclass(frozen=True, slots=True)
class Influence:
    """Of labels other than the agent's, those switched to it (`towards`); of labels like it, those switched
    from it (`away`). `right_advice` (RAIR): of those wrong beside a right agent, the share that followed;
    `wrong_advice` (RSR): of those right beside a wrong agent, the share that stood firm. `without_truth`
    labels have no truth.
    """

    revealed: int
    second_look: int
    without_truth: int
    towards: Arms
    away: Arms
    right_advice: Arms
    wrong_advice: Arms

    @property
    def sizes(self) -> str:
        """How many labels the shares are of, to be read."""
        return (
            f"Looked at again: {self.revealed:,} labels after reveal, {self.second_look:,} in a second look. "
            f"For {self.without_truth:,} labels the other raters are split or nobody else was blind: these "
            "count in no share of right or wrong."
        )


def measure_reveal_influence(sample: Sample, draws: Draws, found: Revisions, weights: Floats) -> Influence:
    """The four shares in both arms, over the same draws."""
    usable = ~(np.isnan(found.before) | np.isnan(found.after) | np.isnan(found.agent))
    usable &= weights[found.pair] != 0
    other, wrong = found.before != found.agent, found.before != found.truth
    judged = ~np.isnan(found.truth)
    advised = found.agent == found.truth
    wide = (sample, draws, found, weights)
    return Influence(
        revealed=int((usable & found.revealed).sum()),
        second_look=int((usable & ~found.revealed).sum()),
        without_truth=int((usable & ~judged).sum()),
        towards=compare_reveal_arms(*wide, usable & other, found.after == found.agent, NO_TOWARDS),
        away=compare_reveal_arms(*wide, usable & ~other, found.after != found.agent, NO_AWAY),
        right_advice=compare_reveal_arms(
            *wide, usable & judged & wrong & advised, found.after == found.agent, NO_RIGHT
        ),
        wrong_advice=compare_reveal_arms(
            *wide, usable & judged & ~wrong & ~advised, found.after == found.before, NO_WRONG
        ),
    )


def compare_reveal_arms(
    sample: Sample, draws: Draws, found: Revisions, weights: Floats, could: Flags, did: Flags, words: str
) -> Arms:
    """Of the labels that could, the share that did, in each arm and as their difference."""

    def arm(chosen: Flags) -> Statistic:
        columns = np.zeros((len(sample), 2))
        counted = could & chosen
        np.add.at(columns[:, 0], found.pair[counted & did], 1)
        np.add.at(columns[:, 1], found.pair[counted], 1)
        weighted = weights[:, None] * columns
        return share_of(sample.sums(weighted), words, pairs=effective_sample_size(weighted[:, 1]))

    shown, looked = arm(found.revealed), arm(~found.revealed)
    made = measure_statistics(draws, {"shown": shown, "looked": looked, "minus": shown.minus(looked)})
    return Arms(made["shown"].figure, made["looked"].figure, made["minus"].figure)
