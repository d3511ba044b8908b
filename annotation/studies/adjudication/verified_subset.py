"""A finished study as a verified subset: its reference's decisions become an annotator's labels.

A pair's label is what more than half of the *planned* quorum said in the reference condition, blind, or of
those who gave a value, where these are more (`quorum.settle_votes`); where there is no such value, what was
adjudicated; else the pair has no label. Planted pairs and ratings of raters that an amendment excludes don't
count.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import Condition, Rating, Study, StudyPair
from annotation.models.reviews.labels_in_force import track_people
from annotation.studies.adjudication.decisions import decisions_of
from annotation.studies.adjudication.latest_round import rounds_of
from annotation.studies.adjudication.quorum import says_match, settle_votes
from annotation.studies.audit_log import Verb, append_audit_event
from annotation.studies.label_import.released_labels import config_of
from annotation.studies.plan.plan import StudyRefused
from annotation.studies.plan.row_names import label_source_of_study, published_as
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


def verdicts_of_study(study: Study) -> list[Verdict]:
    """The decided pairs of the study, by number. A handful of queries."""
    reference = study.conditions.filter(kind=study.reference).first()
    if reference is None:
        return []
    said, decided = blind_votes_of_condition(reference), decisions_of(study)
    found = []
    for pk, pair in study.pairs.filter(planted="").order_by("number").values_list("pk", "pair_id"):
        votes_of = list(said.get(pk, {}).values())
        value, by = settle_votes(votes_of, study.scale, reference.raters), "majority"
        if value is None:
            decision = decided.get((pk, reference.pk))
            value, by = decision.value if decision else None, "adjudication"
        if value is not None:
            found.append(Verdict(pk, pair, value, by))
    return found


def blind_votes_of_condition(condition: Condition) -> dict[int, dict[int, int | None]]:
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


def annotator_of_study(study: Study) -> Annotator:
    """The study as an annotator: its name, and its plan's hash as part of the version."""
    name = f"verified by {study.name}"[:120]
    return Annotator.objects.version(Annotator.Kind.MERGE, name, config_of(study))


def find_published_annotator(study: Study) -> Annotator | None:
    """The annotator of the study's labels, where they have been published."""
    found = Annotator.objects.filter(kind=Annotator.Kind.MERGE, config__study=study.name)
    return found.filter(labels__source__startswith=published_as(study)).first()


def publish_verified_subset(study: Study, by: User) -> int:
    """Publish the verdicts as labels, once; says how many. Raises StudyRefused."""
    with transaction.atomic():
        locked = Study.objects.select_for_update().get(pk=study.pk)
        found = require_publishable_verdicts(locked)
        annotator, scale = annotator_of_study(locked), SCALES[locked.scale]
        exact = locked.scale == Study.Scale.STEPS
        labels = [
            Label(
                pair_id=verdict.pair,
                annotator=annotator,
                value=int(says_match(verdict.value, locked.scale)) if exact else verdict.value,
                scale=scale,
                assisted=locked.reference in ASSISTED,
                source=label_source_of_study(locked) + (ADJUDICATED if verdict.by == "adjudication" else ""),
                basis=Basis.PERSON,
            )
            for verdict in found
        ]
        with track_people([verdict.pair for verdict in found]):
            Label.objects.bulk_create(labels, batch_size=1000)
        detail = {"labels": len(labels), "annotator": annotator.version, "plan_hash": locked.plan_hash}
        append_audit_event(by, Verb.STUDY_PUBLISHED, locked.name, locked, detail)
    return len(labels)


def require_publishable_verdicts(study: Study) -> list[Verdict]:
    """What would be published now. Raises StudyRefused."""
    refuse_unpublishable_study(study)
    found = verdicts_of_study(study)
    if not found:
        raise StudyRefused("No pair has a decision of the reference: there is nothing to publish.")
    return found


def refuse_unpublishable_study(study: Study) -> None:
    if study.kind != Study.Kind.RATING or study.scale not in SCALES:
        raise StudyRefused("Only a study that rates pairs has labels to publish.")
    if study.state != Study.State.CLOSED or not study.frozen_at:
        raise StudyRefused("Only a study that was rated and is closed can be published.")
    if study.has_single_raters:
        raise StudyRefused(
            "Each pair has one rater: no label of it counts as true. Export the ratings instead."
        )
    if find_published_annotator(study):
        raise StudyRefused("The study is published already.")


def count_undecided_samples(study: Study) -> int:
    """How many sampled pairs have no decision."""
    return StudyPair.objects.filter(study=study, planted="").count() - len(verdicts_of_study(study))
