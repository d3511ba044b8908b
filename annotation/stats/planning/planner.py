"""How large a study must be: the study's own estimator, run on made-up studies with known rates.

There is no closed form for alpha or for the alternative annotator test with clusters and skips. A query is
easy or hard, for raters and annotator alike, and has many matches or few: its rates are drawn from a beta
distribution whose intraclass correlation is `clustering`. Given those, everybody errs independently.

A sample that is drawn with weights or by strata is simulated as such (`Design`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import Final

import numpy as np

from annotation.stats.agreement.alternative import (
    apart_of,
    average_over_raters,
    by_rater,
    leave_one_out_agreements,
)
from annotation.stats.agreement.figures import Floats
from annotation.stats.agreement.labels import Labels, majority_labels
from annotation.stats.agreement.reliability import nominal_alpha
from annotation.stats.agreement.sample import Draws, Sample
from annotation.stats.agreement.scores import Treatment, statistics_of, treat_open_pairs
from annotation.stats.agreement.statistic import Drawn, measure_statistics
from annotation.stats.planning import design
from annotation.stats.planning.design import POOL, Design
from retrieval.metrics.resampling import AGREEMENT_SEED, FEW, SIMULATED_DRAWS

STUDIES: Final = 100
"""Made-up studies an answer: power is known to ± 10 points at worst."""
MOST_PAIRS: Final = 6000
STEPS: Final = 6
"""Halvings in the search for the number of pairs: known to 2 %."""
MORE: Final = 3


class BadPlan(ValueError):
    """The assumptions cannot be a study; the text says which."""


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What a study is planned with. Rates and shares are 0 to 1, `minutes` are of one label, `wage` and
    `annotator_cost` are money of one hour and of one pair.

    Raises BadPlan where a number is out of its range.
    """

    pairs: int
    pairs_per_query: int = 1
    quorum: int = 3
    conditions: int = 1
    prevalence: float = 0.213
    rater_accuracy: float = 0.9
    annotator_accuracy: float = 0.94
    clustering: float = 0.1
    skipped: float = 0.02
    margin: float = 0.05
    capacity: int = 100
    minutes: float = 3.0
    wage: float = 0.0
    annotator_cost: float = 0.0

    def __post_init__(self) -> None:
        rates = ("prevalence", "rater_accuracy", "annotator_accuracy", "clustering", "skipped", "margin")
        for name in rates:
            rate = getattr(self, name)
            if not (0 <= rate < 1 or (rate == 1 and name.endswith("accuracy"))):
                raise BadPlan(f"{name.replace('_', ' ')} lies between 0 and 1")
        for name in ("pairs", "pairs_per_query", "quorum", "conditions", "capacity"):
            if getattr(self, name) < 1:
                raise BadPlan(f"{name.replace('_', ' ')} is at least 1")
        if self.quorum < 2:
            raise BadPlan("without a second rater there is no agreement")
        if not self.pairs <= MOST_PAIRS:
            raise BadPlan(f"more than {MOST_PAIRS:,} pairs cannot be simulated while you wait")

    @property
    def queries(self) -> int:
        return ceil(self.pairs / self.pairs_per_query)

    @property
    def labels(self) -> int:
        return self.pairs * self.quorum * self.conditions

    @property
    def raters(self) -> int:
        """Raters that are needed: as many as their capacity asks for, and other ones in each condition."""
        return self.conditions * max(self.quorum, ceil(self.pairs * self.quorum / self.capacity))

    @property
    def hours(self) -> float:
        return self.labels * self.minutes / 60

    @property
    def money(self) -> float:
        return self.hours * self.wage + self.pairs * self.annotator_cost


@dataclass(frozen=True, slots=True)
class StudyOutlook:
    """What studies like this one come to. Widths are those of 95 % intervals, from end to end, on average
    over the studies that have one; None where none has. `power` is the share of studies that show the
    annotator to be worse than the people by less than the margin; `unresolved` the share of pairs without a
    majority. `effective` is how many pairs of equal weights would do as well.
    """

    assumed: Assumptions
    studies: int
    accuracy_width: float | None
    alpha: float | None
    alpha_width: float | None
    difference_width: float | None
    power: float
    unresolved: float
    pairs: int
    queries: int
    labels: int
    raters: int
    hours: float
    money: float
    effective: float


@dataclass(frozen=True, eq=False)
class MadeUp:
    """One made-up study."""

    annotator: Labels
    people: Labels


def simulate_study_outlook(
    assumed: Assumptions, studies: int = STUDIES, drawn: Design | None = None
) -> StudyOutlook:
    """Simulates so many studies; the same assumptions give the same answer.

    `drawn`: how the sample weighs and lies in strata; else all pairs are alike.
    """
    generator = np.random.default_rng(AGREEMENT_SEED)
    sample, ones = sample_of(assumed, drawn)
    draws = Draws(sample.stratum, SIMULATED_DRAWS)
    found = [
        estimate_simulated_study(sample, draws, made_up(assumed, sample, generator, ones))
        for _ in range(studies)
    ]
    bounds = [one["difference"].at_least for one, _ in found]
    alphas = [one["alpha"].value for one, _ in found if not np.isnan(one["alpha"].value)]
    return StudyOutlook(
        assumed=assumed,
        studies=studies,
        accuracy_width=mean_interval_width([one["accuracy"] for one, _ in found]),
        alpha=mean_or_none(alphas),
        alpha_width=mean_interval_width([one["alpha"] for one, _ in found]),
        difference_width=mean_interval_width([one["difference"] for one, _ in found]),
        power=sum(bound is not None and bound > -assumed.margin for bound in bounds) / studies,
        unresolved=float(np.mean([unresolved for _, unresolved in found])),
        pairs=assumed.pairs,
        queries=assumed.queries,
        labels=assumed.labels,
        raters=assumed.raters,
        hours=assumed.hours,
        money=assumed.money,
        effective=assumed.pairs * (drawn.effective if drawn else 1.0),
    )


def sample_of(assumed: Assumptions, drawn: Design | None) -> tuple[Sample, Floats | None]:
    """The made-up pairs, and of each the share of label 1 in its stratum, where that is known."""
    if drawn is not None:
        sample, ones = drawn.sample(assumed.pairs, assumed.pairs_per_query)
        return sample, None if np.isnan(ones).all() else ones
    return Sample.of(np.arange(assumed.pairs) // assumed.pairs_per_query), None


def find_smallest_study(
    assumed: Assumptions,
    power: float = 0.8,
    studies: int = STUDIES,
    most: int | None = None,
    drawn: Design | None = None,
) -> StudyOutlook | None:
    """The smallest study (in pairs, to about 2 %) that shows the margin with this power; None where even one
    of `most` pairs does not, which are at first all that can be simulated. Takes a few seconds.

    Never fewer than 30 queries, below which intervals are too short.
    """
    most = most or MOST_PAIRS
    low, high = 0, min(FEW * assumed.pairs_per_query, most)
    while (found := confirm_study_power(replace(assumed, pairs=high), power, studies, drawn)) is None:
        if high == most:
            return None
        low, high = high, min(2 * high, most)
    for _ in range(STEPS if low else 0):
        middle = (low + high) // 2
        if middle <= low:
            break
        tried = confirm_study_power(replace(assumed, pairs=middle), power, studies, drawn)
        low, high, found = (low, middle, tried) if tried else (middle, high, found)
    return found


def confirm_study_power(
    assumed: Assumptions, power: float, studies: int, drawn: Design | None
) -> StudyOutlook | None:
    """The outlook of a study that has the power in so many made-up studies and, as many sizes are tried and
    one may have it by luck, in `MORE` times as many; None where it has not.
    """
    if simulate_study_outlook(assumed, studies, drawn).power < power:
        return None
    found = simulate_study_outlook(assumed, MORE * studies, drawn)
    return found if found.power >= power else None


def made_up(
    assumed: Assumptions, sample: Sample, generator: np.random.Generator, ones: Floats | None = None
) -> MadeUp:
    """Labels of one study with these rates; `ones` is the share of label 1 in the stratum of each pair."""
    slip, wrong = 1 - assumed.rater_accuracy, 1 - assumed.annotator_accuracy
    size = sample.size if ones is None else POOL
    matches = draw_query_rates(assumed.prevalence, assumed.clustering, size, generator)
    if ones is None:
        truth = draw_pair_hits(sample, matches, 1, generator)
        hard, given = draw_query_rates(slip, assumed.clustering, size, generator), None
    else:
        hard = draw_query_rates(slip, assumed.clustering, size, generator)
        made = design.labels_first(sample, ones, matches, as_hard(hard, slip, wrong), generator)
        truth, given, hard = made.truth, made.labels, hard[made.queries]
    people = np.abs(truth - draw_pair_hits(sample, hard, assumed.quorum, generator))
    people[generator.random(people.shape) < assumed.skipped] = np.nan
    labels = np.abs(truth - draw_pair_hits(sample, as_hard(hard, slip, wrong), 1, generator))[:, 0]
    if given is not None:
        labels = np.where(np.isnan(given), labels, given)
    return MadeUp(
        Labels.of_annotator("annotator", labels),
        Labels.of_people("people", people, assumed.quorum, skipped=np.isnan(people)),
    )


def draw_query_rates(rate: float, clustering: float, queries: int, generator: np.random.Generator) -> Floats:
    """The rate of each query: `rate` on average, alike within a query as far as `clustering` says."""
    if not 0 < rate < 1 or not clustering:
        return np.full(queries, rate)
    spread = (1 - clustering) / clustering
    return generator.beta(rate * spread, (1 - rate) * spread, queries)


def as_hard(hard: Floats, slip: float, wrong: float) -> Floats:
    """How often the annotator errs in each query: `wrong` on average, and more where raters slip more."""
    if wrong <= slip:
        return hard * (wrong / slip) if slip else hard
    return 1 - (1 - hard) * ((1 - wrong) / (1 - slip))


def draw_pair_hits(sample: Sample, found: Floats, many: int, generator: np.random.Generator) -> Floats:
    """0 or 1 for each pair and each of `many`, by the rate of its query: pairs × many."""
    thrown = generator.random((len(sample), many)) < found[sample.cluster][:, None]
    return thrown.astype(np.float64)


def estimate_simulated_study(sample: Sample, draws: Draws, made: MadeUp) -> tuple[dict[str, Drawn], float]:
    """What the page would say of accuracy, alpha and the annotator against the people; and the share of pairs
    without a majority.
    """
    truth = majority_labels(made.people)
    cells = treat_open_pairs(made.annotator, truth, Treatment.EXCLUDED).cells
    agreed = leave_one_out_agreements(made.annotator, made.people)
    columns, known = by_rater(sample, *agreed, sample.weights)
    apart = apart_of(sample, *agreed, known, sample.weights)
    statistics = {
        "accuracy": statistics_of(sample, cells, sample.weights)["accuracy"],
        "alpha": nominal_alpha(sample, made.people.values, sample.weights),
        "difference": average_over_raters(columns, apart)["difference"],
    }
    return measure_statistics(draws, statistics), float(np.isnan(truth).mean())


def mean_interval_width(found: list[Drawn]) -> float | None:
    """The mean width of the intervals that there are."""
    figures = [drawn.figure for drawn in found]
    return mean_or_none(
        [figure.high - figure.low for figure in figures if figure.high is not None and figure.low is not None]
    )


def mean_or_none(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
