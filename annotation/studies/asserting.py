"""A rater's call becomes an assertion of the test that they write for the pair."""

from __future__ import annotations

from annotation import drafting
from annotation.models import Assignment, CallRequest, RatingDraft
from annotation.review.asserting import Added, NoAssertion, assertion_of
from annotation.studies import drafts, running, showing

__all__ = ["NoAssertion", "add_assertion"]


def add_assertion(assignment: Assignment, asked: CallRequest, window: drafting.Window | None = None) -> Added:
    """Append a call of `running.calls_of` to the draft of the test; returns what was added.

    Without a draft it begins as the editor does. The call stays evidence of the label.

    Raises NoAssertion and DraftRefused; then the draft stays as it was.
    """
    if asked.answer is None:
        raise NoAssertion("The call has no answer yet. Ask again when it is there.")
    lines = assertion_of(asked.expression, asked.answer.whole())
    draft = drafts.by_field(assignment).get(RatingDraft.Field.TEST)
    first = showing.sides_of(assignment)[0].pair
    start = draft.text if draft else running.beginning_of(assignment, first)
    known = draft is None or window is None or window.knows(draft)
    revision = drafts.save(assignment, RatingDraft.Field.TEST, f"{start.rstrip()}\n\n{lines}\n")
    return Added(lines, revision if known else "")
