"""Each annotator is scored by its own criterion: exact match, or 50 % match from “at least half” on."""

from __future__ import annotations

import pytest

from annotation.models import Condition, Study
from annotation.stats.agreement.figures import Figure
from annotation.studies.plan.row_names import format_annotator_name, table_rows_of_annotators
from annotation.studies.report.figures import Figures, compute_study_figures, confusion_pairs
from annotation.studies.report.methods_text import format_methods_paragraph
from annotation.studies.report.table import Table
from annotation.studies.report.tables import build_study_tables
from retrieval.models import Annotator, Label
from tests.annotation.studies.rated import rated_study

pytestmark = pytest.mark.django_db
STEPS = [[2, 2, 1, 1, 0, 0, 1, 2]] * 3
"""Three raters who agree: exact match of pairs 1, 2 and 8; 50 % match of these and of 3, 4 and 7."""


def single(study: Study, criterion: str, labels: list[int]) -> Annotator:
    config = {"model": "small-model", "criterion": criterion}
    made = Annotator.objects.version(Annotator.Kind.SINGLE_LLM, "single LLM", config)
    for sampled, label in zip(study.pairs.order_by("number"), labels, strict=True):
        Label.objects.create(pair=sampled.pair, annotator=made, value=label)
    return made


def tables_of(found: Figures) -> dict[str, Table]:
    return {table.key: table for table in build_study_tables(found)}


def accuracies(made: Table) -> dict[str, float | None]:
    """By row its accuracy."""
    column = made.columns.index("Accuracy")
    return {str(row[0]): cell.value for row in made.rows if isinstance(cell := row[column], Figure)}


def steps_study(**columns: object) -> tuple[Study, str, str]:
    """With two annotators, each right by its own criterion: the study and their names."""
    study = rated_study(STEPS, kind=Condition.Kind.READING, scale="steps", **columns)
    exact = single(study, "exact", [1, 1, 0, 0, 0, 0, 0, 1])
    half = single(study, "half", [1, 1, 1, 1, 0, 0, 1, 1])
    return study, format_annotator_name(exact), format_annotator_name(half)


def test_names_say_the_criterion_and_plans_may_still_leave_it_out() -> None:
    study, exact, half = steps_study()
    assert exact.startswith("single LLM, exact match, small-model (")
    assert half.startswith("single LLM, 50 % match, small-model (")
    rows = table_rows_of_annotators(study, Annotator.objects.filter(kind=Annotator.Kind.SINGLE_LLM))
    assert rows.called("single LLM, 50 % match") == half
    assert rows.called(half.replace("50 % match, ", "")) == half, "as names were before"


def test_each_annotator_is_held_against_its_own_truth() -> None:
    study, exact, half = steps_study()
    tables = tables_of(compute_study_figures(study))
    by_exact, by_half = accuracies(tables["main"]), accuracies(tables["main-half"])
    # By exact match 3 of 8 pairs are matches, by 50 % match 6 of 8.
    assert by_exact["always 1"] == pytest.approx(3 / 8) and by_half["always 1"] == pytest.approx(6 / 8)
    assert by_exact[exact] == by_half[half] == 1
    assert half not in by_exact and exact not in by_half
    assert tables["main"].title.endswith("exact match") and tables["main-half"].title.endswith("50 % match")


def test_both_alphas_are_told_alone_and_with_an_annotator_of_the_same_criterion() -> None:
    study, exact, half = steps_study()
    rows = [row[:3] for row in tables_of(compute_study_figures(study))["alpha-criteria"].rows]
    assert rows == [
        ("exact match", "reading", "nobody"),
        ("exact match", "reading", exact),
        ("50 % match", "reading", "nobody"),
        ("50 % match", "reading", half),
    ]
    cells = [row[3] for row in tables_of(compute_study_figures(study))["alpha-criteria"].rows[::2]]
    shares = [cell.value for cell in cells if isinstance(cell, Figure)]
    assert shares == pytest.approx([3 / 8, 6 / 8])


def test_alphas_differ_where_raters_part_between_all_and_half() -> None:
    """They agree from half on: 50 % match has no disagreement, exact match has."""
    study = rated_study([[2, 1, 0, 0], [1, 2, 0, 0], [2, 2, 0, 0]], kind="reading", scale="steps")
    one, other = (row[4] for row in tables_of(compute_study_figures(study))["alpha-criteria"].rows)
    assert isinstance(one, Figure) and isinstance(other, Figure)
    assert one.value is not None and one.value < 0.6 and other.value == 1


def test_a_cell_lists_pairs_by_the_rows_own_criterion() -> None:
    study, exact, half = steps_study()
    both = {name: len(confusion_pairs(study, name, 0)) for name in (exact, half)}
    assert both == {exact: 3, half: 6}


def test_annotators_of_two_criteria_are_not_compared_and_that_is_said() -> None:
    study, exact, half = steps_study()
    study.comparisons = [[exact, half], [half, "reading"], [exact, "reading"]]
    tables = tables_of(compute_study_figures(study))
    assert [row[:2] for row in tables["comparisons"].rows] == [(exact, "reading")]
    assert [row[:2] for row in tables["comparisons-half"].rows] == [(half, "reading")]
    assert "one judges by exact match, the other by 50 % match" in tables["comparisons"].warning


def test_methods_say_it() -> None:
    study, _, _ = steps_study()
    assert "by its own criterion" in format_methods_paragraph(compute_study_figures(study))


def test_where_raters_were_asked_for_exact_match_alone_the_table_says_who_judges_otherwise() -> None:
    study = rated_study([[1, 1, 0, 0]] * 3, kind="reading")
    half = format_annotator_name(single(study, "half", [1, 1, 1, 0]))
    found = compute_study_figures(study)
    tables = tables_of(found)
    assert "main-half" not in tables and accuracies(tables["main"])[half] == pytest.approx(3 / 4)
    assert f"By 50 % match judges {half}" in tables["main"].note
    assert "by its own criterion" not in format_methods_paragraph(found)
