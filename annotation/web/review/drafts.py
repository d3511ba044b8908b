"""What a field starts with: what was just sent, else its draft, else what stands."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models.reviews.typed_text import KeptText
from retrieval.texts.hostile import mark_hostile_characters


@dataclass(frozen=True, slots=True)
class Typed:
    """What a text field starts with, and when its draft was kept (ISO; empty: it is no draft).

    `unsaved`: it was sent and not stored, and another window has kept another draft.
    """

    text: str = ""
    draft_at: str = ""
    unsaved: bool = False

    @property
    def revision(self) -> str:
        """Of the draft that the field shows."""
        return "" if self.unsaved else self.draft_at


def choose_field_text(sent: str, draft: KeptText | None, stands: str, *, again: bool) -> Typed:
    """What was just sent, also where that is empty (`again`), else the draft, else what is stored."""
    at = draft.revision if draft else ""
    if not again:
        return Typed(draft.text if draft else stands, at)
    apart = bool(draft and mark_hostile_characters(sent).split() != draft.text.split())
    return Typed(sent, at, unsaved=apart)
