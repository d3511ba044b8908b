"""Studies with known truth: do 95 % intervals hold it, and do equally good annotators come out equal?

Every query has its own rate of matches and of errors, which raters and annotators share; true values are
those of a study of 200,000 pairs. Seeds are fixed, so nothing here fails by chance.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pytest

from annotation.schemas.studies.studies import Allocation, SampleWish, Stratifier
from annotation.stats.agreement.alternative import (
    apart_of,
    average_over_raters,
    by_rater,
    leave_one_out_agreements,
)
from annotation.stats.agreement.differences import (
    compare_annotators,
    mcnemar_mid_p,
    score_correctness,
    weighted_mean_difference,
)
from annotation.stats.agreement.figures import Figure
from annotation.stats.agreement.labels import Labels, majority_labels
from annotation.stats.agreement.page import Study, build_stratum_score_tables
from annotation.stats.agreement.prediction_powered import Stratum, estimate_whole_build
from annotation.stats.agreement.reliability import nominal_alpha
from annotation.stats.agreement.sample import Draws, Sample
from annotation.stats.agreement.scores import Against, Treatment, statistics_of, treat_open_pairs
from annotation.stats.agreement.statistic import Statistic, measure_statistics
from annotation.studies.sampling.draw import draw_sample
from annotation.studies.sampling.frame import Unit

STUDIES: Final = 400
LOWEST, HIGHEST = 0.91, 0.98
Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Made:
    """Labels of one simulated study: an agent, an LLM, and raters of two conditions."""

    agent: Labels
    rival: Labels
    people: Labels
    readers: Labels
    true: Array


def made(sample: Sample, generator: np.random.Generator, right: float = 0.88) -> Made:
    """Everybody is right with `right` on average, and less in hard queries."""
    prevalence = generator.beta(3, 7, sample.size)[sample.cluster][:, None]
    hard = generator.beta((1 - right) * 6, right * 6, sample.size)[sample.cluster][:, None]
    true = (generator.random((len(sample), 1)) < prevalence).astype(float)

    def said(raters: int) -> Array:
        slips = generator.random((len(sample), raters)) < hard
        return np.where(slips, 1 - true, true)

    return Made(
        Labels.of_annotator("agent", said(1)[:, 0]),
        Labels.of_annotator("rival", said(1)[:, 0]),
        Labels.of_people("own tests", said(3)),
        Labels.of_people("reading", said(3)),
        true[:, 0],
    )


def statistics(sample: Sample, found: Made) -> dict[str, Statistic]:
    """One of each kind of figure."""
    truth, even = majority_labels(found.people), sample.weights
    agent, rival = (treat_open_pairs(one, truth, Treatment.EXCLUDED) for one in (found.agent, found.rival))
    alpha = nominal_alpha(sample, found.people.values, even)
    agreed = leave_one_out_agreements(found.agent, found.people)
    columns, known = by_rater(sample, *agreed, even)
    apart = apart_of(sample, *agreed, known, even)
    return {
        **statistics_of(sample, agent.cells, even),
        "alpha": alpha,
        "alphas apart": alpha.minus(nominal_alpha(sample, found.readers.values, even)),
        "accuracies apart": weighted_mean_difference(
            sample, score_correctness(agent), score_correctness(rival), even
        ),
        "agent less people": average_over_raters(columns, apart)["difference"],
    }


@pytest.mark.parametrize(("queries", "each"), [(30, 10), (300, 1)])
def test_intervals_hold_the_truth_as_often_as_they_say(queries: int, each: int) -> None:
    generator = np.random.default_rng(20)
    large = Sample.of(np.arange(200_000) // each)
    true = {name: one_value(one) for name, one in statistics(large, made(large, generator)).items()}
    sample = Sample.of(np.arange(queries * each) // each)
    draws, held = Draws.of(sample), Counter[str]()
    for _ in range(STUDIES):
        for name, one in measure_statistics(draws, statistics(sample, made(sample, generator))).items():
            figure = one.figure
            assert figure.low is not None and figure.high is not None
            held[name] += figure.low <= true[name] <= figure.high
    del held["coverage"]  # always 1 here
    shares = {name: count / STUDIES for name, count in held.items()}
    assert len(shares) == 9
    assert all(LOWEST <= one <= HIGHEST for one in shares.values()), shares


def test_a_sample_that_takes_more_of_one_label_still_tells_of_the_whole_build() -> None:
    """E11: half/half by the agent's label from a build where it is 1 for a fifth. Weighted accuracy, weighted
    alpha and the prediction-powered error hold the build's values; plain ones would not.
    """
    generator = np.random.default_rng(21)
    build = Sample.of(np.arange(40_000))
    everyone = made(build, generator)
    truth, label = majority_labels(everyone.people), everyone.agent.values[:, 0]
    ones: Array = np.flatnonzero(label == 1)
    zeros: Array = np.flatnonzero(label == 0)
    strata = (Stratum(0, len(zeros), 0), Stratum(1, len(ones), len(ones)))
    even = np.ones(len(build))
    true = {
        "accuracy": 1 - np.abs(label - truth).mean(),
        "alpha": one_value(nominal_alpha(build, everyone.people.values, even)),
        "error": np.abs(label - truth).mean(),
        "prevalence": truth.mean(),
    }
    held: Counter[str] = Counter()
    plain = []
    stratum: Array = np.repeat([0, 1], 150)
    sample = Sample.of(np.arange(300), np.where(stratum, 150 / len(ones), 150 / len(zeros)), stratum)
    draws = Draws.of(sample)
    for _ in range(STUDIES):
        chosen = np.r_[
            generator.choice(zeros, 150, replace=False), generator.choice(ones, 150, replace=False)
        ]
        against = Against("agent", label[chosen][:, None], truth[chosen][:, None])
        found = {
            "accuracy": statistics_of(sample, against.cells, sample.weights)["accuracy"],
            "alpha": nominal_alpha(sample, everyone.people.values[chosen], sample.weights),
        }
        told = estimate_whole_build(sample, draws, "agent", label[chosen], truth[chosen], strata)
        figures = {name: one.figure for name, one in measure_statistics(draws, found).items()}
        figures |= {"error": told.error, "prevalence": told.prevalence}
        held.update(name for name, figure in figures.items() if holds(figure, true[name]))
        plain.append(against.cells[:, [0, 3]].sum() / 300)
    shares = {name: count / STUDIES for name, count in held.items()}
    assert all(LOWEST <= one <= HIGHEST for one in shares.values()), shares
    assert abs(np.mean(plain) - true["accuracy"]) > 0.02


def test_figures_of_a_stratum_hold_where_each_query_puts_one_pair_forward() -> None:
    """Queries of 1 to 12 pairs, the agent worse in large ones; each puts forward one pair, and strata get
    half of the sample each. Weighted figures of a stratum hold its value; plain ones are of small queries.
    """
    generator = np.random.default_rng(25)
    many = generator.integers(1, 13, 3000)
    query: Array = np.repeat(np.arange(3000), many)
    right = generator.random(len(query)) < 0.98 - 0.03 * many[query]
    kind = generator.random(len(query)) < 0.2
    units = [Unit(int(one), row, None, "1" if kind[row] else "0") for row, one in enumerate(query)]
    true, people = {one: right[kind == one].mean() for one in (0, 1)}, np.ones((300, 3))
    held, plain = Counter[int](), dict[int, list[float]]({0: [], 1: []})
    for seed in range(200):
        wish = SampleWish(
            size=300, seed=seed, per_query=1, strata=(Stratifier.LABEL,), allocation=Allocation.EQUAL
        )
        drawn = draw_sample(units, wish).drawn
        rows, stratum = [one.unit.pair for one in drawn], [int(one.unit.stratum) for one in drawn]
        sample = Sample.of(query[rows], [one.probability for one in drawn], stratum)
        agent = Labels.of_annotator("agent", right[rows].astype(float))
        study = Study(sample, (Labels.of_people("own tests", people),), (agent,), "own tests")
        for one, table in build_stratum_score_tables(study, Draws(sample.stratum, 300)).items():
            held[one] += holds(table[0].accuracy, true[one])
            plain[one].append(right[rows][np.array(stratum) == one].mean())
    assert all(LOWEST <= held[one] / 200 <= HIGHEST for one in (0, 1)), held
    assert all(np.mean(plain[one]) - true[one] > 0.02 for one in (0, 1)), true


def holds(figure: Figure, value: float) -> bool:
    """Whether the value lies in the figure's interval."""
    assert figure.low is not None and figure.high is not None
    return bool(figure.low <= value <= figure.high)


def one_value(statistic: Statistic) -> float:
    return float(statistic.of(statistic.columns.sum(axis=0)))


def test_equally_good_agent_and_raters_come_out_equal() -> None:
    """E10: the naive rules show the raters ahead by three points (ties dropped); these show nothing."""
    generator = np.random.default_rng(22)
    sample = Sample.of(np.arange(200_000))
    found = made(sample, generator)
    mine, theirs = leave_one_out_agreements(found.agent, found.people)
    assert abs(np.nanmean(mine) - np.nanmean(theirs)) < 0.002
    naive = np.nanmean(1 - np.abs(found.agent.values[:, 0] - majority_labels(found.people)))
    dropped = theirs[(theirs != 0.5) & ~np.isnan(theirs)].mean()
    assert dropped - naive > 0.02


@pytest.mark.parametrize(("queries", "each"), [(30, 10), (300, 1)])
def test_false_alarms_are_as_rare_as_they_should_be(queries: int, each: int) -> None:
    """Agent against people, and agent against an equally good LLM: p below 5 % in about 5 % of studies."""
    generator = np.random.default_rng(23)
    sample = Sample.of(np.arange(queries * each) // each)
    draws, alarms = Draws(sample.stratum, size=300), Counter[str]()
    for _ in range(STUDIES):
        study = made(sample, generator)
        truth = majority_labels(study.people)
        agreed = leave_one_out_agreements(study.agent, study.people)
        columns, known = by_rater(sample, *agreed, sample.weights)
        apart = apart_of(sample, *agreed, known, sample.weights)
        people = measure_statistics(draws, {"": average_over_raters(columns, apart)["difference"]})[""].p
        rows = [treat_open_pairs(one, truth, Treatment.EXCLUDED) for one in (study.agent, study.rival)]
        rival = compare_annotators(sample, draws, rows[0], rows[1], sample.weights).p
        assert people is not None and rival is not None
        alarms["people"] += people < 0.05
        alarms["rival"] += rival < 0.05
    assert all(0.02 <= alarms[name] / STUDIES <= 0.08 for name in ("people", "rival")), alarms


def test_pooled_rows_of_raters_alarm_far_too_often() -> None:
    """E10, S8: why McNemar is not used where a rater set stands against one annotator."""
    generator = np.random.default_rng(24)
    sample = Sample.of(np.arange(300))
    alarms = 0
    for _ in range(STUDIES):
        study = made(sample, generator)
        one = study.agent.values == study.true[:, None]
        rows = study.people.values == study.true[:, None]
        alarms += mcnemar_mid_p(int((one & ~rows).sum()), int((~one & rows).sum())) < 0.05
    assert alarms / STUDIES > 0.1
