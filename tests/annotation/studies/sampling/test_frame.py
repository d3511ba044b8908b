"""The frame: each pair of the builds once, told apart by what agents made of it."""

from __future__ import annotations

import pytest

from annotation.models import Build, Execution
from annotation.schemas.studies.studies import Stratifier
from annotation.studies.sampling.frame import build_sampling_frame
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def build() -> Build:
    """Nine pairs: one examined and denied, two settled by the screener, one abandoned, five still open."""
    build = factories.opened()
    first, second, third, fourth = factories.cases(build)[:4]
    factories.examined(first, 0)
    factories.settled(second, 1)
    factories.settled(third, 0)
    factories.abandoned(fourth)
    return build


def strata(build: Build, *by: Stratifier) -> list[str]:
    return [unit.stratum for unit in build_sampling_frame([build], by)][:5]


def test_every_pair_is_there_by_query(build: Build) -> None:
    units = build_sampling_frame([build])
    assert len(units) == 9 and units == sorted(units, key=lambda unit: (unit.query, unit.pair))
    assert {unit.stratum for unit in units} == {""}
    assert {unit.case for unit in units} == set(build.cases.values_list("pk", flat=True))


def test_pairs_are_told_apart_by_each_criterion(build: Build) -> None:
    labels = ["no match", "match", "no match", "abandoned", "not judged yet"]
    assert strata(build, Stratifier.LABEL) == labels
    screened = ["screener unclear", "screener match", "screener no match", "not screened", "not screened"]
    assert strata(build, Stratifier.SCREENER) == screened
    assert strata(build, Stratifier.RANK) == ["rank 1", "rank 2 to 5", "rank 2 to 5", "rank 1", "rank 2 to 5"]
    Execution.objects.update(ran=True)
    assert strata(build, Stratifier.EXECUTABLE)[:2] == ["ran", "not executed"]
    Execution.objects.update(ran=False)
    assert strata(build, Stratifier.EXECUTABLE)[0] == "did not run"


def test_criteria_are_crossed(build: Build) -> None:
    assert strata(build, Stratifier.LABEL, Stratifier.RANK)[0] == "no match · rank 1"


def test_two_builds_have_a_pair_once_and_may_disagree(build: Build) -> None:
    again = factories.launched(
        "again", mining=build.mining, opened=True, annotator=factories.annotator(salt="2")
    )
    for case in factories.cases(build):
        factories.open_case(again, case.candidate)
    for case, label in zip(factories.cases(again), (1, 1), strict=False):
        factories.settled(case, label)
    units = build_sampling_frame([build, again], [Stratifier.DISAGREEMENT, Stratifier.LABEL])

    assert len(units) == 9
    assert [unit.stratum for unit in units[:2]] == ["disagree · no match", "agree · match"]
    assert build_sampling_frame([again, build], [Stratifier.LABEL])[0].stratum == "match"


def test_rounds_may_disagree() -> None:
    build = factories.said(factories.opened(rounds=2), (1, 1), (0, 1))
    units = build_sampling_frame([build], [Stratifier.DISAGREEMENT])
    assert len(units) == 9
    assert [unit.stratum for unit in units[:2]] == ["disagree", "agree"]


def test_what_is_planted_is_left_out(build: Build) -> None:
    pair = build_sampling_frame([build])[0].pair
    assert pair not in {unit.pair for unit in build_sampling_frame([build], without={pair})}
