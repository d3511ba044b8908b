"""How sure a study will be: with the usual rates, with typed ones, and with those of a pilot."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Study
from annotation.schemas.studies.studies import AssumedRates
from annotation.studies.plan.forecast import (
    Size,
    derive_forecast_assumptions,
    find_smallest_study,
    simulate_study_precision,
    size_of,
)
from annotation.studies.plan.plan import StudyRefused
from tests import studies
from tests.annotation.studies.rated import agents, rated_study

pytestmark = pytest.mark.django_db
SIZE = Size(40, 1, 3, 1, 0.05, 100, 2.0, 30.0)
# Three raters, each wrong on one pair of twenty, another one each; the agents on two of twenty.
RATERS = [[int(pair % 4 == 0) ^ int(pair == wrong) for pair in range(20)] for wrong in (1, 5, 9)]
AGENTS = [int(pair % 4 == 0) ^ int(pair in (2, 6)) for pair in range(20)]


@pytest.fixture
def pilot() -> Study:
    study = rated_study(RATERS)
    agents(study, AGENTS)
    return study


def test_the_usual_rates_and_typed_ones_are_told_apart() -> None:
    usual, source = derive_forecast_assumptions(SIZE, AssumedRates())
    assert source == "the planner’s usual ones" and usual.rater_accuracy == 0.9
    typed, source = derive_forecast_assumptions(SIZE, AssumedRates(rater_accuracy=0.8))
    assert source == "assumed, as typed" and typed.rater_accuracy == 0.8
    assert typed.prevalence == usual.prevalence and typed.wage == 30


def test_a_study_that_is_too_large_to_be_simulated_says_so() -> None:
    assumed, source = derive_forecast_assumptions(replace(SIZE, pairs=6001), AssumedRates())
    assert assumed.pairs == 6000 and source.endswith("; 6,000 pairs, as more can’t be simulated")
    assert "simulated" not in derive_forecast_assumptions(replace(SIZE, pairs=6000), AssumedRates())[1]


def test_a_pilot_says_how_often_who_errs(pilot: Study) -> None:
    found, source = derive_forecast_assumptions(
        SIZE, AssumedRates(pilot=pilot.pk, rater_accuracy=0.5, clustering=0.0)
    )
    assert "the pilot “first study”: own tests, " in source and "20 pairs" in source
    assert found.prevalence == 0.25
    assert found.rater_accuracy == pytest.approx(0.95, abs=0.01)  # no matter what was typed
    assert found.annotator_accuracy == pytest.approx(0.9, abs=0.02)
    assert found.clustering == 0.0  # one pair a query tells nothing: as typed
    assert found.skipped == 0.0


def test_an_interim_pilot_says_so(pilot: Study) -> None:
    pilot.pairs.get(number=1).quotas.update(wanted=4)
    assert derive_forecast_assumptions(SIZE, AssumedRates(pilot=pilot.pk))[1].endswith(", interim")


def test_what_is_no_pilot_is_refused(pilot: Study) -> None:
    for kind in ("draft", "nobody rated"):
        state = Study.State.DRAFT if kind == "draft" else Study.State.RUNNING
        empty = studies.study(kind, state=state)
        with pytest.raises(StudyRefused, match="pilot"):
            simulate_study_precision(SIZE, AssumedRates(pilot=empty.pk))
    with pytest.raises(StudyRefused, match="lies between 0 and 1"):
        simulate_study_precision(SIZE, AssumedRates(prevalence=1.0))


def test_versions_that_nobody_has_scored_are_no_pilot_of_a_sealed_study() -> None:
    study = rated_study(RATERS, purpose=Study.Purpose.SEALED)
    agents(study, AGENTS)
    with pytest.raises(StudyRefused, match="none is scored"):
        simulate_study_precision(SIZE, AssumedRates(pilot=study.pk))


def test_the_answer_is_in_pairs_raters_hours_and_money() -> None:
    told = find_smallest_study(SIZE, AssumedRates(annotator_accuracy=0.99), studies=10)
    assert told is not None
    one = told.outlook
    assert one.pairs < 120 and one.labels == 3 * one.pairs and one.raters >= 3
    assert one.hours == pytest.approx(one.labels * 2 / 60)
    assert one.money == pytest.approx(30 * one.hours)
    assert find_smallest_study(SIZE, AssumedRates(annotator_accuracy=0.6), studies=10, most=60) is None


def test_a_stored_study_has_its_size(pilot: Study) -> None:
    size = size_of(pilot)
    assert (size.pairs, size.pairs_per_query, size.quorum, size.conditions) == (20, 1, 3, 1)
    assert size.minutes == 5  # own tests are assumed to take so long


def test_a_sample_by_strata_is_simulated_as_it_was_drawn(pilot: Study) -> None:
    """Half of 20 pairs are matches, of which the build has a quarter."""
    assert size_of(pilot).design is None
    for sampled, label in zip(pilot.pairs.order_by("number"), [1] * 10 + [0] * 10, strict=True):
        sampled.stratum, sampled.probability = ("match", 0.2) if label else ("no match", 0.2 / 3)
        sampled.save()
    pilot.sample = {"strata": [["match", 50, 10, 50, 50], ["no match", 150, 10, 150, 0]]}
    pilot.save()
    size = size_of(pilot)
    assert size.design is not None and size.design.effective == pytest.approx(0.8)
    told = simulate_study_precision(size, AssumedRates(prevalence=0.5, annotator_accuracy=0.9), 5)
    assert told.source == "assumed, as typed; matches by the labels of the strata"
    assert told.assumed.prevalence == pytest.approx(0.1875) and told.outlook.effective == pytest.approx(16)


def test_the_command_simulates_with_a_pilot(pilot: Study) -> None:
    plan = studies.study("next")
    out = StringIO()
    call_command("study", "plan", plan.name, "--simulate", "--pilot", pilot.name, stdout=out)
    told = json.loads(out.getvalue())
    assert told["rates"].startswith("the pilot “first study”") and told["pairs"] == 3
    assert told["assumed"]["prevalence"] == 0.25
    with pytest.raises(CommandError, match="no study called"):
        call_command("study", "plan", plan.name, "--simulate", "--pilot", "nobody")


def test_the_command_takes_what_is_kept_with_the_draft_and_what_is_typed_first(pilot: Study) -> None:
    plan = studies.study("next")
    plan.sample = plan.sample | {"rates": {"pilot": None, "prevalence": 0.4, "skipped": 0.1}}
    plan.save()
    out = StringIO()
    call_command("study", "plan", plan.name, "--simulate", "--prevalence", "0.3", stdout=out)
    told = json.loads(out.getvalue())
    assert (told["assumed"]["prevalence"], told["assumed"]["skipped"]) == (0.3, 0.1)


def test_a_pairwise_study_is_not_simulated() -> None:
    plan = studies.study("two", kind=Study.Kind.PAIRWISE, scale=Study.Scale.PREFERENCE)
    for asked in ("--simulate", "--needed"):
        with pytest.raises(CommandError, match="of agents against people"):
            call_command("study", "plan", plan.name, asked)


def test_the_command_says_that_the_builds_can_not_give_so_many_pairs(
    pilot: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["study", "plan", pilot.name, "--needed", "--annotator-accuracy", "0.99"]
    call_command(*asked)
    assert capsys.readouterr().err == ""  # what the sample was drawn from is not known
    pilot.sample = {"wish": {"size": 9, "per_query": 1}, "population": 40, "population_queries": 4, "room": 4}
    pilot.save()
    call_command(*asked)
    out, err = capsys.readouterr()
    assert json.loads(out)["pairs"] >= 30 and err.startswith(
        "At most 4 pairs can be drawn: there are 40 pairs"
    )
