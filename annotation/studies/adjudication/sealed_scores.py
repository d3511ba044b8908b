"""Score annotator versions on a sealed study: each is counted and shown for ever, so somebody has to say so.

On a development study every version is in the figures at once, and nothing is counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import Rating, Scoring, Study
from annotation.studies.audit_log import Verb, append_audit_event
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.report import figure_data
from retrieval.models import Annotator


def score_sealed_versions(
    study: Study, annotators: Sequence[Annotator], by: User | None
) -> tuple[Scoring, ...]:
    """Take these versions into the figures; those that were scored before stay as they are.

    Returns the scorings that are new. Raises StudyRefused.
    """
    refuse_sealed_scoring(study, annotators)
    with transaction.atomic():
        made = []
        for annotator in annotators:
            scoring, new = Scoring.objects.get_or_create(
                study=study, annotator=annotator, defaults={"by": by}
            )
            if new:
                detail = {"annotator": str(annotator), "version": annotator.version}
                append_audit_event(by, Verb.VERSION_SCORED, f"{annotator} on {study.name}", study, detail)
                made.append(scoring)
    return tuple(made)


def refuse_sealed_scoring(study: Study, annotators: Iterable[Annotator]) -> None:
    """Raises StudyRefused where nothing is scored like this."""
    if study.purpose != Study.Purpose.SEALED:
        raise StudyRefused("Only on a sealed study versions are scored; this one shows them all.")
    if not Rating.objects.filter(assignment__enrolment__study=study).exists():
        raise StudyRefused("Nobody has rated a pair yet: there is nothing to score against.")
    known = {label.pk for label in figure_data.load_annotator_labels(study)}
    if not {annotator.pk for annotator in annotators} <= known:
        raise StudyRefused("Only an annotator that has judged pairs of the study can be scored on it.")


def find_unscored_versions(study: Study, versions: Sequence[str]) -> list[Annotator]:
    """The versions that wait to be scored, by the beginning of their version or by name; all for none.

    Raises StudyRefused for what names none of them.
    """
    waiting = figure_data.find_unscored_versions(study)
    if not versions:
        return list(waiting)
    found = {name: [version for version in waiting if is_named(version, name)] for name in versions}
    missing = [name for name, some in found.items() if not some]
    if missing:
        raise StudyRefused(f"No version that waits to be scored is called {missing[0]!r}.")
    return list({one.pk: one for some in found.values() for one in some}.values())


def is_named(annotator: Annotator, name: str) -> bool:
    return bool(name) and (annotator.name == name or annotator.version.startswith(name))
