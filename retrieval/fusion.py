"""How the scores of several encoders become one: the fusions of a mining, and what they divide by."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:  # every command imports this module, and few compute
    import numpy as np
    import numpy.typing as npt

Doubles: TypeAlias = "npt.NDArray[np.float64]"


class Fusion(StrEnum):
    """`mean`: the plain mean of the cosines, as the text of CoSQA+ (section III) says.

    `maxabs`: each encoder's scores are divided by the largest absolute score that it gives the query, then
    averaged: what the authors' script does (`select_code.py`, where they are summed; the ranks are the same).
    A lexical encoder enters `mean` as a share of what it could give the query, `maxabs` as its raw score.
    """

    MEAN = "mean"
    MAXABS = "maxabs"


WORDS: dict[str, str] = {
    Fusion.MEAN.value: "mean of the scores (the paper's text)",
    Fusion.MAXABS.value: "each encoder's scores by its largest, then the mean (the authors' code)",
}


def invert_largest_scores(largest: Doubles) -> Doubles:
    """1 / largest, and 0 where every score is 0."""
    import numpy as np

    return np.divide(1.0, largest, out=np.zeros_like(largest), where=largest > 0)


def scale_scores(scores: Doubles, largest: Doubles | float) -> Doubles:
    """Scores by the largest of them (one for all, or one for each), in [-1, 1]; 0 where every score is 0."""
    import numpy as np

    return np.divide(scores, largest, out=np.zeros_like(scores), where=np.asarray(largest) > 0)
