"""Small tables of ratings, as people write them: one rater a line, one pair a column, * is no label."""

from __future__ import annotations

import numpy as np

from annotation.stats.agreement.figures import Floats
from annotation.stats.agreement.labels import Labels
from annotation.stats.agreement.sample import Sample
from annotation.stats.agreement.statistic import Statistic


def table(*raters: str) -> Floats:
    """Pairs × raters."""
    rows = [[float("nan") if mark == "*" else float(mark) for mark in row] for row in raters]
    return np.array(rows).T


def people(*raters: str, name: str = "own tests", quorum: int = 3) -> Labels:
    return Labels.of_people(name, table(*raters), quorum)


def annotator(labels: str, name: str = "agent") -> Labels:
    return Labels.of_annotator(name, table(labels)[:, 0])


def each_its_query(pairs: int) -> Sample:
    return Sample.of(np.arange(pairs))


def value(statistic: Statistic) -> float:
    """The statistic of what was seen, without any draw."""
    return float(statistic.of(statistic.columns.sum(axis=0)))
