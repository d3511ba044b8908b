"""A reviewer's label in a sign and in words, and what is announced after it."""

from __future__ import annotations

from django.contrib.auth.models import User

from annotation.models import Case, Review
from annotation.models.reviews.marked_code import MarkedCode
from annotation.review import last_review_of
from annotation.review.shortcuts import Action, keys_of
from annotation.review.tags import filter_known_tags, tag_name
from annotation.web.shared.words import UNSURE, Sign, label_sign

CHANGED_SINCE = (
    "You changed your label of this pair in another window after that page was opened. It is kept. "
    "Undo on this page undoes it."
)
WITHDRAWN = Sign("↺", "undone")


def review_sign(review: Review) -> Sign:
    if review.withdrawn:
        return WITHDRAWN
    return said_sign(review.label)


def said_sign(label: int | None) -> Sign:
    """A person's label: none means unsure, not unjudged."""
    return UNSURE if label is None else label_sign(label)


def tag_words(review: Review) -> tuple[str, ...]:
    """The review's tags in words; those of the test say so."""
    return tuple(tag_name(tag) for tag in filter_known_tags(review.tags))


def describe_lines(row: MarkedCode) -> str:
    """The lines that are marked as the reason, in words; empty for none."""
    lines = row.marked_lines.replace("-", "–")
    return lines and f"{'lines' if '–' in lines else 'line'} {lines}"


def labelled_message(user: User, made: Review, with_keys: bool) -> str:
    """What is announced after a label: what was stored, what it does, and how to take it back."""
    key = keys_of(user).live(Action.UNDO) if with_keys else ""
    what = "Skipped as unsure" if made.label is None else f"Saved: {review_sign(made).word}"
    said = f"{what}.{describe_effect(made)}"
    return f"{said} Press {key} to undo." if key else f"{said} Undo is next to the labels."


def describe_effect(made: Review) -> str:
    """Whether a label counts that is not the agents'; of one that agrees with them nothing is said."""
    if made.label is None or made.label == made.agent_label:
        return ""
    in_force = Case.objects.values_list("label_in_force", flat=True).get(pk=made.case_id)
    return " It counts now." if in_force == made.label else " It counts when another expert agrees."


def undone_message(user: User, case: Case) -> str:
    """What is announced after an undo: what stands now."""
    last = last_review_of(case.pair_id, user)
    if last is None or last.withdrawn:
        return "Undone. You have no label on this pair now."
    return f"Undone. Your label on this pair is {review_sign(last).word} again."
