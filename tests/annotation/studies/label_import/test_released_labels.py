"""Labels that came back in a release are whose they were: a sealed study's stay sealed."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Build, Case, Study
from annotation.studies.adjudication import sealed_scores
from annotation.studies.plan import row_names, seals
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.report import figure_data
from retrieval.collections.import_report import Options as ImportOptions
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.exporting.export_run import Options, export_benchmark
from retrieval.models import Annotator, Benchmark, Label
from retrieval.releases import import_release
from tests import factories, studies
from tests.annotation.studies.plan.test_seals import build, published, study, truth, versions

pytestmark = pytest.mark.django_db
__all__ = ["build", "study", "truth", "versions"]


def imported(of: Benchmark, folder: Path, name: str = "back") -> Benchmark:
    done = export_benchmark(of, "release", folder / name, Options())
    made = import_release(done.folder, name, ImportOptions()).benchmark
    assert made is not None
    return made


def giver(of: Benchmark, source: str) -> Annotator:
    """Who gave the labels of this source, as an import made them."""
    return Annotator.objects.get(name=of.name, kind=Annotator.Kind.ORIGINAL, config__given_by=source)


def elsewhere(copy: Annotator) -> None:
    """As if it had been exported by another database."""
    Annotator.objects.filter(pk=copy.pk).update(config={**copy.config, "version": "f" * 64})
    copy.refresh_from_db()


def test_a_sealed_studys_labels_are_its_own_however_they_come_back(
    build: Build, study: Study, truth: Annotator, tmp_path: Path
) -> None:
    made = published(build)
    again = imported(made, tmp_path)
    assert again.digest == made.digest
    copy = giver(again, "study")
    assert (seals.sealed_study_of_annotator(copy), seals.sealed_study_of_annotator(truth)) == (
        study,
        study,
    )
    with pytest.raises(StudyRefused, match="to score it"):
        seals.refuse_unscored(copy, build.annotator)
    seals.refuse_unscored(copy, truth)
    twice = giver(imported(again, tmp_path, "twice"), "study")
    assert seals.sealed_study_of_annotator(twice) == study
    sealed_scores.score_sealed_versions(study, [build.annotator], factories.ada())
    seals.refuse_unscored(copy, build.annotator)


def test_a_versions_labels_are_its_own_too(
    build: Build, versions: tuple[Benchmark, Benchmark], study: Study, truth: Annotator, tmp_path: Path
) -> None:
    copy = giver(imported(versions[0], tmp_path), "agent")
    for one, other in ((truth, copy), (copy, truth)):
        with pytest.raises(StudyRefused, match="to score it"):
            seals.refuse_unscored(one, other)
    sealed_scores.score_sealed_versions(study, [build.annotator], factories.ada())
    seals.refuse_unscored(truth, copy)


def test_neither_page_holds_one_against_the_other(
    ada: Client, build: Build, versions: tuple[Benchmark, Benchmark], study: Study, tmp_path: Path
) -> None:
    first, second = versions
    again = imported(second, tmp_path)
    copy = giver(again, "study")
    asked = {"of": "annotators", "first": str(copy.pk), "second": str(build.annotator_id)}
    assert ada.get(reverse("compare"), asked).status_code == 422
    assert ada.get(f"/api/annotators/{copy.pk}/comparison/{build.annotator_id}").status_code == 409
    compared = ada.get(reverse("benchmark-compare", args=[again.pk]), {"with": first.pk})
    assert compared.status_code == 422 and "to score it" in compared.content.decode()
    assert ada.get(reverse("benchmark-compare", args=[again.pk]), {"with": second.pk}).status_code == 200


def test_they_are_no_rows_of_the_sealed_studys_table(
    build: Build, versions: tuple[Benchmark, Benchmark], study: Study, tmp_path: Path
) -> None:
    imported(versions[0], tmp_path, "agents")
    imported(versions[1], tmp_path, "both")
    assert not figure_data.gather_figure_data(study).annotators
    assert figure_data.find_unscored_versions(study) == (build.annotator,)
    sealed_scores.score_sealed_versions(study, [build.annotator], factories.ada())
    assert list(figure_data.gather_figure_data(study).annotators) == [build.annotator]


def test_a_release_of_somebody_elses_stays_original_data(
    build: Build, study: Study, truth: Annotator, tmp_path: Path
) -> None:
    again = imported(published(build), tmp_path)
    copy = giver(again, "study")
    elsewhere(copy)
    assert seals.sealed_study_of_annotator(copy) is None
    seals.refuse_unscored(copy, build.annotator)
    seals.refuse_unscored(copy, truth)
    assert copy in figure_data.gather_figure_data(study).annotators, (
        "its labels judge the pairs, as other data does"
    )
    assert Label.objects.filter(annotator=copy).count() == 3


@pytest.fixture
def open_study(build: Build) -> Study:
    """A study of the build's three pairs that is not sealed."""
    pairs = [case.pair for case in Case.objects.filter(build=build, label__isnull=False).order_by("pk")]
    return studies.study(pairs=pairs)


def test_our_own_release_imported_again_is_no_second_row_of_a_study(
    build: Build, open_study: Study, tmp_path: Path
) -> None:
    copy = giver(imported(published(build), tmp_path), "agent")
    assert Label.objects.filter(annotator=copy).count() == 3
    assert list(figure_data.gather_figure_data(open_study).annotators) == [build.annotator]
    assert row_names.find_plannable_rows(open_study).annotators == (build.annotator,)


def test_a_release_that_says_something_else_of_a_pair_is_a_row_with_a_name_that_tells_so(
    build: Build, open_study: Study, tmp_path: Path
) -> None:
    """A file may name our agents' version, and have labels that they never gave."""
    copy = giver(imported(published(build), tmp_path), "agent")
    changed = Label.objects.filter(annotator=copy, value=0)
    assert changed.update(value=1) == 1
    assert list(figure_data.gather_figure_data(open_study).annotators) == [build.annotator, copy]
    name = f"{build.annotator.name} in back ({copy.version[:8]})"
    assert row_names.format_annotator_name(copy) == name


def test_original_data_that_comes_back_is_no_second_row(
    build: Build, open_study: Study, tmp_path: Path
) -> None:
    data = Annotator.objects.version(Annotator.Kind.ORIGINAL, "cosqa", {"source": "cosqa.json"})
    for sampled in open_study.pairs.all():
        Label.objects.create(pair=sampled.pair, annotator=data, value=1)
    assert build.mining is not None
    made = publish_benchmark(
        Order("data", build.mining.queries, build.mining.snippets, "as it came"), data.labels.all()
    )
    copy = giver(imported(made, tmp_path), "original")
    assert Label.objects.filter(annotator=copy).count() == 3
    assert set(figure_data.gather_figure_data(open_study).annotators) == {build.annotator, data}


def test_a_study_is_known_by_its_plan_where_its_own_labels_are_not(
    build: Build, study: Study, truth: Annotator, tmp_path: Path
) -> None:
    """As in a copy of the database that was made before the study was published."""
    copy = giver(imported(published(build), tmp_path), "study")
    Annotator.objects.filter(pk=truth.pk).update(version="0" * 64)
    assert seals.sealed_study_of_annotator(copy) == study
    Study.objects.update(plan_hash="another plan")
    assert seals.sealed_study_of_annotator(copy) is None
