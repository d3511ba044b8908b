"""Kinds of values that several schemas have."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from retrieval.texts.hostile import clean_json, mark_hostile_characters


def dollars_of(nano: float | Decimal) -> Decimal:
    """Nanodollars as dollars: exact, without an exponent and without trailing zeros. Dollars stay."""
    return nano if isinstance(nano, Decimal) else Decimal(f"{Decimal(round(nano)) / 10**9:f}")


class Body(Schema):
    """What is sent to the API: a field that it does not know is an error."""

    model_config = ConfigDict(extra="forbid")


Dollars = Annotated[Decimal, BeforeValidator(dollars_of)]
"""Read from nanodollars."""
CleanText = Annotated[str, AfterValidator(mark_hostile_characters)]
CleanObject = Annotated[dict[str, Any], AfterValidator(clean_json)]
BuildState = Literal["running", "paused", "waiting", "canary", "cancelled", "failed", "done"]
Provider = Literal["live", "exchange"]
StrictLabel = Annotated[int, Field(strict=True, ge=0, le=1)]
RuleChoice = Literal[
    "any",
    "testable",
    "testable_with_self",
    "testable_with_bare_return",
    "testable_with_yield",
    "testable_in_any_sense",
    "testable_without_output",
    "testable_by_call",
]
Unconfirmed = Annotated[bool, Field(description="launch what is paid on an estimate that nobody has seen")]
