"""A figure with its interval, and what a reader must be told where there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from annotation.stats.distributions import normal_below, student_above, student_quantile
from retrieval.metrics.resampling import FEW

MOST_UNDEFINED: Final = 0.05
"""With more resamples that have no value, there is no interval to show."""
RESAMPLED: Final = "queries resampled"
WILSON: Final = "Wilson"
EXACT: Final = "Korn and Graubard"
TANGO: Final = "Tango"

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Figure:
    """A statistic with its 95 % interval. `value` is None where it is not defined; the ends are, too, where
    more than 5 % of the resamples have no value. `undefined` is the share of those, 0 to 1.

    `queries` have something to say in it (0 where nobody counted them), `words` says what has no value and
    why, and `method` how the interval was made (empty where there is none).
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    undefined: float = 0.0
    queries: int = 0
    words: str = ""
    method: str = ""

    @property
    def few(self) -> bool:
        """Whether the interval is known to be too short."""
        return 0 < self.queries < FEW


def percentiles_without_nan(values: Floats, *shares: float) -> tuple[float, ...]:
    """Percentiles (0 to 100) of the values that are numbers, between two of them as far as the share says;
    of none at all, nan. As `np.percentile`, which takes ten times as long over a thousand values.
    """
    known = np.sort(values[~np.isnan(values)])
    if not known.size:
        return (float("nan"),) * len(shares)
    places = [share / 100 * (known.size - 1) for share in shares]
    above = [min(int(place) + 1, known.size - 1) for place in places]
    return tuple(
        float(known[int(place)] + (known[one] - known[int(place)]) * (place - int(place)))
        for place, one in zip(places, above, strict=True)
    )


def expanded_percentile(z: float, queries: int) -> float:
    """The percentile of the draws that stands for the normal quantile `z`: a little further out where
    queries are few, by Student's t with one degree less (Hesterberg 2015, The American Statistician 69:371).
    Measured: with 30 queries plain percentiles cover 92 %.
    """
    return 100 * normal_below(student_t_quantile(z, max(queries - 1, 1)))


def student_t_quantile(z: float, free: float) -> float:
    """Student's quantile with so many degrees of freedom, where the normal one is `z`."""
    return student_quantile(normal_below(z), free)


def student_tail_probability(t: float, queries: int) -> float:
    """The probability above `t` by the same distribution."""
    return student_above(t, max(queries - 1, 1))


def format_percent(share: float) -> str:
    """A share as people read it: 0.0123 is "1.2 %"."""
    return f"{100 * share:.1f} %"
