"""Labels that went out in a release and came back: whose they are, though an import calls them original data.

An imported release keeps who gave each label, by the hash of their configuration (`version`). Where that is
an annotator of this database, or a study of it, the labels are theirs: to compare with them, or to compare
them, is the same as with the labels that never left. A release of somebody else's stays original data.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.db.models import Exists, OuterRef, Q, QuerySet, TextField
from django.db.models.fields.json import KT
from django.db.models.functions import Cast

from annotation.models import Study
from retrieval.models import Annotator, Label, Source
from retrieval.models.labels import version_hash

FROM_STUDIES: Final = (Source.STUDY, Source.ADJUDICATED, Source.REVIEWS)
"""What a release says of labels that a study published; reviews where its raters saw something of agents."""


def config_of(study: Study) -> dict[str, Any]:
    """What decides the study's published labels: its annotator's configuration."""
    return {
        "study": study.name,
        "plan_hash": study.plan_hash,
        "reference": study.reference,
        "rule": "strict majority of the planned quorum, else adjudication",
    }


def find_original_annotator(annotator: Annotator) -> Annotator:
    """The annotator of this database that gave the labels; itself where they are its own."""
    told = told_version(annotator)
    if not told:
        return annotator
    return _own().filter(version=told).order_by("pk").first() or annotator


def told_version(annotator: Annotator) -> str:
    """The version of who gave the labels, by the release that they came in; empty for others."""
    if annotator.kind != Annotator.Kind.ORIGINAL or "given_by" not in annotator.config:
        return ""
    return str(annotator.config.get("version", ""))


def planned_as(annotator: Annotator) -> Study | None:
    """The study of this database whose plan the labels of a release are by, published here or not."""
    told = told_version(annotator)
    if not told or annotator.config["given_by"] not in FROM_STUDIES:
        return None
    known = Study.objects.exclude(plan_hash="")
    return next((study for study in known if version_hash(config_of(study)) == told), None)


def find_annotator_copies() -> QuerySet[Annotator]:
    """The annotators of imported releases whose labels an annotator of this database gave."""
    return _imported().filter(Q(told__in=_own().values("version")))


def find_repeating_copies(pairs: QuerySet[Any, Any] | Sequence[int]) -> list[int]:
    """The copies (ids) that say of these pairs only what the annotator they came from says here, too.

    A copy with a label of its own stays a row: a file can't speak for an annotator of this database.
    """
    return [copy.pk for copy in find_annotator_copies() if not _has_other_labels(copy, pairs)]


def _has_other_labels(copy: Annotator, pairs: QuerySet[Any, Any] | Sequence[int]) -> bool:
    """Whether a label of these pairs is not also one of the annotator that the copy came from."""
    same = Label.objects.filter(
        annotator=find_original_annotator(copy),
        pair=OuterRef("pair"),
        value=OuterRef("value"),
        scale=OuterRef("scale"),
    )
    labels = Label.objects.filter(annotator=copy, pair__in=pairs, value__isnull=False)
    return labels.exclude(Exists(same)).exists()


def copies_of(study: Study) -> QuerySet[Annotator]:
    """The annotators of imported releases whose labels are the study's."""
    published = Annotator.objects.filter(kind=Annotator.Kind.MERGE, config__study=study.name)
    planned = Q(told=version_hash(config_of(study)))
    return _imported().filter(Q(told__in=published.values("version")) | planned)


def _own() -> QuerySet[Annotator]:
    """All annotators that are not those of an imported release."""
    return Annotator.objects.exclude(kind=Annotator.Kind.ORIGINAL, config__has_key="given_by")


def _imported() -> QuerySet[Annotator]:
    rows = Annotator.objects.filter(kind=Annotator.Kind.ORIGINAL, config__has_key="given_by")
    # As a text: what is compared with a part of a JSON is read as JSON, too.
    return rows.alias(told=Cast(KT("config__version"), TextField()))
