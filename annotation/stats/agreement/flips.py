"""Two labels of each pair, 0 or 1, counted by query: how often the second is another one than the first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotation.stats.agreement.figures import Ints
from annotation.stats.agreement.kappa import kappa_statistic
from annotation.stats.agreement.korn_graubard import effective_sample_size
from annotation.stats.agreement.query_clusters import clustered_share_interval, counted_share
from annotation.stats.agreement.sample import Draws
from annotation.stats.agreement.statistic import Drawn, Statistic, divide_or_nan, measure_statistics
from annotation.stats.agreement.tango_interval import Apart
from annotation.stats.intervals import Mean


@dataclass(frozen=True, slots=True)
class Figures:
    """Shares of the common pairs, 0 to 1, and kappa, -1 to 1; `shift` is the second's share of matches minus
    the first's. Each is None where it is not defined, and has no interval where that is not.
    """

    to_match: Mean | None = None
    to_no_match: Mean | None = None
    agreement: Mean | None = None
    shift: Mean | None = None
    kappa: Mean | None = None


def figures_of(counts: Ints) -> Figures:
    """From each query's pairs that are (1, 1), (1, 0), (0, 1), (0, 0), shape (queries, 4)."""
    if not counts.size:
        return Figures()
    _, to_no_match, to_match, _ = counts.T
    moved = flip_share_statistics(to_match, to_no_match, counts.sum(axis=1))
    found = measure_statistics(Draws.even(len(counts)), {**moved, "kappa": kappa(counts)})
    return Figures(**{name: mean_of(statistic) for name, statistic in found.items()})


def flip_share_statistics(to_match: Ints, to_no_match: Ints, pairs: Ints) -> dict[str, Statistic]:
    """What is a part of all pairs, and the difference of two such parts."""
    parts = {"to_match": to_match, "to_no_match": to_no_match, "agreement": pairs - to_match - to_no_match}
    columns = {name: np.column_stack([part, pairs]).astype(np.float64) for name, part in parts.items()}
    counted = {name: counted_share(column) for name, column in columns.items()}
    return {**counted, "shift": net_flip_share(to_match, to_no_match, pairs)}


def net_flip_share(to_match: Ints, to_no_match: Ints, pairs: Ints) -> Statistic:
    """How much more pairs went to match than away from it, of all."""
    flipped, whole = to_match + to_no_match, float(pairs.sum())
    apart = Apart(
        ahead=float(to_match.sum()) / whole,
        behind=float(to_no_match.sum()) / whole,
        square=float(flipped.sum()) / whole,
        pairs=whole,
        queries=effective_sample_size(pairs.astype(np.float64)),
        queries_apart=int(np.count_nonzero(flipped)),
    )
    columns = np.column_stack([to_match - to_no_match, pairs]).astype(np.float64)
    return Statistic(columns, lambda sums: divide_or_nan(sums[..., 0], sums[..., 1]), apart=apart)


def kappa(counts: Ints) -> Statistic:
    """Cohen's, with the first label as one rater's and the second as another's."""
    both, to_no_match, to_match, _ = counts.T
    differ, first, second = to_match + to_no_match, both + to_no_match, both + to_match
    pairs = counts.sum(axis=1)
    columns = np.column_stack([differ, differ, pairs - first, first, pairs - second, second])
    return kappa_statistic(columns.astype(np.float64), np.arange(2.0), quadratic=False)


def mean_of(found: Drawn) -> Mean | None:
    """The value with its interval, as figures of studies have it."""
    told = found.figure
    return None if told.value is None else Mean(told.value, *(flip_interval(found) or (None, None)))


def flip_interval(found: Drawn) -> tuple[float, float] | None:
    """Those of the interval; of a share or shift of one query alone as one pair would have them."""
    told, apart = found.figure, found.statistic.apart
    if found.statistic.parts:
        return clustered_share_interval(found)
    if told.low is not None and told.high is not None:
        return told.low, told.high
    return apart.interval(apart.queries) if apart else None
