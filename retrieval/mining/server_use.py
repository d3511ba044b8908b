"""What encoders on servers were asked for a mining, as their bill will have it."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from retrieval.encoders import asked_of
from retrieval.encoders.base import Encoder
from retrieval.models import Mining


def note_asked(mining: Mining, encoders: Sequence[Encoder]) -> None:
    """Add what these encoders asked to what other workers, and earlier tries, asked for the mining.

    Stored vectors are asked for no more: an encoder that needed none stands there with no request.
    """
    more = asked_of(encoders)
    if not more:
        return
    with transaction.atomic():
        row = Mining.objects.select_for_update().get(pk=mining.pk)
        asked = dict(row.asked or {})
        for name, told in more.items():
            before = asked.get(name, {})
            counts = {what: before.get(what, 0) + count for what, count in told.items() if what != "model"}
            asked[name] = {"model": told["model"], **counts}
        Mining.objects.filter(pk=mining.pk).update(asked=asked)
        mining.asked = asked
