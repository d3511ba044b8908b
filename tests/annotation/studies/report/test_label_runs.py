"""How many labels rest on a finished run: in the figures and in the methods paragraph."""

from __future__ import annotations

import pytest

from annotation.builds.pipeline.execution import SandboxProvider, fulfil_one
from annotation.models import Condition, Rating, Study
from annotation.studies.rating.runs import run_rater_test
from annotation.studies.report.figures import compute_study_figures
from annotation.studies.report.label_runs import LabelRuns, count_label_runs
from annotation.studies.report.methods_text import format_methods_paragraph
from annotation.studies.report.tables import build_study_tables
from sandbox.program import Limits
from tests import factories, studies
from tests.fakes import FakeSandbox

pytestmark = pytest.mark.django_db
Kind = Condition.Kind


def study_with_runs() -> Study:
    """Three labels and an unsure one: a run before the label, a reason, neither; unsure."""
    study = studies.study(raters=2)
    rita, sam = (studies.rater(name, study) for name in ("rita", "sam"))
    tested, _, reasoned = (
        studies.rated(rita, 1),
        studies.rated(rita, 0),
        studies.rated(sam, 1, no_test="a printer"),
    )
    studies.rated(sam, None)
    asked = run_rater_test(tested.assignment, tested.assignment.study_pair.pair, "assert 1 == 1")
    fulfil_one(SandboxProvider(open=lambda: FakeSandbox(factories.a_report())), Limits())
    asked.refresh_from_db()
    assert asked.execution is not None
    Rating.objects.filter(pk=tested.pk).update(runs=[asked.pk], created_at=asked.execution.created_at)
    assert reasoned.no_test
    return study


def test_labels_with_a_run_with_a_reason_and_with_neither_are_told_apart() -> None:
    assert count_label_runs(study_with_runs()) == (LabelRuns("own tests", 3, 1, 1),)


def test_a_run_after_the_label_is_no_ground_of_it() -> None:
    study = study_with_runs()
    run = Rating.objects.exclude(runs=[]).get()
    Rating.objects.filter(pk=run.pk).update(created_at="2020-01-01T00:00:00Z")
    assert count_label_runs(study) == (LabelRuns("own tests", 3, 0, 1),)


def test_a_rating_that_was_taken_back_or_read_only_counts_nowhere() -> None:
    study = study_with_runs()
    Rating.objects.exclude(runs=[]).update(withdrawn=True)
    assert count_label_runs(study) == (LabelRuns("own tests", 2, 0, 1),)
    assert count_label_runs(studies.study("second", (Kind.READING,))) == ()


def test_figures_and_methods_say_the_share() -> None:
    found = compute_study_figures(study_with_runs())
    tables = {table.key: table for table in build_study_tables(found)}
    assert tables["runs"].rows == (("own tests", 3, 1, 1 / 3, 1, 1),)
    assert "Of 3 labels of the reference 1 (33%) have a finished run." in tables["main"].note
    told = format_methods_paragraph(found)
    assert r"Of 3 labels of the reference 1 (33.3\,\%) have a finished run" in told
    assert "A label needed a finished run" not in told


def test_a_reference_by_reading_says_nothing_of_runs() -> None:
    study = studies.study(conditions=(Kind.READING,), raters=3)
    for name in ("rita", "sam", "ted"):
        studies.rated(studies.rater(name, study), 1)
    found = compute_study_figures(study)
    assert found.reference_runs is None and "finished run" not in format_methods_paragraph(found)
