"""What a person has typed and not submitted, kept on the server: reload, log-out and crash lose nothing."""

from __future__ import annotations

from typing import Final

from django.contrib.auth.models import User

from annotation import draft_rules
from annotation.draft_rules import Window
from annotation.models import Draft, Review
from retrieval.models.prepared_query import PreparedQuery

DRAFTS: PreparedQuery[Draft] = PreparedQuery(
    lambda user, pair: Draft.objects.filter(user=user, pair=pair), int, int
)
TEXTS: Final = (Draft.Field.REASON, Draft.Field.TEST, Draft.Field.CODE, Draft.Field.COMMENT)
"""The fields in which a text is written: one that another window has kept is not overwritten unseen."""


def save_draft(user: User, pair_id: int, field: str, text: str, window: Window | None = None) -> str:
    """Keep `text` as the draft of one field, an empty one clears it; returns its revision, empty for none.

    A reason that the person's label already has is no draft: a browser's save can arrive after the label
    that took the text along. Without a window whatever stands is overwritten. Raises DraftRefused and
    DraftChanged.
    """
    blank = Draft(user=user, pair_id=pair_id, field=field)
    rows = draft_rows_of_pair(user, pair_id, field)
    revision = draft_rules.save_draft(blank, rows, text, window, TEXTS)
    # Asked afterwards: the label may have been stored meanwhile, and found no draft to clear.
    if field == Draft.Field.REASON and revision and text.strip() == load_stored_reason(user, pair_id):
        clear_same(user, pair_id, field, draft_rules.check_draft_text(text))
        return ""
    return revision


def load_stored_reason(user: User, pair_id: int) -> str:
    """The reason of the person's label of the pair, empty for none."""
    last = Review.objects.filter(rater=user, pair=pair_id).order_by("id").last()
    return last.reason if last is not None and not last.withdrawn else ""


def keep_if_none(user: User, pair_id: int, field: str, text: str) -> None:
    """As `save_draft`, but what the person has typed since comes first."""
    Draft.objects.get_or_create(user=user, pair_id=pair_id, field=field, defaults={"text": text})


def load_drafts(user: User, pair_id: int) -> dict[str, Draft]:
    """The person's drafts on a pair, by field."""
    return {draft.field: draft for draft in DRAFTS.load(user.pk, pair_id)}


def clear_drafts(user: User, pair_id: int, *fields: str, window: Window | None = None) -> None:
    """What was sent is no draft any more; what another window has kept since stays."""
    draft_rules.clear_drafts(draft_rows_of_pair(user, pair_id, *fields), window, TEXTS)


def clear_same(user: User, pair_id: int, field: str, text: str) -> None:
    """What says no more than what is stored is no draft; what was typed besides stays."""
    draft_rows_of_pair(user, pair_id, field).filter(text=text).delete()


def draft_rows_of_pair(user: User, pair_id: int, *fields: str) -> draft_rules.Rows:
    return Draft.objects.filter(user=user, pair=pair_id, field__in=fields)
