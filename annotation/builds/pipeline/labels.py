"""What was decided becomes a Label: the only crossing of results from annotation to retrieval."""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError, transaction

from annotation.models import Basis, Case, LLMCall, Proposal, Review
from annotation.stages import Event
from retrieval.models import Annotator, Label, statements


def settle_case_label(
    case: Case,
    event: Event,
    label: int,
    note: str,
    call: LLMCall | None,
    *,
    basis: Basis,
    tally: Mapping[str, int] | None = None,
) -> None:
    """Settle and publish in one transaction, so that no label is ever without its case.

    `basis` is how the label came about.
    """
    with transaction.atomic():
        case.label, case.basis = label, basis
        if case.annotator.config.get("writes_snippets"):
            Proposal.objects.checked(case)  # an expert decides whether it becomes anything
        else:
            publish_case(case)
        case.move(event, note=note, call=call, label=label, basis=basis, tally=dict(tally or {}))


def publish_case(case: Case) -> None:
    """The label of a settled case, in the transaction that settled it. Publishing twice changes nothing.

    Another build's case of the same pair, annotator and round may have come out differently: then both labels
    stand, the later one after the last round.
    """
    if not statements.insert_row(build_case_label(case), unless_there=True):
        publish_beside(case)


def publish_beside(case: Case) -> None:
    """Publish the label of a case whose round has another one already."""
    try:
        with transaction.atomic():
            publish_after(said_before(case), case)
    except IntegrityError:
        # Another build has settled the same pair since the look: its label is there to be seen now.
        publish_after(said_before(case), case)


def said_before(case: Case) -> dict[int, int | None]:
    """What the case's annotator has said of its pair, by round."""
    said = Label.objects.filter(pair_id=case.pair_id, annotator_id=case.annotator_id)
    return dict(said.values_list("round", "value"))


def publish_after(said: Mapping[int, int | None], case: Case) -> None:
    """Publish the case's label after those `said`, unless that of its round or the last one says the same.

    Raises IntegrityError where one is newer.
    """
    last = max(said, default=case.round - 1)
    if case.label in (said.get(case.round), said.get(last)):
        return
    label = build_case_label(case)
    label.round = last + 1
    label.save(force_insert=True)


def build_case_label(case: Case) -> Label:
    """The case's label in the case's round, to be stored."""
    return Label(
        pair_id=case.pair_id,
        annotator_id=case.annotator_id,
        round=case.round,
        value=case.label,
        scale=scale_of(case.annotator),
        source=f"build {case.build_id}, case {case.pk}",
        basis=case.basis,
    )


def scale_of(annotator: Annotator) -> Label.Scale:
    """What a label of the annotator says."""
    return Label.Scale.HALF if annotator.config.get("criterion") == "half" else Label.Scale.BINARY


def annotator_of_person(user: AbstractBaseUser) -> Annotator:
    """The person as an annotator; renaming the account does not make another person of it."""
    return Annotator.objects.version(Annotator.Kind.PERSON, f"user {user.pk}", {"user": user.pk})


def publish_review(review: Review) -> None:
    """An assisted label with the review's revision as its round; null when unsure or withdrawn."""
    label = Label(
        pair_id=review.pair_id,
        annotator=annotator_of_person(review.rater),
        round=review.revision,
        value=None if review.withdrawn else review.label,
        assisted=True,
        source=f"review {review.pk}",
        basis=Basis.PERSON,
    )
    statements.insert_row(label, unless_there=True)
