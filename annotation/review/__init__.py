"""A person judges a pair with the agents' evidence on screen: labels, tags, undo, drafts, own tests, keys.

Labels given here are *assisted*: good for overriding and fixing, never for agreement.
"""

from annotation.review.evidence_hash import EvidenceChanged
from annotation.review.labels import (
    BadReview,
    Beside,
    Conflict,
    NothingToUndo,
    OverrideNeedsReason,
    Submission,
    last_action,
    last_review_of,
    recent_reviews_of_user,
    reviews_of,
    revision_seen,
    store_label,
    submit_label,
    undo_latest_label,
)

__all__ = [
    "BadReview",
    "Beside",
    "Conflict",
    "EvidenceChanged",
    "NothingToUndo",
    "OverrideNeedsReason",
    "Submission",
    "last_action",
    "last_review_of",
    "recent_reviews_of_user",
    "reviews_of",
    "revision_seen",
    "store_label",
    "submit_label",
    "undo_latest_label",
]
