"""What a person has typed and not submitted, kept on the server: reload, log-out and crash lose nothing."""

from __future__ import annotations

from django.contrib.auth.models import User

from annotation.models import Draft
from retrieval.hostile import clean

MOST = 64 * 1024


class DraftTooLong(ValueError):
    """The text is too long to be kept as a draft; the message says how long it may be."""


def save(user: User, pair_id: int, field: str, text: str) -> Draft | None:
    """Keep `text` as the draft of one field; an empty text clears it. Raises DraftTooLong."""
    kept = clean(text).replace("\r\n", "\n")
    if len(kept) > MOST:
        raise DraftTooLong(f"A draft has at most {MOST:,} characters; this one has {len(kept):,}.")
    if not kept.strip():
        clear(user, pair_id, field)
        return None
    return Draft.objects.update_or_create(user=user, pair_id=pair_id, field=field, defaults={"text": kept})[0]


def keep_if_none(user: User, pair_id: int, field: str, text: str) -> None:
    """As `save`, but what the person has typed since comes first."""
    Draft.objects.get_or_create(user=user, pair_id=pair_id, field=field, defaults={"text": text})


def load(user: User, pair_id: int) -> dict[str, Draft]:
    """The person's drafts on a pair, by field."""
    return {draft.field: draft for draft in Draft.objects.filter(user=user, pair=pair_id)}


def clear(user: User, pair_id: int, *fields: str) -> None:
    Draft.objects.filter(user=user, pair=pair_id, field__in=fields).delete()
