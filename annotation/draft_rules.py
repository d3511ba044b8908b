"""What holds for every draft: how long it may be, and which window may overwrite it (decision 47)."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any, Final, Generic, TypeVar

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotation.models.reviews.typed_text import KeptText
from retrieval.texts.hostile import mark_hostile_characters

MAX_CHARACTERS: Final = 64 * 1024
Rows = QuerySet[Any]
Stored = TypeVar("Stored")
Sent = TypeVar("Sent")
TRIES: Final = 5
"""How often a window that loses a race looks again."""


class DraftRefused(ValueError):
    """The text can't be kept; the message says what to change."""


class DraftChanged(Exception):
    """Another window has kept another text since this one looked; nothing was stored. `stored`: that text."""

    def __init__(self, stored: KeptText) -> None:
        super().__init__(
            "You also edited this in another window. Both texts are kept: choose which one to use."
        )
        self.stored = stored


class StoredMeanwhile(Exception, Generic[Stored, Sent]):
    """Something else was stored since the page was served, and what was sent was not.

    `stored` is what stands now, None for nothing; `mine` is what was sent.
    """

    words = ""

    def __init__(self, stored: Stored | None, mine: Sent) -> None:
        super().__init__(self.words)
        self.stored, self.mine = stored, mine


@dataclass(frozen=True, slots=True)
class Window:
    """A browser window by the name that it gave itself, with the revision of each draft that it knows of."""

    name: str = ""
    revisions: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def knows(self, draft: KeptText) -> bool:
        """Whether the draft was typed in this window, or was shown in it."""
        own = bool(self.name) and draft.window == self.name
        return own or draft.revision == self.revisions.get(draft.field)


def save_draft(blank: KeptText, rows: Rows, text: str, window: Window | None, texts: Collection[str]) -> str:
    """Keep `text` in the one of `rows`, or in `blank` where there is none; an empty text clears it.

    Returns its revision, empty for none. Without a window, and in a field that is not one of `texts`,
    whatever stands is overwritten. Raises DraftRefused and DraftChanged.
    """
    kept = check_draft_text(text)
    for _ in range(TRIES):
        stands = rows.first()
        if stands is None:
            made = create_draft(blank, kept, window) if kept.strip() else ""
            if made is not None:
                return made
        elif stands.text == kept:
            return str(stands.revision)
        elif is_of_another(stands, window, texts):
            raise DraftChanged(stands)
        elif (changed := replace_draft(stands, rows, kept, window)) is not None:
            return changed
    raise DraftChanged(rows.get())


def check_draft_text(text: str) -> str:
    """The text as it is kept. Raises DraftRefused."""
    kept = mark_hostile_characters(text).replace("\r\n", "\n")
    if len(kept) > MAX_CHARACTERS:
        raise DraftRefused(f"A draft has at most {MAX_CHARACTERS:,} characters; this one has {len(kept):,}.")
    return kept


def create_draft(blank: KeptText, text: str, window: Window | None) -> str | None:
    """The revision; None where another window was faster."""
    blank.text, blank.window = text, window.name if window else ""
    try:
        with transaction.atomic():
            blank.save(force_insert=True)
    except IntegrityError:
        blank.pk = None
        return None
    return blank.revision


def replace_draft(stands: KeptText, rows: Rows, text: str, window: Window | None) -> str | None:
    """The revision, empty for a draft that was cleared; None where it is not as it was read any more."""
    row = rows.filter(pk=stands.pk, updated_at=stands.updated_at)
    if not text.strip():
        return "" if row.delete()[0] else None
    now = timezone.now()
    name = window.name if window else stands.window
    return now.isoformat() if row.update(text=text, updated_at=now, window=name) else None


def clear_drafts(rows: Rows, window: Window | None, texts: Collection[str]) -> None:
    """Delete the drafts; what another window has kept since stays."""
    if window is not None:
        kept = [row for row in rows if not is_of_another(row, window, texts)]
        known = [Q(pk=row.pk, updated_at=row.updated_at) for row in kept]
        rows = rows.filter(reduce(or_, known, Q(pk__in=[])))  # what is kept in this moment is not known
    rows.delete()


def is_of_another(draft: KeptText, window: Window | None, texts: Collection[str]) -> bool:
    """Whether it would be lost; of what was chosen, and of a call, the last window's is kept."""
    return window is not None and draft.field in texts and not window.knows(draft)
