"""A person judges a pair with the agents' evidence on screen: labels, tags, undo, drafts, own tests, keys.

Labels given here are *assisted*: good for overriding and fixing, never for agreement.
"""

from annotation.review.labelling import (
    BadReview,
    Beside,
    Conflict,
    NothingToUndo,
    OverrideNeedsReason,
    Submission,
    decisions,
    last_action,
    reviews_of,
    revision_seen,
    submit,
    undo,
)

__all__ = [
    "BadReview",
    "Beside",
    "Conflict",
    "NothingToUndo",
    "OverrideNeedsReason",
    "Submission",
    "decisions",
    "last_action",
    "reviews_of",
    "revision_seen",
    "submit",
    "undo",
]
