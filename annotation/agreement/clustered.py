"""Shares in samples of whole queries of which nothing but counts is known: no pairs, no weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from annotation.agreement.figures import Floats
from annotation.agreement.rare import worth
from annotation.agreement.sample import Draws
from annotation.agreement.statistic import Drawn, Statistic, measure, share_of
from annotation.intervals import Share, clopper_pearson

RESAMPLES: Final = 2000


def clustered_share(counts: Sequence[tuple[int, int]], seed: int) -> Share:
    """The share in a sample of queries, each given as (part, whole), with an interval over them."""
    columns = np.array(counts, dtype=np.float64).reshape(-1, 2)
    part, whole = (int(one) for one in columns.sum(axis=0))
    draws = Draws(np.zeros(len(columns), dtype=np.int64), RESAMPLES, seed)
    found = measure(draws, {"share": counted_share(columns)})["share"]
    return Share(part, whole, between(found))


def counted_share(columns: Floats) -> Statistic:
    """The share of each query's first column in its second one, which counts pairs."""
    wholes = columns[:, 1]
    return share_of(columns, plain=bool((wholes <= 1).all()), pairs=float(wholes.sum()))


def between(found: Drawn) -> tuple[float, float] | None:
    """The ends of a share's interval; where queries are too few or too alike for draws each counts as one, as
    if all its pairs were. None where there is no share.
    """
    told = found.figure
    if told.value is None or (told.low is not None and told.high is not None):
        return None if told.low is None or told.high is None else (told.low, told.high)
    assert found.statistic.parts
    many = worth(found.statistic.parts(found.statistic.columns)[1])
    return clopper_pearson(told.value * many, many)
