"""Kinds of values that several schemas have."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Any, Final, Literal

from ninja import Schema
from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, PlainValidator

from retrieval.texts.hostile import clean_json, mark_hostile_characters


def dollars_of(nano: float | Decimal) -> Decimal:
    """Nanodollars as dollars: exact, without an exponent and without trailing zeros. Dollars stay."""
    return nano if isinstance(nano, Decimal) else Decimal(f"{Decimal(round(nano)) / 10**9:f}")


LONGEST_REF: Final = 140
LARGEST_REF: Final = 2**63 - 1


def check_ref(value: object) -> int | str:
    """An id or a name. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError("give an id or a name")
    if isinstance(value, int):
        if not 0 < value <= LARGEST_REF:
            raise ValueError("an id is a whole number from 1")
        return value
    if not 0 < len(value) <= LONGEST_REF:
        raise ValueError(f"a name has 1 to {LONGEST_REF} characters")
    return mark_hostile_characters(value)


class Body(Schema):
    """What is sent to the API: a field that it does not know is an error."""

    model_config = ConfigDict(extra="forbid")


Dollars = Annotated[Decimal, BeforeValidator(dollars_of)]
"""Read from nanodollars."""
CleanText = Annotated[str, AfterValidator(mark_hostile_characters)]
Ref = Annotated[int | str, PlainValidator(check_ref, json_schema_input_type=int | str)]
"""What a caller names: by its id or its name; of what has versions also by `name@version`."""
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
