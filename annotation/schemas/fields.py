"""Kinds of values that several schemas have."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from retrieval.hostile import clean, clean_json

CleanText = Annotated[str, AfterValidator(clean)]
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
]
Unconfirmed = Annotated[bool, Field(description="launch what is paid on an estimate that nobody has seen")]
