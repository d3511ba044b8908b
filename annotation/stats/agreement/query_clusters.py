"""Shares in samples of whole queries of which nothing but counts is known: no pairs, no weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from annotation.stats.agreement.figures import Floats
from annotation.stats.agreement.korn_graubard import effective_sample_size
from annotation.stats.agreement.sample import Draws
from annotation.stats.agreement.statistic import Drawn, Statistic, measure_statistics, share_of
from annotation.stats.intervals import Share, clopper_pearson
from retrieval.metrics.resampling import SHARE_RESAMPLES


def clustered_share(counts: Sequence[tuple[int, int]], seed: int) -> Share:
    """The share in a sample of queries, each given as (part, whole), with an interval over them."""
    columns = np.array(counts, dtype=np.float64).reshape(-1, 2)
    part, whole = (int(one) for one in columns.sum(axis=0))
    draws = Draws(np.zeros(len(columns), dtype=np.int64), SHARE_RESAMPLES, seed)
    found = measure_statistics(draws, {"share": counted_share(columns)})["share"]
    return Share(part, whole, clustered_share_interval(found))


def counted_share(columns: Floats) -> Statistic:
    """The share of each query's first column in its second one, which counts pairs."""
    wholes = columns[:, 1]
    return share_of(columns, plain=bool((wholes <= 1).all()), pairs=float(wholes.sum()))


def clustered_share_interval(found: Drawn) -> tuple[float, float] | None:
    """The ends of a share's interval; where queries are too few or too alike for draws each counts as one, as
    if all its pairs were. None where there is no share.
    """
    told = found.figure
    if told.value is None or (told.low is not None and told.high is not None):
        return None if told.low is None or told.high is None else (told.low, told.high)
    assert found.statistic.parts
    many = effective_sample_size(found.statistic.parts(found.statistic.columns)[1])
    return clopper_pearson(told.value * many, many)
