"""What a person has typed and not submitted, kept on the server: reload, log-out and crash lose nothing."""

from __future__ import annotations

from typing import Final

from django.contrib.auth.models import User

from annotation import drafting
from annotation.drafting import Window
from annotation.models import Draft

TEXTS: Final = (Draft.Field.REASON, Draft.Field.TEST, Draft.Field.CODE)
"""The fields in which a text is written: one that another window has kept is not overwritten unseen."""


def save(user: User, pair_id: int, field: str, text: str, window: Window | None = None) -> str:
    """Keep `text` as the draft of one field, an empty one clears it; returns its revision, empty for none.

    Without a window whatever stands is overwritten. Raises drafting.DraftRefused and drafting.DraftChanged.
    """
    blank = Draft(user=user, pair_id=pair_id, field=field)
    return drafting.save(blank, rows_of(user, pair_id, field), text, window, TEXTS)


def keep_if_none(user: User, pair_id: int, field: str, text: str) -> None:
    """As `save`, but what the person has typed since comes first."""
    Draft.objects.get_or_create(user=user, pair_id=pair_id, field=field, defaults={"text": text})


def load(user: User, pair_id: int) -> dict[str, Draft]:
    """The person's drafts on a pair, by field."""
    return {draft.field: draft for draft in Draft.objects.filter(user=user, pair=pair_id)}


def clear(user: User, pair_id: int, *fields: str, window: Window | None = None) -> None:
    """What was sent is no draft any more; what another window has kept since stays."""
    drafting.clear(rows_of(user, pair_id, *fields), window, TEXTS)


def clear_same(user: User, pair_id: int, field: str, text: str) -> None:
    """What says no more than what is stored is no draft; what was typed besides stays."""
    rows_of(user, pair_id, field).filter(text=text).delete()


def rows_of(user: User, pair_id: int, *fields: str) -> drafting.Rows:
    return Draft.objects.filter(user=user, pair=pair_id, field__in=fields)
