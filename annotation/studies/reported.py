"""What the papers report of people and annotators, newest first: *as reported*, and never more than that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Reported:
    """One figure with what is known of its sample. Empty where the paper gives none."""

    who: str
    accuracy: str
    alpha: str
    sample: str
    where: str


REPORTED: Final = (
    Reported("Test-driven agents", "93.9 %", "", "1,000 verified pairs", "the newest version"),
    Reported("Test-driven agents", "96.4 %", "", "200 or 300 pairs, both are said", "RQ2"),
    Reported("People with tests", "", "0.85", "the reference of the rows below", "RQ2"),
    Reported(
        "People without tests",
        "89.0 %",
        "0.61",
        "other people, the same pairs",
        "RQ2; equals the first paper",
    ),
    Reported("Single LLM: DeepSeek-V3", "82.0 %", "", "the same pairs", "RQ2"),
    Reported("Single LLM: o1-mini", "81.6 %", "", "the same pairs", "RQ2"),
    Reported("Single LLM: Claude 3.5 Sonnet", "83.0 %", "", "the same pairs", "RQ2"),
)
