"""Whether new answers differ from the first ones by more than chance. Pure: answers in, numbers out.

Each pair was answered twice at the start and once now. If the model is the same, the three answers are three
draws from whatever it says of that pair, in any order as likely: where exactly one of them differs from both
others, it is the new one with probability 1/3. The number of such pairs is then binomial, exactly, however
much the model wavers and however differently it does so from pair to pair. A comparison of rates would have
to take all pairs for equally hard.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from annotation.stats.distributions import binomial_below

Answer = float | None
"""A verdict; None where none could be read, which is an answer like any other: never a 0."""
ALPHA: Final = 0.01
"""The chance that a build whose model stays the same is ever stopped, all of its checks together."""


class Move(StrEnum):
    """How a second answer stands to the first one. `JUDGED_ONCE`: a verdict at one of both times alone."""

    AGREED = "agreed"
    HIGHER = "higher"
    LOWER = "lower"
    JUDGED_ONCE = "judged_once"


@dataclass(frozen=True)
class OddOnes:
    """Of `apart` pairs with one answer that differs from both others, `odd` where that is the new one."""

    apart: int
    odd: int

    @property
    def p_value(self) -> float:
        """The probability of so many, or more, if nothing but chance is at work; 1 without such a pair."""
        # So many or more odd ones are at most the rest of the others.
        return binomial_below(self.apart - self.odd, self.apart, 2 / 3)


def count_answer_moves(pairs: Iterable[tuple[Answer, Answer]]) -> Counter[Move]:
    """How a second series of answers compares with the first: `pairs` are (first, second) answers."""
    return Counter(move_of(first, second) for first, second in pairs)


def move_of(first: Answer, second: Answer) -> Move:
    """How the second answer stands to the first one."""
    if first == second:
        return Move.AGREED
    if first is None or second is None:
        return Move.JUDGED_ONCE
    return Move.HIGHER if second > first else Move.LOWER


def odd_ones(triples: Iterable[tuple[Answer, Answer, Answer]]) -> OddOnes:
    """`triples` are (first, again, now). Three different answers tell nothing: any of them is the odd one."""
    apart = odd = 0
    for first, again, now in triples:
        if len({first, again, now}) == 2:
            apart += 1
            odd += first == again
    return OddOnes(apart, odd)


def level_of(most: int) -> float:
    """The level of one check of a build that can have `most` of them (Bonferroni)."""
    return ALPHA / max(1, most)
