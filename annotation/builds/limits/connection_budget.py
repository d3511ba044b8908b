"""The money of a test of a connection: the project's, though no build's, held at its bound while it runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from django.utils import timezone

from annotation.llm import LLMError, Reply
from annotation.llm.probe import CACHING_TOKENS, MOST_CALLS, MOST_TOKENS, TOKENS_A_QUESTION
from annotation.models import Price, ProjectTally
from annotation.models.builds.batches import compute_batch_price
from annotation.models.builds.build import NANO


class NoMoney(ValueError):
    """The cap that all live builds share leaves too little for a test; the message says what to do."""


@dataclass
class Meter:
    """What a test has taken so far; `lost` is whether no word came back of what its last question cost."""

    price: Price | None
    replies: list[Reply] = field(default_factory=list)
    lost: bool = False

    @property
    def cost(self) -> int | None:
        """Nanodollars; None where the model has no price. A lost question counts at its bound."""
        if self.price is None:
            return None
        paid = sum(paid_for(reply, self.price) for reply in self.replies)
        return paid + (self.price.most(TOKENS_A_QUESTION, MOST_TOKENS) if self.lost else 0)


def paid_for(reply: Reply, price: Price) -> int:
    """Nanodollars of one reply: half where it came by batch."""
    used = reply.usage
    whole = price.cost(used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_write_tokens)
    return compute_batch_price(whole) if reply.by_batch else whole


def price_of(model: str) -> Price | None:
    return Price.objects.at(model, timezone.now())


def compute_test_cost_bound(price: Price | None, *, caching: bool, batches: bool) -> int:
    """Nanodollars that a test can cost at most; 0 without a price, which nothing can be held for."""
    if price is None:
        return 0
    calls = MOST_CALLS + 2 * caching
    alone = price.most(calls * TOKENS_A_QUESTION + caching * CACHING_TOKENS, calls * MOST_TOKENS)
    return alone + batches * compute_batch_price(price.most(TOKENS_A_QUESTION, MOST_TOKENS))


def hold_project_money(amount: int) -> None:
    """Hold so much of the project's money. Raises NoMoney."""
    if not ProjectTally.objects.reserve(amount):
        raise NoMoney(too_little(amount))


def require_project_money(amount: int) -> None:
    """Raises NoMoney where so much could not be held now."""
    row = ProjectTally.objects.filter(pk=ProjectTally.ONLY, cap__isnull=False).first()
    if amount and row is not None and row.cap is not None and row.spent + row.reserved + amount > row.cap:
        raise NoMoney(too_little(amount))


def too_little(amount: int) -> str:
    return (
        f"A test may cost ${amount / NANO:,.4f}, more than is left under the project's cap: an admin "
        "can raise it on the dashboard."
    )


@contextmanager
def meter_connection_test(model: str, *, caching: bool, batches: bool) -> Iterator[Meter]:
    """Count a test that is made here and now. Raises NoMoney before it is made."""
    meter = Meter(price_of(model))
    held = compute_test_cost_bound(meter.price, caching=caching, batches=batches)
    hold_project_money(held)
    try:
        yield meter
    except LLMError as error:
        meter.lost = error.maybe_billed
        raise
    finally:
        ProjectTally.objects.book(reserved=-held, spent=meter.cost or 0)
