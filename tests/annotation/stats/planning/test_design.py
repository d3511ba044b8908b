"""A plan simulates the sample that is drawn: against samples that are really drawn from a made-up build."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pytest

from annotation.stats.agreement.figures import Floats
from annotation.stats.agreement.labels import Labels
from annotation.stats.agreement.sample import Draws, Sample
from annotation.stats.agreement.statistic import Drawn
from annotation.stats.planning.design import Design
from annotation.stats.planning.pilot import from_pilot
from annotation.stats.planning.planner import (
    Assumptions,
    MadeUp,
    estimate_simulated_study,
    made_up,
    mean_interval_width,
    simulate_study_outlook,
)

PLAN: Final = Assumptions(300, prevalence=0.213, annotator_accuracy=0.94, rater_accuracy=0.9)
STUDIES: Final = 60


@dataclass(frozen=True)
class Build:
    """A build of one pair a query with everybody's labels, from which half matches, half others are drawn."""

    made: MadeUp

    @property
    def labels(self) -> Floats:
        found: Floats = self.made.annotator.values[:, 0]
        return found

    def draw(self, pairs: int, generator: np.random.Generator) -> tuple[Sample, MadeUp]:
        kinds = [np.flatnonzero(self.labels == label) for label in (0, 1)]
        half = pairs // 2
        picked = np.concatenate([generator.choice(kind, half, replace=False) for kind in kinds])
        chances = np.repeat([half / len(kind) for kind in kinds], half)
        said = self.made.people.values[picked]
        people = Labels.of_people("people", said, 3, skipped=np.isnan(said))
        sample = Sample.of(np.arange(pairs), chances, np.repeat([0, 1], half))
        return sample, MadeUp(Labels.of_annotator("annotator", self.labels[picked]), people)


@pytest.fixture(scope="module")
def build() -> Build:
    return Build(made_up(PLAN, Sample.of(np.arange(100_000)), np.random.default_rng(3)))


def design_of(sample: Sample) -> Design:
    return Design.of(sample.chances, sample.strata, sample.strata.astype(float))


def means(found: list[dict[str, Drawn]], name: str) -> tuple[float, float]:
    return mean_interval_width([one[name] for one in found]) or 0.0, float(
        np.nanmean([one[name].value for one in found])
    )


def test_made_up_studies_are_as_sure_as_those_that_are_really_drawn(build: Build) -> None:
    generator = np.random.default_rng(4)
    drawn = [build.draw(PLAN.pairs, generator) for _ in range(STUDIES)]
    real = [estimate_simulated_study(sample, Draws(sample.stratum, 200), made)[0] for sample, made in drawn]
    foreseen = simulate_study_outlook(PLAN, STUDIES, design_of(drawn[0][0]))
    plain = simulate_study_outlook(PLAN, STUDIES)
    for name in ("accuracy", "alpha", "difference"):
        wide = getattr(foreseen, f"{name}_width")
        assert wide == pytest.approx(means(real, name)[0], rel=0.05), name
        assert wide < 0.99 * getattr(plain, f"{name}_width"), "half and half is a good design here"
    assert foreseen.alpha == pytest.approx(means(real, "alpha")[1], abs=0.02)


def test_weights_that_say_nothing_cost_what_kish_says() -> None:
    """A tenth of the pairs weigh ten times as much: they are worth 36 % of as many."""
    chances = np.where(np.arange(300) % 10 == 0, 0.01, 0.1)
    design = Design.of(chances, np.zeros(300), np.full(300, 0.2))
    assert design.effective == pytest.approx(1.9**2 / 10.9, abs=0.001)
    weighed, plain = simulate_study_outlook(PLAN, STUDIES, design), simulate_study_outlook(PLAN, STUDIES)
    assert weighed.effective == pytest.approx(300 * design.effective)
    assert weighed.accuracy_width and plain.accuracy_width
    longer = weighed.accuracy_width / plain.accuracy_width
    assert longer == pytest.approx(design.effective**-0.5, rel=0.1)


def test_what_is_known_by_hand() -> None:
    """Quarter and three quarters of a build, half and half of the sample: weights ½ and 1½."""
    design = Design.of([0.02, 0.02, 0.02 / 3, 0.02 / 3], [1, 1, 0, 0], [1, 1, 0, 0])
    assert design.weights == pytest.approx([0.5, 0.5, 1.5, 1.5])
    assert design.effective == pytest.approx(0.8)
    assert design.matches == pytest.approx(0.25)
    # 0.9 of 0.1875 and 0.1 of 0.8125 are a quarter
    assert design.prevalence(0.5, 0.9) == pytest.approx(0.1875)
    assert Design.of([0.1, 0.2], [0, 0], [0.3, 0.3]).prevalence(0.5, 0.9) == 0.5, "one stratum: as assumed"


@pytest.mark.parametrize("per_query", [1, 5])
def test_labels_are_as_frequent_as_in_the_strata_whatever_the_size(per_query: int) -> None:
    design = Design.of(np.full(10, 0.1), np.arange(10) // 5, np.repeat([0.9, np.nan], 5))
    sample, ones = design.sample(1000, per_query)
    assert len(sample) == 1000 and sample.size == 1000 // per_query
    made = made_up(PLAN, sample, np.random.default_rng(1), ones)
    shares = [made.annotator.values[sample.strata == kind, 0].mean() for kind in (0, 1)]
    assert shares[0] == pytest.approx(0.9, abs=0.04)
    assert (0.2 < shares[1] < 0.3) == (per_query == 1), "as the rates say; more in queries with many matches"


def test_a_weighted_pilot_has_the_rates_of_its_build(build: Build) -> None:
    """Half and half by label the plain rates are 3 points and 20 points off."""
    sample, made = build.draw(6000, np.random.default_rng(5))
    found = from_pilot(PLAN, sample, made.people, made.annotator)
    assert found.annotator_accuracy == pytest.approx(0.94, abs=0.01)
    assert found.rater_accuracy == pytest.approx(0.9, abs=0.01)
    assert found.prevalence == pytest.approx(0.23, abs=0.02)
    plain = from_pilot(PLAN, Sample.of(sample.queries), made.people, made.annotator)
    assert plain.prevalence > 0.4 and plain.annotator_accuracy < 0.925
