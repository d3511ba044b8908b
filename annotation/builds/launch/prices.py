"""Whether the price of a model is known, and the list prices that are shipped, as rows of the price table.

They are filled in when somebody asks for it, not by themselves: what a person relies on when money is spent
should have been looked at. A model whose price a person has entered is left alone.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Final

from django.utils import timezone
from pydantic import ConfigDict, TypeAdapter

from annotation.builds.launch.order import Order
from annotation.models import Build, Price


@dataclass(frozen=True, slots=True)
class Listed:
    """One entry of the file: dollars per million tokens of a model from a day on."""

    model: str
    effective_from: date
    input: Decimal
    output: Decimal
    cache_read: Decimal
    cache_write: Decimal
    source: str
    note: str = ""

    __pydantic_config__ = ConfigDict(extra="forbid")

    @property
    def since(self) -> datetime:
        return datetime.combine(self.effective_from, time(), UTC)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What loading did, by model: filled in, there already, or left alone as a person has entered prices."""

    new: tuple[str, ...]
    known: tuple[str, ...]
    own: tuple[str, ...]


@cache
def load_shipped_prices() -> tuple[Listed, ...]:
    """The file's entries."""
    text = files("annotation.builds.launch").joinpath("prices.toml").read_text(encoding="utf-8")
    return tuple(TypeAdapter(list[Listed]).validate_python(tomllib.loads(text)["price"]))


def fill_missing_prices() -> Loaded:
    """Fill in what is missing; can be repeated, and changes no row."""
    own = set(Price.objects.filter(source="").values_list("model", flat=True))
    found = {entry: "own" if entry.model in own else filled_in(entry) for entry in load_shipped_prices()}

    def named(what: str) -> tuple[str, ...]:
        return tuple(entry.model for entry, done in found.items() if done == what)

    return Loaded(named("new"), named("known"), named("own"))


COLUMNS: Final = ("input", "output", "cache_read", "cache_write", "source", "note")


def filled_in(entry: Listed) -> str:
    _, made = Price.objects.get_or_create(
        model=entry.model,
        effective_from=entry.since,
        defaults={name: getattr(entry, name) for name in COLUMNS},
    )
    return "new" if made else "known"


def price_of_order(order: Order) -> Price | None:
    """The price that was typed with the order, in no row yet, or the one in force; None without either."""
    if order.typed_price is None:
        return Price.objects.at(order.model, timezone.now())
    dollars_in, dollars_out = order.typed_price
    return Price(
        model=order.model,
        effective_from=timezone.now(),
        input=dollars_in,
        output=dollars_out,
        note="typed with the order",
    )


def keep_typed_price(order: Order) -> None:
    """Let the price that was typed with a live order hold from now on, unless it is in force already."""
    if order.typed_price is None or order.provider != Build.Provider.LIVE:
        return
    known = Price.objects.at(order.model, timezone.now())
    if known is None or (known.input, known.output) != order.typed_price:
        typed = price_of_order(order)
        assert typed is not None, "it was typed"
        typed.note = f"typed at the launch of {order.name}"[:200]
        typed.save()


def is_priced(model: str) -> bool:
    """Whether what it costs now is known."""
    return Price.objects.at(model, timezone.now()) is not None


def unknown_price(model: str) -> str:
    """What there is to say of a model without a price."""
    is_shipped = any(entry.model == model for entry in load_shipped_prices())
    shipped = " “cosqa admin prices load” fills its list price in." if is_shipped else ""
    return f"What {model} costs is not known: costs would not be counted, and no cap could be kept.{shipped}"
