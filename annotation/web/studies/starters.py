"""What a new study is for: each purpose fills the form in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from annotation.models import Condition, Study

READING, OWN_TESTS = Condition.Kind.READING, Condition.Kind.OWN_TESTS


@dataclass(frozen=True)
class Starter:
    """`values` are those of the form's fields; all others stay as they are proposed."""

    title: str
    words: str
    values: Mapping[str, Any]


def conditions_with(kind: str) -> dict[str, Any]:
    """One condition, whose majority is the reference."""
    return {"reference": kind, **{f"with_{other}": other == kind for other in Condition.Kind.values}}


STARTERS: Final[Mapping[str, Starter]] = {
    "truth": Starter(
        "Ground truth",
        "Experts run tests of their own and decide which labels of a build are right.",
        {
            **conditions_with(OWN_TESTS),
            "question": "How many of the build’s labels are right?",
            "size": 300,
            "ready": "exact",
        },
    ),
    "agreement": Starter(
        "Agreement check",
        "A few pairs, read by three people: do they agree with each other, and with the agents?",
        {
            **conditions_with(READING),
            "question": "How well do people who read the code agree with each other and with the agents?",
            "size": 100,
            "ready": "exact",
        },
    ),
    "criteria": Starter(
        "Two criteria",
        "Exact match and 50 % match by one question, as in CoSQA+.",
        {
            **conditions_with(READING),
            "question": "How right are the labels by exact match, and by 50 % match?",
            "scale": Study.Scale.STEPS,
            "size": 100,
            "ready": "steps",
        },
    ),
    "graded": Starter(
        "Graded relevance",
        "Grades from 0 to 3, as in CodeSearchNet.",
        {
            **conditions_with(READING),
            "question": "How relevant is each function to its query?",
            "scale": Study.Scale.GRADED,
            "per_query": 0,
            "ready": "graded",
        },
    ),
    "pairwise": Starter(
        "Which is better",
        "Two functions for one query, from two builds: which answers it better?",
        {
            **conditions_with(READING),
            "question": "Which of the two builds finds the better function?",
            "kind": Study.Kind.PAIRWISE,
            "size": 100,
        },
    ),
}
