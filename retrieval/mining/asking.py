"""What encoders on servers were asked for a mining, as their bill will have it."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction

from retrieval.encoders.base import Encoder
from retrieval.encoders.endpoint import EndpointEncoder
from retrieval.models import Mining


def note_asked(mining: Mining, encoders: Sequence[Encoder]) -> None:
    """Add what these encoders asked to what other workers, and earlier tries, asked for the mining.

    Stored vectors are asked for no more: an encoder that needed none stands there with no request.
    """
    on_servers = [one for one in encoders if isinstance(one, EndpointEncoder)]
    if not on_servers:
        return
    with transaction.atomic():
        row = Mining.objects.select_for_update().get(pk=mining.pk)
        asked = dict(row.asked or {})
        for one in on_servers:
            before = asked.get(one.name, {})
            counts = {"requests": one.used.requests, "tokens": one.used.tokens, "untold": one.used.untold}
            grown = {name: before.get(name, 0) + count for name, count in counts.items()}
            asked[one.name] = {"model": one.model, **grown}
        Mining.objects.filter(pk=mining.pk).update(asked=asked)
        mining.asked = asked
