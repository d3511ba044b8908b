"""Is a measure reliable? Cronbach's alpha and average variance over groups of queries.

CoSQA+'s first version (arXiv 2406.11589v1, RQ4) groups queries by their number of matches and has a mean for
each system and group (its Tables 6 to 8). `scores` has that shape: (systems, groups).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def cronbach_alpha(scores: ArrayLike) -> float | None:
    """k/(k-1) · (1 - sum of the systems' variances ÷ variance of the groups' totals), k systems.

    Cronbach 1951 with groups as subjects and systems as items: high where systems agree on which groups are
    easy. At most 1, may be negative. None with fewer than two systems or groups, or where all totals are
    equal. Raises ValueError for another shape or a score that is not finite.
    """
    table = _table(scores)
    systems, groups = table.shape
    if systems < 2 or groups < 2:
        return None
    total = float(table.sum(axis=0).var(ddof=1))
    if total <= np.finfo(np.float64).eps * float((table**2).sum()):
        return None
    return float(systems / (systems - 1) * (1 - table.var(axis=1, ddof=1).sum() / total))


def average_variance(scores: ArrayLike) -> float | None:
    """Mean over systems of a system's sample variance (n - 1) over the groups; None below two groups.

    A measure with low values varies little: compare only measures of about the same height.
    """
    table = _table(scores)
    if table.shape[0] < 1 or table.shape[1] < 2:
        return None
    return float(table.var(axis=1, ddof=1).mean())


def _table(scores: ArrayLike) -> NDArray[np.float64]:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"expected rows of systems and columns of groups, found {table.ndim} dimensions")
    if not np.isfinite(table).all():
        raise ValueError("every score must be a finite number")
    return table
