"""Store labels that people gave elsewhere as a study without a build."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.models import ImportedRating, Study
from annotation.studies.audit_log import Verb, append_audit_event
from annotation.studies.label_import.foreign_labels import (
    ForeignLabel,
    Format,
    NotImported,
    read_foreign_labels,
)
from retrieval.texts.hostile import mark_hostile_characters

BATCH: Final = 2000
SCALES: Final = ((Study.Scale.BINARY, {0.0, 1.0}), (Study.Scale.STEPS, {0.0, 1.0, 2.0}))


def import_labels(path: Path, name: str, form: Format) -> Study:
    """The file as a closed study called `name`. Raises NotImported, and stores nothing, where a line, the
    name or the file is wrong.
    """
    checked = new_name(name)
    try:
        with path.open("rb") as stream:
            labels = read_foreign_labels(stream, form)
    except OSError as error:
        raise NotImported(f"{path} can't be read: {error.strerror or error}") from error
    try:
        with transaction.atomic():
            return store_imported_study(checked, labels, form, path.name)
    except IntegrityError as error:
        raise NotImported(describe_name_conflict(checked)) from error


def new_name(name: str) -> str:
    """The name as it is stored. Raises NotImported unless it is free and has 1 to 120 characters."""
    longest = Study._meta.get_field("name").max_length or 0
    found = mark_hostile_characters(name.strip())
    if not 0 < len(found) <= longest:
        raise NotImported(f"--name: expected 1 to {longest} characters, found {len(found)}.")
    if Study.objects.filter(name=found).exists():
        raise NotImported(describe_name_conflict(found))
    return found


def describe_name_conflict(name: str) -> str:
    return f"There is a study called {name!r} already; choose another --name."


def store_imported_study(name: str, labels: list[ForeignLabel], form: Format, file: str) -> Study:
    """The study with one row a label."""
    now = timezone.now()
    study = Study.objects.create(
        name=name,
        kind=Study.Kind.IMPORTED,
        scale=scale_of(labels, form),
        state=Study.State.CLOSED,
        planned_pairs=len({label.item_hash for label in labels}),
        sample={"format": form.value, "file": mark_hostile_characters(file), "labels": len(labels)},
        started_at=now,
        closed_at=now,
    )
    ImportedRating.objects.bulk_create(
        (build_imported_rating(study, label) for label in labels), batch_size=BATCH
    )
    append_audit_event(
        None, Verb.STUDY_MADE, name, study, {"labels": len(labels), "file": mark_hostile_characters(file)}
    )
    return study


def build_imported_rating(study: Study, label: ForeignLabel) -> ImportedRating:
    return ImportedRating(
        study=study,
        row=label.row,
        item=label.item_hash,
        item_text="\n".join(label.item),
        cluster=label.cluster_hash,
        rater=label.rater,
        value=label.value,
        notes=label.notes,
    )


def scale_of(labels: list[ForeignLabel], form: Format) -> Study.Scale:
    """The narrowest of our scales that has all the values; statistics read the values themselves."""
    values = {label.value for label in labels}
    fitting = (scale for scale, allowed in SCALES if form is Format.CSV and values <= allowed)
    return next(fitting, Study.Scale.GRADED)
