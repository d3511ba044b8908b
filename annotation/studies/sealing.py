"""A sealed study tells how good a version is only where that is counted, whatever page is asked.

Its published labels are an annotator's, and to hold a version against them is to score it. So a version is
scored first, by `scoring.score`, or not compared: neither itself, nor a benchmark that has its labels, nor
either of them as it came back in a release.
"""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation.models import Study
from annotation.studies.naming import JUDGES, name_of, study_of
from annotation.studies.planning import StudyRefused
from annotation.studies.released import FROM_STUDIES, meant
from retrieval.models import Annotator, Benchmark, BenchmarkLabel, Label


def refuse_unscored(one: Annotator, other: Annotator) -> None:
    """Raises StudyRefused where one has a sealed study's labels, and the other one is not scored on it."""
    for truth, judge in ((one, meant(other)), (other, meant(one))):
        study = sealed(truth)
        if study is not None and judge != meant(truth) and waits(study, judge):
            raise StudyRefused(
                f"{name_of(truth)} has the labels of the sealed study “{study}”: to compare "
                f"{name_of(judge)} with them is to score it. Score it on the study’s figures page first, "
                "where that is counted."
            )


def refuse_unscored_labels(first: Benchmark, second: Benchmark) -> None:
    """Raises StudyRefused where one benchmark has a sealed study's labels, and the other one those of a
    version that is not scored on it, of the same pairs.
    """
    for truth in truths():
        for holder, other in ((first, second), (second, first)):
            for judge in met(truth, holder, other):
                refuse_unscored(truth, judge)


def truths() -> list[Annotator]:
    """The annotators that have a sealed study's labels."""
    if not Study.objects.filter(purpose=Study.Purpose.SEALED).exists():
        return []
    published = Q(kind=Annotator.Kind.MERGE, config__has_key="study")
    released = Q(kind=Annotator.Kind.ORIGINAL, config__given_by__in=[one.value for one in FROM_STUDIES])
    return [one for one in Annotator.objects.filter(published | released).order_by("pk") if sealed(one)]


def met(truth: Annotator, holder: Benchmark, other: Benchmark) -> QuerySet[Annotator]:
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


def sealed(annotator: Annotator) -> Study | None:
    """The sealed study whose published labels the annotator has."""
    study = study_of(annotator)
    return study if study is not None and study.purpose == Study.Purpose.SEALED else None


def waits(study: Study, judge: Annotator) -> bool:
    """Whether it is a version that nobody has scored on the study.

    Labels that came with data are none, unless they are a version's of this database (see `meant`).
    """
    if judge.kind not in JUDGES or judge.kind == Annotator.Kind.ORIGINAL:
        return False
    return not study.scorings.filter(annotator=judge).exists()
