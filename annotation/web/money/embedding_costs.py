"""What a mining's encoders on servers were asked, and what that cost by the price table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils import timezone

from annotation.models import Price
from annotation.web.shared.words import small_dollars
from retrieval.models import Mining


@dataclass(frozen=True, slots=True)
class Embedded:
    """An encoder's bill. `nano`: nanodollars, None where no price is known; `untold`: answers without tokens.

    Where answers named no tokens, both are only what is known at least.
    """

    encoder: str
    model: str
    requests: int
    tokens: int
    untold: int
    nano: int | None

    @property
    def known(self) -> int | None:
        """Nanodollars that are known to be spent; None where no price is known, or no answer named tokens."""
        return None if self.requests and self.untold == self.requests else self.nano

    def __str__(self) -> str:
        if not self.requests:
            return f"{self.encoder}: no request, all vectors were stored"
        least = "at least " if self.untold else ""
        cost = f"{least}{small_dollars(self.nano)}" if self.nano is not None else "price not known"
        if self.untold == self.requests:
            asked = f"{self.requests:,} requests"
            return f"{self.encoder}: {asked}, tokens not counted by the server, cost unknown"
        missing = f"; {self.untold:,} of {self.requests:,} answers named none" if self.untold else ""
        return f"{self.encoder}: {least}{self.tokens:,} tokens, {cost}{missing}"


def list_embedding_costs(mining: Mining) -> Iterator[Embedded]:
    """One for each encoder on a server, by the prices at the mining's end."""
    moment = mining.finished_at or timezone.now()
    for name, told in (mining.asked or {}).items():
        price = Price.objects.at(told["model"], moment)
        tokens: int = told["tokens"]
        nano = None if price is None else price.cost(tokens, 0)
        yield Embedded(name, told["model"], told["requests"], tokens, told["untold"], nano)
