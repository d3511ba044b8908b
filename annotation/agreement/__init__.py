"""Agreement, accuracy and what rests on them, with intervals that resample queries. Pure: no I/O.

`page(study)` makes all figures of a study's page; `influence` and `preference` those that need other rows;
`planner` and `pilot` plan a study. docs/statistics.md explains each figure.
"""

from annotation.agreement.clustered import clustered_share
from annotation.agreement.figures import MOST_UNDEFINED, Figure
from annotation.agreement.influence import Influence, Revisions, influence
from annotation.agreement.labels import BadLabels, Labels, blind_truth, majority
from annotation.agreement.page import Page, Study, page
from annotation.agreement.pairwise import Preference, preference
from annotation.agreement.rare import FEW_EXCEPTIONS
from annotation.agreement.reliability import Level, TooManyValues, alpha, unit
from annotation.agreement.sample import RESAMPLES, SEED, BadSample, Draws, Sample
from annotation.agreement.statistic import Statistic, measure, share_of
from annotation.agreement.whole import Stratum

__all__ = [
    "FEW_EXCEPTIONS",
    "MOST_UNDEFINED",
    "RESAMPLES",
    "SEED",
    "BadLabels",
    "BadSample",
    "Draws",
    "Figure",
    "Influence",
    "Labels",
    "Level",
    "Page",
    "Preference",
    "Revisions",
    "Sample",
    "Statistic",
    "Stratum",
    "Study",
    "TooManyValues",
    "alpha",
    "blind_truth",
    "clustered_share",
    "influence",
    "majority",
    "measure",
    "page",
    "preference",
    "share_of",
    "unit",
]
