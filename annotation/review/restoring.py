"""Let an earlier revision of a label stand again: appended as the next one, so that nothing is lost."""

from __future__ import annotations

from typing import Final

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import Review
from annotation.review.labelling import append, reviews_of, revision_seen, said
from annotation.studies.auditing import Verb, record

CHANGED: Final = (
    "You have changed this label in another window since that page was opened: what stands now stays. "
    "Restore again to put the earlier one over it."
)


class NothingToRestore(ValueError):
    """The revision can't stand again; the message says why."""


def restore(review: Review, user: User, seen_revision: int | None = None) -> Review:
    """The new revision that says what `review` said, with its tags, and what it was given on.

    `seen_revision` is the newest one that the page knew: another one that was added since is not overridden.
    Raises NothingToRestore, and Conflict where the person labelled the pair elsewhere at the same moment.
    """
    with transaction.atomic():
        last = reviews_of(review.pair_id, user).last()
        if seen_revision is not None and revision_seen(last) != seen_revision:
            raise NothingToRestore(CHANGED)
        if review.withdrawn:
            raise NothingToRestore("That revision took a label back: there is nothing in it to restore.")
        if last is None or (not last.withdrawn and said(last) == said(review)):
            raise NothingToRestore("That is what stands.")
        made = Review(
            case=review.case,
            label=review.label,
            agent_label=review.agent_label,
            reason=review.reason,
            tags=review.tags,
            seconds=review.seconds,
            calls=review.calls,
            runs=review.runs,
            evidence=review.evidence,
        )
        append(made, user, last, None)
        detail = {"pair": review.pair_id, "revision": review.revision, "as": made.revision}
        record(user, Verb.RESTORED, f"own label of pair {review.pair_id}", detail=detail)
    return made
