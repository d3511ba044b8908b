"""Let an earlier revision of a label stand again: appended as the next one, so that nothing is lost."""

from __future__ import annotations

from typing import Final

from django.contrib.auth.models import User
from django.db import transaction

from annotation.models import Review
from annotation.review.labels import (
    append_review_revision,
    content_of_review,
    repeat_review,
    reviews_of,
    revision_seen,
)
from annotation.studies.audit_log import Verb, append_audit_event

CHANGED: Final = (
    "You have changed this label in another window since that page was opened; the newer label is kept. "
    "Restore again to replace it with the earlier one."
)


class NoReviewToRestore(ValueError):
    """The revision can't stand again; the message says why."""


def restore_revision(review: Review, user: User, seen_revision: int | None = None) -> Review:
    """The new revision that says what `review` said, with its tags, and what it was given on.

    `seen_revision` is the newest one that the page knew: another one that was added since is not overridden.
    Raises NoReviewToRestore, and Conflict where the person labelled the pair elsewhere at the same moment.
    """
    with transaction.atomic():
        last = reviews_of(review.pair_id, user).last()
        if seen_revision is not None and revision_seen(last) != seen_revision:
            raise NoReviewToRestore(CHANGED)
        if review.withdrawn:
            raise NoReviewToRestore("That revision removed a label: there is nothing to restore.")
        if last is None or (not last.withdrawn and content_of_review(last) == content_of_review(review)):
            raise NoReviewToRestore("That is the current label.")
        made = repeat_review(review)
        append_review_revision(made, user, last, None)
        detail = {"pair": review.pair_id, "revision": review.revision, "as": made.revision}
        append_audit_event(user, Verb.RESTORED, f"own label of pair {review.pair_id}", detail=detail)
    return made
