"""A sealed study tells how good a version is only where that is counted, whatever page is asked.

Its published labels are an annotator's, and to hold a version against them is to score it. So a version is
scored first, by `sealed_scores.score_sealed_versions`, or it is not compared. The same holds for a benchmark
with its labels, and for both of them after an export and an import.
"""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.models import Study
from annotation.studies.label_import.released_labels import FROM_STUDIES, find_original_annotator
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.plan.row_names import JUDGES, format_annotator_name, study_of_annotator
from retrieval.models import Annotator, Benchmark, BenchmarkLabel, Label


def refuse_unscored(one: Annotator, other: Annotator) -> None:
    """Raises StudyRefused where one has a sealed study's labels, and the other one is not scored on it."""
    for truth, judge in ((one, find_original_annotator(other)), (other, find_original_annotator(one))):
        study = sealed_study_of_annotator(truth)
        if (
            study is not None
            and judge != find_original_annotator(truth)
            and is_unscored_version(study, judge)
        ):
            raise StudyRefused(
                f"{format_annotator_name(truth)} has the labels of the sealed study “{study}”: to compare "
                f"{format_annotator_name(judge)} with them is to score it. Score it on the study’s "
                "figures page first, "
                "where that is counted."
            )


def refuse_unscored_labels(first: Benchmark, second: Benchmark) -> None:
    """Raises StudyRefused where one benchmark has a sealed study's labels, and the other one those of a
    version that is not scored on it, of the same pairs.
    """
    for truth in find_sealed_annotators():
        for holder, other in ((first, second), (second, first)):
            for judge in find_overlapping_annotators(truth, holder, other):
                refuse_unscored(truth, judge)


def find_sealed_annotators() -> list[Annotator]:
    """The annotators that have a sealed study's labels."""
    if not Study.objects.filter(purpose=Study.Purpose.SEALED).exists():
        return []
    published = Q(kind=Annotator.Kind.MERGE, config__has_key="study")
    released = Q(kind=Annotator.Kind.ORIGINAL, config__given_by__in=[study.value for study in FROM_STUDIES])
    return [
        annotator
        for annotator in Annotator.objects.filter(published | released).order_by("pk")
        if sealed_study_of_annotator(annotator)
    ]


def find_overlapping_annotators(truth: Annotator, holder: Benchmark, other: Benchmark) -> QuerySet[Annotator]:
    """Whose labels `other` has of the pairs that have the truth's label in `holder`.

    Looked up from the truth's few labels: benchmarks have hundreds of thousands.
    """
    there = BenchmarkLabel.objects.filter(benchmark=holder, pair=OuterRef("pair"), label=OuterRef("pk"))
    pairs = Label.objects.filter(Exists(there), annotator=truth).order_by().values("pair")
    held = BenchmarkLabel.objects.filter(benchmark=other, pair__in=pairs, label__isnull=False)
    return Annotator.objects.filter(pk__in=held.values("label__annotator")).order_by("pk")


def is_open(one: Annotator, other: Annotator) -> bool:
    """Whether the two may be compared."""
    try:
        refuse_unscored(one, other)
    except StudyRefused:
        return False
    return True


def sealed_study_of_annotator(annotator: Annotator) -> Study | None:
    """The sealed study whose published labels the annotator has."""
    study = study_of_annotator(annotator)
    return study if study is not None and study.purpose == Study.Purpose.SEALED else None


def is_unscored_version(study: Study, judge: Annotator) -> bool:
    """Whether it is a version that nobody has scored on the study.

    Labels that came with data are none, unless they are a version's of this database (see `meant`).
    """
    if judge.kind not in JUDGES or judge.kind == Annotator.Kind.ORIGINAL:
        return False
    return not study.scorings.filter(annotator=judge).exists()
