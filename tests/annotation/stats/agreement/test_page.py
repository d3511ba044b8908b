"""The page as a whole: its rows, what is tested, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, fields, is_dataclass
from typing import Any

import numpy as np
import pytest

from annotation.stats.agreement.figures import Figure
from annotation.stats.agreement.labels import BadLabels, Labels
from annotation.stats.agreement.page import Page, Study, build_agreement_page
from annotation.stats.agreement.prediction_powered import Stratum
from annotation.stats.agreement.sample import Sample
from annotation.stats.agreement.scores import Treatment


def noisy(truth: np.ndarray[Any, Any], right: float, raters: int, seed: int) -> np.ndarray[Any, Any]:
    thrown = np.random.default_rng(seed).random((len(truth), raters)) < right
    return np.where(thrown, truth[:, None], 1 - truth[:, None])


def study(**more: Any) -> Study:
    """60 pairs of 60 queries, two strata, two conditions of three raters, an agent and an LLM."""
    truth = np.arange(60) % 3 == 0
    given = truth.astype(float)
    people = noisy(given, 0.9, 3, 1)
    people[5, 0] = np.nan
    defaults: dict[str, Any] = {
        "sample": Sample.of(np.arange(60), np.where(truth, 0.5, 0.25), truth.astype(int)),
        "conditions": (
            Labels.of_people("own tests", people),
            Labels.of_people("reading", noisy(given, 0.8, 3, 2)),
        ),
        "annotators": (
            Labels.of_annotator("agent", noisy(given, 0.93, 1, 3)[:, 0]),
            Labels.of_annotator("one LLM", noisy(given, 0.8, 1, 4)[:, 0]),
        ),
        "reference": "own tests",
        "margin": 0.05,
    }
    return Study(**{**defaults, **more})


def figures(found: Any) -> Iterator[Figure]:
    """Every figure of the page."""
    if isinstance(found, Figure):
        yield found
    elif is_dataclass(found):
        for field in fields(found):
            yield from figures(getattr(found, field.name))
    elif isinstance(found, dict):
        for value in found.values():
            yield from figures(value)
    elif isinstance(found, tuple):
        for value in found:
            yield from figures(value)


@pytest.fixture(scope="module")
def whole_page() -> Page:
    settled = np.full(60, 1.0)
    build = (Stratum(0, 160, 10), Stratum(1, 40, 35))
    return build_agreement_page(study(adjudicated=settled, build=build, built_by="agent"))


def test_rows_of_annotators_people_and_constants(whole_page: Page) -> None:
    assert [row.name for row in whole_page.table] == [
        "agent",
        "one LLM",
        "own tests",
        "reading",
        "always 0",
        "always 1",
    ]
    assert [row.name for row in whole_page.table if row.left_out] == ["own tests"]


def test_every_way_to_treat_open_pairs(whole_page: Page) -> None:
    assert set(whole_page.treated) == set(Treatment) - {Treatment.EXCLUDED}
    wrong, right = whole_page.treated[Treatment.WRONG][0], whole_page.treated[Treatment.RIGHT][0]
    seen = [row.accuracy.value or 0 for row in (wrong, whole_page.table[0], right)]
    assert seen == sorted(seen)


def test_those_who_made_the_reference_have_bounds_of_what_they_skipped() -> None:
    """The first rater skips every fifth pair of three who else agree; ties change nothing there."""
    values = np.ones((60, 3))
    values[::5, 0] = np.nan
    people = Labels.of_people("own tests", values, skipped=np.isnan(values))
    found = build_agreement_page(study(conditions=(people,), margin=None))
    rows = {way: next(row for row in table if row.left_out) for way, table in found.treated.items()}
    accuracy = {way: row.accuracy.value for way, row in rows.items()}
    weights = study().sample.weights
    skipped = weights[::5].sum() / weights.sum()
    assert accuracy[Treatment.WRONG] == pytest.approx(1 - 2 / 3 * skipped)
    assert accuracy[Treatment.RIGHT] == accuracy[Treatment.TIE_0] == 1


def test_nobody_adjudicated_then_there_is_no_such_table() -> None:
    assert Treatment.ADJUDICATED not in build_agreement_page(study()).treated


def test_a_stratum_of_equal_chances_is_a_plain_mean(whole_page: Page) -> None:
    assert set(whole_page.strata) == {0, 1}
    agent = whole_page.strata[1][0]
    assert agent.pairs == 20 and agent.accuracy.method == "Wilson"
    assert whole_page.table[0].accuracy.method == "Korn and Graubard"


def test_a_stratum_of_unequal_chances_is_weighted() -> None:
    """Two right pairs that stand for 2 each, two wrong ones that stand for 8: 4 ÷ 20, not ½."""
    sample = Sample.of(range(5), [0.5, 0.5, 0.125, 0.125, 0.125], [0, 0, 0, 0, 1])
    people, said = np.array([[1.0] * 3] * 5), np.array([1.0, 1, 0, 0, 1])
    found = build_agreement_page(
        Study(
            sample,
            (Labels.of_people("own tests", people),),
            (Labels.of_annotator("agent", said),),
            "own tests",
        )
    )
    agent = found.strata[0][0]
    assert agent.n == 4 and agent.accuracy.value == pytest.approx(0.2)
    assert agent.confusion.both == 2 and agent.accuracy.method == "Korn and Graubard"


def test_every_two_are_compared_once_and_corrected_together(whole_page: Page) -> None:
    pairs = [(one.first, one.second) for one in whole_page.comparisons]
    assert pairs == [
        ("agent", "one LLM"),
        ("agent", "reading"),
        ("one LLM", "reading"),
        ("agent", "own tests"),
        ("one LLM", "own tests"),
        ("reading", "own tests"),
    ]
    for one in whole_page.comparisons:
        assert one.p is not None and one.p_holm is not None and one.p <= one.p_holm
        assert one.margin is not None


def test_planned_comparisons_are_the_only_ones_and_the_only_ones_that_are_corrected_for() -> None:
    everything, planned = (
        build_agreement_page(study()),
        build_agreement_page(study(comparisons=(("own tests", "agent"), ("one LLM", "reading")))),
    )
    assert [(one.first, one.second) for one in planned.comparisons] == [
        ("agent", "own tests"),
        ("one LLM", "reading"),
    ]
    same = {(one.first, one.second): one for one in everything.comparisons}
    for one in planned.comparisons:
        other = same[one.first, one.second]
        assert (one.p, one.difference) == (other.p, other.difference)
        assert one.p_holm is not None and other.p_holm is not None and one.p_holm <= other.p_holm
    assert planned.alternatives == everything.alternatives


def test_the_people_of_another_condition_are_held_against_the_same_others(whole_page: Page) -> None:
    """Reading is right in 80 %, own tests in 90 %."""
    found = next(
        one for one in whole_page.comparisons if one.first == "reading" and one.second == "own tests"
    )
    assert found.method == "query bootstrap" and found.difference.value is not None
    assert -0.25 < found.difference.value < 0


def test_interim_figures_have_no_p() -> None:
    found = build_agreement_page(study(interim=True, margin=0.05))
    assert found.interim
    assert all(one.p is None and one.p_holm is None for one in found.comparisons)
    assert all(one.margin is None for one in found.comparisons)
    assert all(one.margin is None for one in found.alternatives)
    assert any(one.margin for one in build_agreement_page(study(margin=0.05)).comparisons)
    for one in found.alternatives:
        assert one.p is None and one.winning is None and "interim" in one.words
        assert all(rater.p is None and rater.wins is None for rater in one.raters)


def test_the_whole_build(whole_page: Page) -> None:
    assert whole_page.build is not None and whole_page.build.pairs == 200
    assert whole_page.build.error.low is not None
    assert build_agreement_page(study()).build is None


def test_the_page_exports_without_a_nan(whole_page: Page) -> None:
    json.dumps(asdict(whole_page), allow_nan=False)


def test_every_figure_without_a_value_or_an_interval_says_why(whole_page: Page) -> None:
    found = list(figures(whole_page))
    assert len(found) > 200
    for one in found:
        assert one.words or (one.value is not None and one.low is not None), one


def test_an_empty_study_has_a_page_of_reasons() -> None:
    nothing = np.zeros((0, 3))
    found = build_agreement_page(
        Study(
            Sample.of([]),
            (Labels.of_people("own tests", nothing),),
            (Labels.of_annotator("agent", nothing[:, 0]),),
            "own tests",
        )
    )
    assert found.pairs == 0
    assert all(one.value is None and one.words for one in figures(found))


def test_a_study_that_nobody_has_rated_yet_has_a_page_of_reasons() -> None:
    empty = Labels.of_people("own tests", np.full((60, 3), np.nan))
    found = build_agreement_page(study(conditions=(empty,), annotators=()))
    for one in figures(found):
        assert one.words or one.value is not None


def test_the_same_study_has_the_same_page() -> None:
    assert build_agreement_page(study()) == build_agreement_page(study())


def test_raters_called_otherwise_change_no_figure() -> None:
    one = study()
    turned = Labels.of_people("own tests", one.conditions[0].values[:, ::-1])
    other = build_agreement_page(study(conditions=(turned, one.conditions[1])))
    first = build_agreement_page(one)
    for mine, theirs in zip(first.table, other.table, strict=True):
        assert mine.accuracy.value == pytest.approx(theirs.accuracy.value)
    assert first.alternatives[0].difference.value == pytest.approx(other.alternatives[0].difference.value)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"reference": "nobody"}, "none of the conditions"),
        ({"annotators": (Labels.constant(0, 60), Labels.constant(0, 60))}, "one name"),
        ({"annotators": (Labels.constant(0, 59),)}, "as many labels"),
        ({"comparisons": (("agent", "nobody"),)}, "two rows"),
        ({"comparisons": (("agent", "agent"),)}, "two rows"),
    ],
)
def test_what_does_not_fit_is_refused(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(BadLabels, match=why):
        study(**wrong)
