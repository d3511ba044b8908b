"""Plans: their text and hash, freezing at the first rating, amendments, and what no amendment may change."""

from __future__ import annotations

import hashlib
import json

import pytest

from annotation.models import Amendment, AuditEvent, Condition, Study
from annotation.studies.plan import plan as planning
from annotation.studies.plan.plan import (
    StudyRefused,
    change_with_amendment,
    format_canonical_plan,
    freeze_plan,
    hash_plan,
    plan_of,
)
from tests import factories, studies

pytestmark = pytest.mark.django_db


def test_a_plan_names_raters_by_pseudonym_and_count_only() -> None:
    study = studies.study()
    studies.rater("zanzibar", study, capacity=7)
    plan = plan_of(study)

    assert plan["conditions"][0]["raters"] == [{"pseudonym": "R01", "capacity": 7}]
    assert "zanzibar" not in format_canonical_plan(plan)
    assert plan["guidelines"]["version"] == 1 and plan["sample"]["pairs"] == 3


def test_the_hash_is_that_of_the_canonical_text() -> None:
    plan = plan_of(studies.study())
    assert hash_plan(plan) == hashlib.sha256(format_canonical_plan(plan).encode()).hexdigest()
    assert format_canonical_plan(json.loads(format_canonical_plan(plan))) == format_canonical_plan(plan)


def test_freezing_keeps_the_plan_once() -> None:
    study = studies.study()
    freeze_plan(study)
    first = (study.plan, study.plan_hash, study.frozen_at)
    assert study.plan_hash == hash_plan(study.plan)
    Study.objects.filter(pk=study.pk).update(question="something else")
    freeze_plan(Study.objects.get(pk=study.pk))
    freeze_plan(study)

    study.refresh_from_db()
    assert (study.plan, study.plan_hash, study.frozen_at) == first
    assert AuditEvent.objects.filter(verb="plan frozen", study=study).count() == 1


def test_somebody_else_froze_it_meanwhile() -> None:
    study = studies.study()
    late = Study.objects.get(pk=study.pk)
    freeze_plan(study)
    freeze_plan(late)
    assert late.plan_hash == study.plan_hash


def test_what_was_changed_since_the_study_was_read_is_frozen_with_it() -> None:
    """A first rating that waits for an admin's change has read the study before it."""
    study = studies.study()
    late = Study.objects.get(pk=study.pk)
    with change_with_amendment(study, "", factories.ada()) as row:
        row.question = "Are agents as good as people?"
        row.save()
    freeze_plan(late)
    assert late.plan and late.plan["question"] == "Are agents as good as people?"
    assert late.plan_hash == hash_plan(plan_of(Study.objects.get(pk=study.pk)))


def test_choices_that_are_off_leave_no_trace_in_a_plan() -> None:
    study = studies.study()
    off = planning.plan_of(study)
    assert not {"profile_asked", "practice", "origin_shown"} & set(off)
    study.asks_profile = study.practice = study.shows_origin = True
    on = {"profile_asked": True, "practice": True, "origin_shown": True}
    assert planning.plan_of(study) == off | on


def test_that_labels_need_a_run_is_in_the_plan_of_own_tests_alone() -> None:
    own = planning.plan_of(studies.study(needs_run=True))
    reading = planning.plan_of(studies.study("second", (Condition.Kind.READING,), needs_run=True))
    assert own["own_tests_need_a_run"] is True and "own_tests_need_a_run" not in reading


def test_the_hash_depends_on_the_pairs() -> None:
    study = studies.study()
    before = planning.pairs_hash(study)
    study.pairs.filter(number=1).update(probability=0.5)
    assert planning.pairs_hash(study) != before


def test_before_the_freeze_a_change_is_no_amendment() -> None:
    study = studies.study()
    with change_with_amendment(study, "", factories.ada()) as row:
        row.question = "Are agents as good as people?"
        row.save()
    assert study.question == "Are agents as good as people?"
    assert not Amendment.objects.exists()


def test_after_it_a_change_is_an_amendment_with_both_plans() -> None:
    study = studies.study()
    freeze_plan(study)
    old = study.plan_hash
    with change_with_amendment(study, "the old margin was a slip", factories.ada()) as row:
        row.margin = 0.05
        row.save()
    made = Amendment.objects.get()

    assert (made.number, made.reason) == (1, "the old margin was a slip")
    assert (made.before["margin"], made.after["margin"]) == (None, 0.05)
    assert made.plan_hash == study.plan_hash != old
    assert study.plan == made.after
    assert AuditEvent.objects.filter(verb="plan amended").count() == 1


def change(study: Study, why: str, **columns: object) -> None:
    with change_with_amendment(study, why, factories.ada()) as row:
        for name, value in columns.items():
            setattr(row, name, value)
        row.save()


def test_an_amendment_needs_a_reason() -> None:
    study = studies.study()
    freeze_plan(study)
    with pytest.raises(StudyRefused, match="say why"):
        change(study, " ", margin=0.05)
    study.refresh_from_db()
    assert study.margin is None


@pytest.mark.parametrize(
    ("column", "value"),
    [("scale", "graded"), ("purpose", "sealed"), ("seed", 2), ("practice", True), ("needs_run", True)],
)
def test_what_is_fixed_is_refused_with_the_way_that_is_open(column: str, value: object) -> None:
    study = studies.study()
    freeze_plan(study)
    with pytest.raises(StudyRefused, match="no amendment may change"):
        change(study, "because", **{column: value})
    assert getattr(Study.objects.get(pk=study.pk), column) != value
    assert not Amendment.objects.exists()


def test_pairs_can_not_be_exchanged_after_the_freeze() -> None:
    study = studies.study()
    freeze_plan(study)
    study.pairs.filter(number=1).update(probability=0.5)
    with pytest.raises(StudyRefused, match="another study of it, with other pairs"):
        change(study, "because")


@pytest.mark.parametrize("margin", [0.0, 1.0])
def test_an_amendment_sets_no_margin_that_a_new_study_could_not_have(margin: float) -> None:
    study = studies.study(margin=0.05)
    freeze_plan(study)
    with pytest.raises(StudyRefused, match="above 0 and below 1"):
        change(study, "why not", margin=margin)
    assert Study.objects.get(pk=study.pk).margin == 0.05


def test_a_closed_study_is_history() -> None:
    study = studies.study(state=Study.State.CLOSED)
    with pytest.raises(StudyRefused, match="closed"):
        change(study, "because")


def test_a_comparison_of_no_row_is_refused_with_the_names_that_there_are() -> None:
    study = studies.study(conditions=("own_tests", "reading"))
    with pytest.raises(StudyRefused, match=r"no row “people”\. Its rows are own_tests, reading, always 0"):
        change(study, "because", comparisons=[["people", "reading"]])
    with pytest.raises(StudyRefused, match="the same row"):
        change(study, "because", comparisons=[["own tests", "own_tests"]])
    change(study, "because", comparisons=[["own tests", "reading"], ["always 0", "reading"]])
    assert study.comparisons == [["own tests", "reading"], ["always 0", "reading"]]


def test_what_was_frozen_with_a_name_of_no_row_can_still_be_amended_otherwise() -> None:
    study = studies.study(comparisons=[["nobody", "own_tests"]])
    freeze_plan(study)
    change(study, "a slip", margin=0.05)
    assert study.margin == 0.05


@pytest.mark.parametrize("columns", [{"margin": 0.05}, {"comparisons": [["always 0", "always 1"]]}])
def test_a_pairwise_study_is_given_no_comparison_afterwards(columns: dict[str, object]) -> None:
    study = studies.study(kind=Study.Kind.PAIRWISE, scale=Study.Scale.PREFERENCE)
    with pytest.raises(StudyRefused, match="no main table"):
        change(study, "because", **columns)
    Study.objects.filter(pk=study.pk).update(**columns)
    change(study, "they mean nothing", margin=None, comparisons=[])
    assert not Study.objects.get(pk=study.pk).comparisons
