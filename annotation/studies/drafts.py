"""What a rater has typed and not submitted, kept on the server for each assignment, also after a lapse.

The draft of the field *choice* is what was chosen and the tags, parted by blanks: `1 partial unsafe`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import Q
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


TEXTS: Final = (
    RatingDraft.Field.NOTES,
    RatingDraft.Field.REASON,
    RatingDraft.Field.READING,
    RatingDraft.Field.TEST,
)
"""The fields in which a text is written: one that another window has kept is not overwritten unseen."""
TRIES: Final = 5
"""How often a window that loses a race looks again."""


class DraftRefused(ValueError):
    """The text can't be kept; the message says what to change."""


class DraftChanged(Exception):
    """Another window has kept another text since this one looked; nothing was stored. `stored`: that text."""

    def __init__(self, stored: RatingDraft) -> None:
        super().__init__(
            "In another window you typed another text here. Both are kept: choose which one stays."
        )
        self.stored = stored


@dataclass(frozen=True, slots=True)
class Window:
    """A browser window by the name that it gave itself, with the revision of each draft that it knows of."""

    name: str = ""
    revisions: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def knows(self, draft: RatingDraft) -> bool:
        """Whether the draft was typed in this window, or was shown in it."""
        own = bool(self.name) and draft.window == self.name
        return own or revision_of(draft) == self.revisions.get(draft.field)


def revision_of(draft: RatingDraft) -> str:
    """What a window sends back to prove which text it knows: no two that are kept have the same."""
    return draft.updated_at.isoformat()


def save(assignment: Assignment, field: str, text: str, window: Window | None = None) -> str:
    """Keep `text` as the draft of one field, an empty one clears it; returns its revision, empty for none.

    Without a window whatever stands is overwritten. Raises DraftRefused and DraftChanged.
    """
    kept, rows = checked(field, text), RatingDraft.objects.filter(assignment=assignment, field=field)
    for _ in range(TRIES):
        stands = rows.first()
        if stands is None:
            made = created(assignment, field, kept, window) if kept.strip() else ""
            if made is not None:
                return made
        elif stands.text == kept:
            return revision_of(stands)
        elif window is not None and is_of_another(stands, window):
            raise DraftChanged(stands)
        elif (changed := replaced(stands, kept, window)) is not None:
            return changed
    raise DraftChanged(rows.get())


def checked(field: str, text: str) -> str:
    """The text, cleaned. Raises DraftRefused."""
    if field not in RatingDraft.Field.values:
        raise DraftRefused(f"A draft is of the field {', '.join(RatingDraft.Field.values)}.")
    kept = clean(text).replace("\r\n", "\n")
    if len(kept) > MOST:
        raise DraftRefused(f"A draft has at most {MOST:,} characters; this one has {len(kept):,}.")
    return kept


def created(assignment: Assignment, field: str, text: str, window: Window | None) -> str | None:
    """The revision; None where another window was faster."""
    row = RatingDraft(assignment=assignment, field=field, text=text, window=window.name if window else "")
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        return None
    return revision_of(row)


def replaced(stands: RatingDraft, text: str, window: Window | None) -> str | None:
    """The revision, empty for a draft that was cleared; None where it is not as it was read any more."""
    row = RatingDraft.objects.filter(pk=stands.pk, updated_at=stands.updated_at)
    if not text.strip():
        return "" if row.delete()[0] else None
    now = timezone.now()
    name = window.name if window else stands.window
    return now.isoformat() if row.update(text=text, updated_at=now, window=name) else None


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
        update_fields=["text", "window", "updated_at"],
    )


def not_of_others(assignment: Assignment, kept: dict[str, str], window: Window | None) -> dict[str, str]:
    """Those of the texts, by field, that overwrite nothing which another window has kept since."""
    if window is None:
        return kept
    others = {row.field for row in by_field(assignment).values() if is_of_another(row, window)}
    return {field: text for field, text in kept.items() if field not in others}


def is_of_another(draft: RatingDraft, window: Window) -> bool:
    """Whether it would be lost; of what was chosen, and of a call, the last window's is kept."""
    return draft.field in TEXTS and not window.knows(draft)


def by_field(assignment: Assignment) -> dict[str, RatingDraft]:
    """The drafts of an assignment. One query."""
    return {draft.field: draft for draft in RatingDraft.objects.filter(assignment=assignment)}


def texts(assignment: Assignment) -> dict[str, str]:
    """The drafts of an assignment, by field."""
    return dict(RatingDraft.objects.filter(assignment=assignment).values_list("field", "text"))


def clear(assignment: Assignment, *fields: str, window: Window | None = None) -> None:
    """What was sent is no draft any more; what another window has kept since stays."""
    rows = RatingDraft.objects.filter(assignment=assignment, field__in=fields)
    if window is not None:
        known = [Q(pk=row.pk, updated_at=row.updated_at) for row in rows if not is_of_another(row, window)]
        rows = rows.filter(reduce(or_, known, Q(pk__in=[])))  # what is kept in this moment is not known
    rows.delete()


def clear_sent(assignment: Assignment, sent: Mapping[str, str], tags: Sequence[str]) -> None:
    """Clear the drafts that say what is stored already, as where its answer got lost and the page kept it;
    what was typed since stays. Of a choice the page may keep the tags alone.
    """
    known = {field: {text.strip()} for field, text in sent.items()}
    known[RatingDraft.Field.CHOICE].add(" ".join(tags))
    same = [field for field, text in texts(assignment).items() if text.strip() in known.get(field, ())]
    clear(assignment, *same)
