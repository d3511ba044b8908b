"""How conditions and values of each scale are said to raters."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from annotation.models import Condition, Study
from annotation.web.shared.words import MATCH, NO_MATCH, UNSURE, Sign

KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        Condition.Kind.READING: "Judge by reading only: you can't run the code.",
        Condition.Kind.OWN_TESTS: "Write and run your own tests and calls.",
        Condition.Kind.AGENTS_TESTS: "You see the agents' test and its run, but not their verdict.",
        Condition.Kind.REVEAL: "Label first. Then you see the agents' verdict and may change your label.",
        Condition.Kind.SECOND_LOOK: "Label first. Then you look a second time and may change your label.",
    }
)
QUESTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        Study.Scale.BINARY: "Does the code do what the query asks for?",
        Study.Scale.STEPS: "How much of what the query asks for does the code do?",
        Study.Scale.GRADED: "How relevant is the code to the query?",
        Study.Scale.PREFERENCE: "Which function answers the query better?",
    }
)
SIGNS: Final[Mapping[str, Mapping[str, Sign]]] = MappingProxyType(
    {
        Study.Scale.BINARY: {"1": MATCH, "0": NO_MATCH},
        Study.Scale.STEPS: {
            "2": Sign("●", "all of it", "good"),
            "1": Sign("◐", "at least half", "warn"),
            "0": Sign("○", "less", "bad"),
        },
        Study.Scale.GRADED: {
            "3": Sign("3", "exact", "good"),
            "2": Sign("2", "strong", "good"),
            "1": Sign("1", "weak", "warn"),
            "0": Sign("0", "irrelevant", "bad"),
        },
        Study.Scale.PREFERENCE: {
            "left": Sign("←", "left is better", "info"),
            "right": Sign("→", "right is better", "info"),
            "tie": Sign("=", "equally good"),
        },
    }
)
PREFERENCES: Final[Mapping[int, Sign]] = MappingProxyType(
    {
        1: Sign("1", "the first function is better", "info"),
        0: Sign("=", "equally good"),
        -1: Sign("2", "the second function is better", "info"),
    }
)
UNDECIDED: Final = Sign("–", "can't be decided")


def value_sign(scale: str, value: int | None, none: Sign = UNSURE) -> Sign:
    """A stored value of a scale; `none` where there is no value."""
    if value is None:
        return none
    if scale == Study.Scale.PREFERENCE:
        return PREFERENCES[value]
    return SIGNS[scale].get(str(value), Sign("?", str(value)))


def said_sign(scale: str, word: str) -> Sign:
    """The sign of what a form sends for a value of the scale."""
    return SIGNS[scale].get(word, UNSURE)
