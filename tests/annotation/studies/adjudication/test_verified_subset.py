"""A finished study as labels: majority of the planned quorum, then adjudication, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotation.models import Adjudication, AuditEvent, Condition, Study
from annotation.studies.adjudication import sealed_scores, verified_subset
from annotation.studies.adjudication.decisions import load_split_pairs
from annotation.studies.enrolment.repeat_rounds import RepeatPairFilter, ask_again
from annotation.studies.plan import plan, row_names
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.report import figures, rating_export
from annotation.studies.report.agreement_report import report_study_agreement
from annotation.studies.report.paper_latex import write_paper
from annotation.studies.report.tables import build_study_tables
from retrieval.models import Annotator, Label
from retrieval.models.labels import ADJUDICATED
from tests import factories, studies
from tests.annotation.studies.rated import agents, many_pairs, rate, rated_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    """Three pairs: 1 1 0, then 1 0 unsure, then 0 0 alone; a fourth rater of the first is excluded."""
    study = studies.study()
    raters = [studies.rater(name, study) for name in ("ruth", "sam", "tess")]
    for number, said in enumerate(((1, 1, 0), (1, 0, None), (0, 0)), 1):
        for rater, value in zip(raters, said, strict=False):
            studies.rated(rater, value, study.pairs.get(number=number))
    plan.freeze_plan(study)
    Study.objects.update(state=Study.State.CLOSED)
    study.refresh_from_db()
    return study


def adjudicate(study: Study, number: int, value: int | None) -> None:
    Adjudication.objects.create(
        study_pair=study.pairs.get(number=number),
        condition=studies.condition(study),
        value=value,
        cause="query",
        note="as decided",
        by=factories.ada(),
    )


def test_majorities_and_adjudications_are_published_once(study: Study) -> None:
    adjudicate(study, 2, 1)
    adjudicate(study, 1, 0)
    assert verified_subset.publish_verified_subset(study, factories.ada()) == 3
    labels = {label.pair_id: label for label in Label.objects.select_related("annotator")}
    values = [labels[pair.pair_id].value for pair in study.pairs.order_by("number")]

    assert values == [1, 1, 0]  # an adjudication never replaces a majority
    annotator = next(iter(labels.values())).annotator
    assert annotator.kind == Annotator.Kind.MERGE and "first study" in annotator.name
    assert annotator.config["plan_hash"] == study.plan_hash
    told = f"study {study.pk}, plan {study.plan_hash}"
    sources = [labels[pair.pair_id].source for pair in study.pairs.order_by("number")]
    assert sources == [told, f"{told}{ADJUDICATED}", told]
    assert verified_subset.find_published_annotator(study) == annotator
    assert not any(label.assisted for label in labels.values())
    assert {label.basis for label in labels.values()} == {"person"}
    assert AuditEvent.objects.filter(verb="study published").count() == 1
    with pytest.raises(StudyRefused, match="already"):
        verified_subset.publish_verified_subset(study, factories.ada())
    assert Label.objects.count() == 3


def test_what_is_open_has_no_label(study: Study) -> None:
    adjudicate(study, 2, None)
    verified_subset.publish_verified_subset(study, factories.ada())
    assert Label.objects.count() == 2
    assert verified_subset.count_undecided_samples(study) == 1


def test_excluded_raters_do_not_count(study: Study) -> None:
    study.enrolments.filter(pseudonym="R01").update(excluded=True)
    assert [one.value for one in verified_subset.verdicts_of_study(study)] == []


def test_the_planned_quorum_counts_not_who_came(study: Study) -> None:
    study.conditions.update(raters=5)
    assert verified_subset.verdicts_of_study(study) == []


def test_labels_of_one_rater_a_pair_are_not_published_as_true(study: Study) -> None:
    study.conditions.update(raters=1)
    with pytest.raises(StudyRefused, match="one rater"):
        verified_subset.publish_verified_subset(study, factories.ada())
    assert not Label.objects.exists()


def test_three_steps_are_published_as_exact_match(study: Study) -> None:
    Study.objects.update(scale=Study.Scale.STEPS)
    study.refresh_from_db()
    verified_subset.publish_verified_subset(study, factories.ada())
    assert set(Label.objects.values_list("value", "scale")) == {(0, "binary")}


@pytest.mark.parametrize(
    ("scale", "said", "published"),
    [
        (Study.Scale.STEPS, (2, 1, 0), 0),
        (Study.Scale.GRADED, (3, 2, 0), 2),
        (Study.Scale.GRADED, (3, 1, 0), 0),
    ],
)
def test_what_is_published_decided_and_counted_is_one_thing(
    scale: str, said: tuple[int, ...], published: int
) -> None:
    """Raters say three different things; two of them agree on whether it is a match."""
    study = rated_study([[value, 0] for value in said], scale=scale)
    rightly = agents(study, [int(published > 1), 0])
    plan.freeze_plan(study)
    Study.objects.update(state=Study.State.CLOSED)
    study.refresh_from_db()

    assert load_split_pairs(study) == [] and verified_subset.count_undecided_samples(study) == 0
    page, name = figures.compute_study_figures(study).page, row_names.format_annotator_name(rightly)
    assert page is not None
    row = next(one for one in page.table if one.name == name)
    assert (row.n, row.accuracy.value) == (2, 1)
    verified_subset.publish_verified_subset(study, factories.ada())
    annotator = verified_subset.find_published_annotator(study)
    pair = study.pairs.get(number=1).pair
    assert Label.objects.get(pair=pair, annotator=annotator).value == published


@pytest.mark.parametrize(
    "changes", [{"state": "running"}, {"kind": "pairwise"}, {"scale": "preference"}, {"frozen_at": None}]
)
def test_what_can_not_be_published(study: Study, changes: dict[str, object]) -> None:
    Study.objects.update(**changes)
    with pytest.raises(StudyRefused):
        verified_subset.publish_verified_subset(study, factories.ada())
    assert not Label.objects.exists()


def everything(study: Study, folder: Path) -> dict[str, object]:
    """All that anybody can take home of a study's figures, by what it is called."""
    found = figures.compute_study_figures(study)
    written = {path.name: path.read_text() for path in write_paper(study, folder)}
    return {
        **written,
        "page": found.page,
        "influence": found.influence,
        "tables": build_study_tables(found),
        "waiting": found.unscored,
        "unresolved": found.unresolved,
        "flow": found.flow,
        "report": report_study_agreement(study).as_json(),
        "ratings": list(
            rating_export.as_csv(rating_export.COLUMNS, rating_export.export_rating_revisions(study))
        ),
        "verdicts": verified_subset.verdicts_of_study(study),
        "undecided": verified_subset.count_undecided_samples(study),
    }


@pytest.mark.parametrize("purpose", Study.Purpose.values)
@pytest.mark.parametrize("reference", [Condition.Kind.OWN_TESTS, Condition.Kind.AGENTS_TESTS])
def test_publishing_changes_no_figure_of_the_study(purpose: str, reference: str, tmp_path: Path) -> None:
    """Neither as one annotator more, nor as a version that waits to be scored, a vote or a later round."""
    study = studies.study(conditions=(reference, Condition.Kind.READING), pairs=many_pairs(6))
    rate(study, reference, [[1, 0, 1, 0, 1, 0], [1, 0, 0, 0, 1, 1], [0, 1, None, 0, 0, 0]])
    rate(study, Condition.Kind.READING, [[1, 0, 1, 1, 1, 0], [0, 0, 0, 0, 1, 1], [1, 1, 0, 0, 0, 0]])
    Study.objects.update(purpose=purpose, margin=0.05, comparisons=[["agents", reference]])
    study.refresh_from_db()
    made = agents(study, [1, 0, 0, 0, 1, None])
    plan.freeze_plan(study)
    ask_again(study, RepeatPairFilter(slice="split"), "stricter now", factories.ada())
    for name, value in (("new-1", 1), ("new-2", 1), ("new-3", 0)):
        studies.rated(studies.rater(name, study, reference), value, study.pairs.get(number=3))
    adjudicate(study, 1, 1)
    if purpose == Study.Purpose.SEALED:
        sealed_scores.score_sealed_versions(study, [made], factories.ada())
    Study.objects.update(state=Study.State.CLOSED)
    study.refresh_from_db()

    before, mean = everything(study, tmp_path / "before"), figures.figures_of(study).page
    assert verified_subset.publish_verified_subset(study, factories.ada()) > 0
    assert everything(study, tmp_path / "after") == before
    assert figures.figures_of(study).page == mean
    with pytest.raises(StudyRefused, match="judged pairs" if study.purpose == "sealed" else "sealed"):
        sealed_scores.score_sealed_versions(
            study, [Annotator.objects.get(kind=Annotator.Kind.MERGE)], factories.ada()
        )


def test_what_another_study_published_of_the_pairs_is_an_annotator_like_any(study: Study) -> None:
    verified_subset.publish_verified_subset(study, factories.ada())
    theirs = Annotator.objects.get(kind=Annotator.Kind.MERGE)
    other = studies.study("another one")
    assert set(row_names.find_nonhuman_labels(other).values_list("annotator", flat=True)) == {theirs.pk}
    assert not row_names.find_nonhuman_labels(study).exists()


def test_a_study_stays_published_whose_plan_has_another_hash_by_now(study: Study) -> None:
    verified_subset.publish_verified_subset(study, factories.ada())
    study.plan_hash = "0" * 64
    study.save()
    with pytest.raises(StudyRefused, match="already"):
        verified_subset.publish_verified_subset(study, factories.ada())
    assert not row_names.find_nonhuman_labels(study).exists()
