"""Agreement, accuracy and what rests on them, with intervals that resample queries. Pure: no I/O.

`page(study)` makes all figures of a study's page; `influence` and `preference` those that need other rows;
`planner` and `pilot` plan a study. docs/statistics.md explains each figure.
"""

from annotation.stats.agreement.figures import MOST_UNDEFINED, Figure
from annotation.stats.agreement.influence import Influence, Revisions, measure_reveal_influence
from annotation.stats.agreement.korn_graubard import FEW_EXCEPTIONS
from annotation.stats.agreement.labels import BadLabels, Labels, blind_truth, majority_labels
from annotation.stats.agreement.page import Page, Study, build_agreement_page
from annotation.stats.agreement.pairwise import Preference, measure_preference
from annotation.stats.agreement.prediction_powered import Stratum
from annotation.stats.agreement.query_clusters import clustered_share
from annotation.stats.agreement.reliability import Level, TooManyValues, alpha_from_sums, alpha_unit_terms
from annotation.stats.agreement.sample import BadSample, Draws, Sample
from annotation.stats.agreement.statistic import Statistic, measure_statistics, share_of

__all__ = [
    "FEW_EXCEPTIONS",
    "MOST_UNDEFINED",
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
    "alpha_from_sums",
    "alpha_unit_terms",
    "blind_truth",
    "build_agreement_page",
    "clustered_share",
    "majority_labels",
    "measure_preference",
    "measure_reveal_influence",
    "measure_statistics",
    "share_of",
]
