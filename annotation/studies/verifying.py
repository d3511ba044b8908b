"""A finished study as a verified subset: its reference's decisions become an annotator's labels.

A pair's label is what more than half of the *planned* quorum said in the reference condition, blind, or of
those who gave a value, where these are more (`quorum.settled`); where there is no such value, what was
adjudicated; else the pair has no label. Planted pairs and ratings of raters that an amendment excludes don't
count.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import Adjudication, Condition, Rating, Study, StudyPair
from annotation.studies.auditing import Verb, record
from annotation.studies.latest import rounds_of
from annotation.studies.naming import published_as, source_of
from annotation.studies.planning import StudyRefused
from annotation.studies.quorum import says_match, settled
from annotation.studies.released import config_of
from retrieval.models import Annotator, Basis, Label
from retrieval.models.labels import ADJUDICATED

SCALES: Final = {
    Study.Scale.BINARY.value: Label.Scale.BINARY,
    Study.Scale.STEPS.value: Label.Scale.BINARY,
    Study.Scale.GRADED.value: Label.Scale.GRADED,
}
"""The scale of what is published; the three steps are published as exact match."""
ASSISTED: Final = (Condition.Kind.AGENTS_TESTS,)
"""Conditions in which raters see what exists only because an agent judged the pair."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a study says of a pair; `by` is "majority" or "adjudication"."""

    study_pair: int
    pair: int
    value: int
    by: str


def verdicts(study: Study) -> list[Verdict]:
    """The decided pairs of the study, by number. A handful of queries."""
    reference = study.conditions.filter(kind=study.reference).first()
    if reference is None:
        return []
    said, decided = votes(reference), adjudicated(reference)
    found = []
    for pk, pair in study.pairs.filter(planted="").order_by("number").values_list("pk", "pair_id"):
        votes_of = list(said.get(pk, {}).values())
        value, by = settled(votes_of, study.scale, reference.raters), "majority"
        if value is None:
            value, by = decided.get(pk), "adjudication"
        if value is not None:
            found.append(Verdict(pk, pair, value, by))
    return found


def votes(condition: Condition) -> dict[int, dict[int, int | None]]:
    """The blind value of each rater, by study pair; of a pair that was asked again, the last round's."""
    standing = Rating.objects.current().counted()
    rows = standing.filter(assignment__condition=condition, phase=Rating.Phase.BLIND)
    found: dict[int, dict[int, int | None]] = defaultdict(dict)
    rounds = rounds_of(condition.study)
    columns = "assignment__study_pair_id", "assignment__rater_id", "assignment__round", "value"
    for pair, rater, number, value in rows.order_by("pk").values_list(*columns):
        if rounds.counts(pair, condition.pk, number):
            found[pair][rater] = value
    return found


def adjudicated(condition: Condition) -> dict[int, int | None]:
    """The standing decision on each pair that has one of its last round."""
    rows = Adjudication.objects.filter(condition=condition, superseded_by__isnull=True).order_by("pk")
    rounds = rounds_of(condition.study)
    found = rows.values_list("study_pair_id", "at", "value")
    return {pair: value for pair, at, value in found if not rounds.is_outdated(pair, condition.pk, at)}


def annotator_of(study: Study) -> Annotator:
    """The study as an annotator: its name, and its plan's hash as part of the version."""
    name = f"verified by {study.name}"[:120]
    return Annotator.objects.version(Annotator.Kind.MERGE, name, config_of(study))


def published(study: Study) -> Annotator | None:
    """The annotator of the study's labels, where they have been published."""
    found = Annotator.objects.filter(kind=Annotator.Kind.MERGE, config__study=study.name)
    return found.filter(labels__source__startswith=published_as(study)).first()


def publish(study: Study, by: User) -> int:
    """Publish the verdicts as labels, once; says how many. Raises StudyRefused."""
    with transaction.atomic():
        locked = Study.objects.select_for_update().get(pk=study.pk)
        found = ready(locked)
        annotator, scale = annotator_of(locked), SCALES[locked.scale]
        exact = locked.scale == Study.Scale.STEPS
        labels = [
            Label(
                pair_id=one.pair,
                annotator=annotator,
                value=int(says_match(one.value, locked.scale)) if exact else one.value,
                scale=scale,
                assisted=locked.reference in ASSISTED,
                source=source_of(locked) + (ADJUDICATED if one.by == "adjudication" else ""),
                basis=Basis.PERSON,
            )
            for one in found
        ]
        Label.objects.bulk_create(labels, batch_size=1000)
        detail = {"labels": len(labels), "annotator": annotator.version, "plan_hash": locked.plan_hash}
        record(by, Verb.STUDY_PUBLISHED, locked.name, locked, detail)
    return len(labels)


def ready(study: Study) -> list[Verdict]:
    """What would be published now. Raises StudyRefused."""
    refuse_bad(study)
    found = verdicts(study)
    if not found:
        raise StudyRefused("No pair has a decision of the reference: there is nothing to publish.")
    return found


def refuse_bad(study: Study) -> None:
    if study.kind != Study.Kind.RATING or study.scale not in SCALES:
        raise StudyRefused("Only a study that rates pairs has labels to publish.")
    if study.state != Study.State.CLOSED or not study.frozen_at:
        raise StudyRefused("Only a study that was rated and is closed can be published.")
    if published(study):
        raise StudyRefused("The study is published already.")


def undecided(study: Study) -> int:
    """How many sampled pairs have no decision."""
    return StudyPair.objects.filter(study=study, planted="").count() - len(verdicts(study))
