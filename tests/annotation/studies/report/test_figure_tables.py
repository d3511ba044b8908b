"""The tables beside the main one: planned comparisons, influence, tags, choices between two."""

from __future__ import annotations

import json

import pytest

from annotation.models import (
    Condition,
    Rating,
    Study,
    StudyPair,
)
from annotation.stats.agreement.conditions import Range
from annotation.stats.agreement.figures import Figure
from annotation.studies.plan.row_names import format_annotator_name
from annotation.studies.report.figures import (
    compute_study_figures,
    figures_of,
)
from annotation.studies.report.formats import format_table_json
from annotation.studies.report.latex import as_latex
from annotation.studies.report.tables import build_study_tables, format_figure_range, whole_if
from annotation.web.studies.figures import cell_view
from retrieval.models import Annotator
from tests import factories, studies
from tests.annotation.studies.rated import (
    PAIRS,
    agents,
    many_pairs,
    pairwise,
    rate,
    rated_study,
)

pytestmark = pytest.mark.django_db

Kind = Condition.Kind


def test_only_the_planned_comparisons_are_tested() -> None:
    study = rated_study([[1, 0, 1, 0]] * 3)
    one = agents(study, [1, 0, 1, 1], "one")
    agents(study, [1, 1, 1, 1], "two")
    study.comparisons = [
        [format_annotator_name(one), "own_tests"],
        [format_annotator_name(one), "nobody any more"],
    ]
    study.save()
    found = figures_of(study).page
    assert found
    assert [(row.first, row.second) for row in found.comparisons] == [
        (format_annotator_name(one), "own tests")
    ]


def test_a_plan_may_name_rows_in_short_and_of_two_versions_means_the_one_that_was_sampled() -> None:
    study = rated_study([[1, 0, 1, 0]] * 3)
    other, one = agents(study, [1, 1, 1, 1], "two"), agents(study, [1, 0, 1, 1], "one")
    study.builds.add(factories.launched("sampled", annotator=one))
    study.comparisons = [["agents", "own_tests"], ["Agents", "always 0"], [f"{other.name}, two", "own tests"]]
    study.save()
    found = figures_of(study)
    assert found.page and not found.unresolved
    assert [(row.first, row.second) for row in found.page.comparisons] == [
        (format_annotator_name(one), "own tests"),
        (format_annotator_name(one), "always 0"),
        (format_annotator_name(other), "own tests"),
    ]


def test_a_planned_comparison_without_its_rows_is_told_and_no_other_one_takes_its_place() -> None:
    study = rated_study([[1, 0, 1, 0]] * 3)
    one, other = agents(study, [1, 0, 1, 1], "one"), agents(study, [1, 1, 1, 1], "two")
    study.comparisons = [["agents", "reading"], ["agents", "own_tests"]]
    study.save()
    found = figures_of(study)
    assert found.page and found.page.comparisons == ()
    no_row, several = found.unresolved
    assert (
        "no row" not in several
        and format_annotator_name(one) in several
        and format_annotator_name(other) in several
    )
    assert "could be any of" in no_row
    table = next(table for table in build_study_tables(found) if table.key == "comparisons")
    assert table.rows == () and "Not compared: agents vs own_tests" in table.warning
    assert "Not compared" in json.loads(format_table_json(table))["warning"] and "Not compared" in as_latex(
        table
    )


def test_alpha_with_one_annotator_more_has_its_interval_or_says_why_not() -> None:
    study = rated_study([[1, 0, 1, 0, 1, 0, 1, 0], [1, 0, 1, 0, 1, 0, 1, 1], [1, 0, 1, 0, 1, 0, 0, 0]])
    one = agents(study, [1, 0, 1, 0, 1, 0, 1, 0])
    table = next(
        table for table in build_study_tables(figures_of(study)) if table.key == "alpha-with-one-more"
    )
    ((condition, name, figure),) = table.rows
    assert (condition, name) == ("own tests", format_annotator_name(one)) and isinstance(figure, Figure)
    assert figure.value is not None and figure.low is not None and figure.low < figure.value
    unanimous = rated_study([[1, 1]] * 3, name="unanimous", kind=Kind.READING)
    table = next(
        table for table in build_study_tables(figures_of(unanimous)) if table.key == "alpha-with-one-more"
    )
    figure = table.rows[0][2]
    assert isinstance(figure, Figure) and figure.low is None
    footnotes: dict[str, int] = {}
    assert cell_view("Alpha", figure, None, footnotes).note == 1
    assert "too often for an interval; 502 of 1,000 draws have no value" in next(iter(footnotes))


def test_labels_stand_beside_those_that_the_plan_asks_for() -> None:
    study = rated_study([[1, 0, None, 0], [1, None, 1, 1], [1, 0, 0, 1]])
    table = next(table for table in build_study_tables(figures_of(study)) if table.key == "reliability")
    (row,) = (dict(zip(table.columns, row, strict=True)) for row in table.rows)
    assert (row["Labels"], row["Labels planned"]) == (10, 12)


def test_a_table_says_what_it_leaves_out_and_what_it_rests_on() -> None:
    """Eleven raters are 55 twos, of which 45 are shown."""
    study = rated_study([[1, 0]] * 11)
    agents(study, [1, 0])
    notes = {table.key: table.note for table in build_study_tables(figures_of(study))}
    assert "Left out are 10 more" in notes["kappas"]
    assert "at ε = 0.2; 0.5 or more passes" in notes["alternatives"]


def test_a_sum_of_thirds_that_misses_a_whole_number_is_printed_as_one() -> None:
    assert [str(whole_if(count)) for count in (2.0000000000000004, 2.9999999999999996, 4 / 3)] == [
        "2",
        "3",
        "1.33",
    ]


def test_figures_by_tag_are_of_the_pairs_that_carry_it_as_it_stands() -> None:
    study = rated_study([[1, 0, 1, 0]] * 3)
    agents(study, [1, 1, 0, 0])
    first, second, third = Rating.objects.order_by("pk")[:3]
    Rating.objects.filter(pk__in=[first.pk, second.pk]).update(tags=["inverse"])
    Rating.objects.filter(pk=third.pk).update(tags=["partial"])
    Rating.objects.create(
        assignment=third.assignment, value=1, revision=2, evidence="", supersedes=third, tags=["inverse"]
    )
    found = figures_of(study).page
    assert found and list(found.slices) == ["inverse"]
    row = next(row for row in found.slices["inverse"] if "small-model" in row.name)
    assert row.n == 3
    assert row.accuracy.value == pytest.approx(1 / 3)
    table = next(table for table in build_study_tables(figures_of(study)) if table.key == "tags")
    assert {line[0] for line in table.rows} == {"inverse"}


def test_choices_between_two_know_their_sides() -> None:
    study = pairwise()
    found = figures_of(study)
    assert found.page is None
    assert found.preference
    assert (found.preference.choices, found.preference.ties) == (8, 1)
    assert found.preference.decided.value == pytest.approx(6 / 7)
    assert found.preference.left.value == pytest.approx(6 / 7)


def test_it_is_said_whose_matches_the_first_snippets_are() -> None:
    study, told = pairwise(), "First functions are matches of"
    (table,) = (one for one in build_study_tables(figures_of(study)) if one.key == "preference")
    assert told not in table.note
    zoo, farm = factories.opened("zoo"), factories.opened("farm")
    source = Annotator.objects.version(Annotator.Kind.ORIGINAL, "CoSQA", {})
    for sample, sides in (
        ({"builds": [farm.pk, zoo.pk], "against": None}, "the build “farm”, second ones of the build “zoo”."),
        (
            {"builds": [zoo.pk], "against": source.pk},
            f"the build “zoo”, second ones of the labels “{source}”.",
        ),
    ):
        Study.objects.filter(pk=study.pk).update(sample=sample)
        (table,) = (
            one
            for one in build_study_tables(compute_study_figures(Study.objects.get()))
            if one.key == "preference"
        )
        assert table.note.startswith(f"{told} {sides}")


def test_choices_are_told_by_condition_with_their_weights_and_with_agreement() -> None:
    study = studies.study(
        conditions=(Kind.READING, Kind.OWN_TESTS),
        pairs=many_pairs(4),
        raters=2,
        kind=Study.Kind.PAIRWISE,
        scale=Study.Scale.PREFERENCE,
    )
    study.pairs.filter(number=1).update(probability=0.25)
    rate(study, Kind.READING, [[1, -1, -1, -1], [1, -1, -1, -1]])
    rate(study, Kind.OWN_TESTS, [[1, 1, -1, -1], [-1, -1, 1, 1]])
    found = figures_of(study)
    reading, own = found.chosen
    assert (reading.condition, reading.preference.choices) == ("reading", 8)
    assert reading.preference.decided.value == pytest.approx(4 / 7), "one pair stands for four"
    assert reading.alpha.value == 1 and own.alike.value == 0
    assert own.alpha.value is not None and own.alpha.value < 0
    table = next(table for table in build_study_tables(found) if table.key == "preference")
    assert [line[0] for line in table.rows] == ["reading", "own tests", "all conditions"]


def test_reveal_is_held_against_a_second_look() -> None:
    study = studies.study(conditions=(Kind.REVEAL, Kind.SECOND_LOOK), pairs=many_pairs(), raters=3)
    build = factories.opened()
    agent = agents(study, [1] * PAIRS)
    for sampled, case in zip(study.pairs.all(), factories.cases(build), strict=False):
        case.annotator = agent
        case.save()
        sampled.case = case
        sampled.save()
    for kind, phase in ((Kind.REVEAL, Rating.Phase.REVISED), (Kind.SECOND_LOOK, Rating.Phase.SECOND_LOOK)):
        for rater in rate(study, kind, [[0] * PAIRS] * 3):
            for done in rater.assignments.all():
                value = int(kind == Kind.REVEAL)
                Rating.objects.create(assignment=done, phase=phase, revision=1, value=value, evidence="")
    found = figures_of(study)
    assert found.influence
    assert found.influence.towards.revealed.value == 1
    assert found.influence.towards.second_look.value == 0
    assert found.influence.towards.influence.value == 1


def test_labels_given_with_the_agents_test_on_screen_are_no_truth_of_influence() -> None:
    study = studies.study(conditions=(Kind.REVEAL, Kind.AGENTS_TESTS), pairs=many_pairs(), raters=2)
    agent = agents(study, [1] * PAIRS)
    for sampled, case in zip(study.pairs.all(), factories.cases(factories.opened()), strict=False):
        case.annotator = agent
        case.save()
        StudyPair.objects.filter(pk=sampled.pk).update(case=case)
    rate(study, Kind.AGENTS_TESTS, [[1] * PAIRS] * 2)
    (rater,) = rate(study, Kind.REVEAL, [[0] * PAIRS])
    for done in rater.assignments.all():
        Rating.objects.create(assignment=done, phase=Rating.Phase.REVISED, revision=1, value=1, evidence="")
    found = figures_of(study)
    assert found.influence
    assert found.influence.without_truth == found.influence.revealed == PAIRS
    assert found.influence.right_advice.revealed.value is None
    note = next(table for table in build_study_tables(found) if table.key == "influence").note
    assert f"{PAIRS} labels after reveal, 0 in a second look. For {PAIRS} labels" in note


def test_a_range_has_the_minus_of_all_other_figures() -> None:
    assert format_figure_range(Range(-0.5, 0.24)) == "−0.500 to 0.240"
