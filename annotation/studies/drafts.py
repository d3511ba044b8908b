"""What a rater has typed and not submitted, kept on the server for each assignment, also after a lapse.

The draft of the field *choice* is what was chosen and the tags, parted by blanks: `1 partial unsafe`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from django.utils import timezone

from annotation.models import Assignment, RatingDraft
from retrieval.hostile import clean

MOST: Final = 64 * 1024
SUBMITTED: Final = (
    RatingDraft.Field.NOTES,
    RatingDraft.Field.REASON,
    RatingDraft.Field.READING,
    RatingDraft.Field.CHOICE,
)
"""The fields that a rating takes with it; tests and calls stay as they were typed."""


class DraftRefused(ValueError):
    """The text can't be kept; the message says what to change."""


def save(assignment: Assignment, field: str, text: str) -> None:
    """Keep `text` as the draft of one field; an empty text clears it. One statement. Raises DraftRefused."""
    if field not in RatingDraft.Field.values:
        raise DraftRefused(f"A draft is of the field {', '.join(RatingDraft.Field.values)}.")
    kept = clean(text).replace("\r\n", "\n")
    if len(kept) > MOST:
        raise DraftRefused(f"A draft has at most {MOST:,} characters; this one has {len(kept):,}.")
    if kept.strip():
        write(assignment, {field: kept})
    else:
        clear(assignment, field)


def write(assignment: Assignment, kept: dict[str, str], *, over: bool = True) -> None:
    """Store drafts by field; what is there already stays, unless it is to be written `over`."""
    rows = [
        RatingDraft(assignment=assignment, field=field, text=text, updated_at=timezone.now())
        for field, text in kept.items()
        if text.strip()
    ]
    if not over:
        RatingDraft.objects.bulk_create(rows, ignore_conflicts=True)
        return
    RatingDraft.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["assignment", "field"],
        update_fields=["text", "updated_at"],
    )


def by_field(assignment: Assignment) -> dict[str, RatingDraft]:
    """The drafts of an assignment. One query."""
    return {draft.field: draft for draft in RatingDraft.objects.filter(assignment=assignment)}


def texts(assignment: Assignment) -> dict[str, str]:
    """The drafts of an assignment, by field."""
    return dict(RatingDraft.objects.filter(assignment=assignment).values_list("field", "text"))


def clear(assignment: Assignment, *fields: str) -> None:
    RatingDraft.objects.filter(assignment=assignment, field__in=fields).delete()


def clear_sent(assignment: Assignment, sent: Mapping[str, str], tags: Sequence[str]) -> None:
    """Clear the drafts that say what is stored already, as where its answer got lost and the page kept it;
    what was typed since stays. Of a choice the page may keep the tags alone.
    """
    known = {field: {text.strip()} for field, text in sent.items()}
    known[RatingDraft.Field.CHOICE].add(" ".join(tags))
    same = [field for field, text in texts(assignment).items() if text.strip() in known.get(field, ())]
    clear(assignment, *same)
