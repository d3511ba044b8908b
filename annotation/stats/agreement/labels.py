"""Who said what of which pair, and what follows from it: majorities, and the others of each rater.

nan is "no label": not asked, skipped, abandoned. `skipped` tells those who were asked apart from the rest.
"Could not judge" is not "no match".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from annotation.stats.agreement.figures import Flags, Floats


class BadLabels(ValueError):
    """The labels do not fit together; the text says why."""


@dataclass(frozen=True, eq=False)
class Labels:
    """One annotator's labels, or those of the raters of a condition: pairs × raters, nan where there is none.

    `quorum` is the number of labels that the plan asks for a pair. Raises BadLabels where shapes differ.
    """

    name: str
    values: Floats
    raters: tuple[str, ...]
    skipped: Flags
    quorum: int = 1

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or self.values.shape != self.skipped.shape:
            raise BadLabels(f"{self.name}: labels and skips are pairs × raters")
        if self.values.shape[1] != len(self.raters):
            raise BadLabels(f"{self.name}: {len(self.raters)} names for {self.values.shape[1]} raters")
        if len(set(self.raters)) != len(self.raters):
            raise BadLabels(f"{self.name}: two raters have one name")

    @classmethod
    def of_people(
        cls,
        name: str,
        values: ArrayLike,
        quorum: int = 3,
        raters: tuple[str, ...] = (),
        skipped: ArrayLike | None = None,
    ) -> Labels:
        """The raters of a condition; without names they are called R1, R2 …"""
        given = np.asarray(values, dtype=np.float64)
        names = raters or tuple(f"R{number + 1}" for number in range(given.shape[1]))
        skips = np.zeros(given.shape, dtype=bool) if skipped is None else np.asarray(skipped, dtype=bool)
        return cls(name, given, names, skips & np.isnan(given), quorum)

    @classmethod
    def of_annotator(cls, name: str, labels: ArrayLike) -> Labels:
        """One annotator that was asked everything: where it has no label it could not judge."""
        given = np.asarray(labels, dtype=np.float64)[:, None]
        return cls(name, given, (name,), np.isnan(given))

    @classmethod
    def constant(cls, label: int, pairs: int) -> Labels:
        """The annotator that always says the same."""
        return cls.of_annotator(f"always {label}", np.full(pairs, float(label)))

    @property
    def each(self) -> Floats:
        """The mean label of each pair, nan where nobody gave one."""
        given = (~np.isnan(self.values)).sum(axis=1)
        return np.where(given > 0, np.nansum(self.values, axis=1) / np.maximum(given, 1), np.nan)

    def matches(self, at: float) -> Labels:
        """The same as 1 (match: a value of at least `at`) and 0."""
        found = np.where(np.isnan(self.values), np.nan, (self.values >= at).astype(np.float64))
        return Labels(self.name, found, self.raters, self.skipped, self.quorum)


def majority_labels(labels: Labels) -> Floats:
    """What more than half of the planned quorum said of each pair, nan where there is no such label.

    Where more labels were given than planned, more than half of those.
    """
    ones, zeros = (labels.values == 1).sum(axis=1), (labels.values == 0).sum(axis=1)
    needed = np.maximum(labels.quorum, ones + zeros) / 2
    return np.where(ones > needed, 1.0, np.where(zeros > needed, 0.0, np.nan))


def other_raters_majority(labels: Labels) -> Floats:
    """For each label of a rater what the pair's other raters said by majority, ½ where they are split.

    Pairs × raters; nan where the rater gave no label or nobody else did.
    """
    given = ~np.isnan(labels.values)
    ones = np.nansum(labels.values, axis=1)[:, None] - np.where(given, labels.values, 0)
    rest = given.sum(axis=1)[:, None] - given
    found = np.where(2 * ones > rest, 1.0, np.where(2 * ones < rest, 0.0, 0.5))
    return np.where(given & (rest > 0), found, np.nan)


def blind_truth(labels: Labels) -> Floats:
    """`other_raters_majority` where they are not split: the truth that a revised label may be held against,
    else nan."""
    found = other_raters_majority(labels)
    return np.where(found == 0.5, np.nan, found)
