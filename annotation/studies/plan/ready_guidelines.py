"""Guidelines to start from: ready texts, of which a study makes the first version when it is saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.contrib.auth.models import User

from annotation.models import Guideline
from annotation.studies.plan.guidelines import (
    Wording,
    find_latest_guideline,
    first_text,
    write_guideline_version,
)

EXACT: Final = Wording(
    "Exact match",
    first_text(),
    worked_cases=(
        {
            "query": "python reverse list in place",
            "code": "def turn(items):\n    items.reverse()",
            "value": "1",
            "why": "It does what is asked.",
        },
        {
            "query": "python count words in file",
            "code": "def words(path):\n    n = len(open(path).read().split())\n    print(n)\n    return n",
            "value": "1",
            "why": "It does what is asked, and more.",
        },
        {
            "query": "python reverse list in place",
            "code": "def turn(items):\n    return items[::-1]",
            "value": "0",
            "why": "It does another task: it makes a second list.",
        },
    ),
)
GRADED: Final = Wording(
    "Relevance 0 to 3",
    """# Relevance, 0 to 3

The scale of CodeSearchNet. Think of a programmer who typed the query and finds this function.

| grade | the function |
| --- | --- |
| **3**, exact match | is exactly what was looked for. It could be copied with no or few changes. |
| **2**, strong match | does more or less what was looked for. It serves with some changes, or as a start. |
| **1**, weak match | is not what was looked for, but has parts that help, such as a call to look up. |
| **0**, irrelevant | would not be looked at again. |

Judge what the function does, not how well it is written. If the query has several readings, take the one that
suits the function best, as long as programmers may well mean it.

Not sure between two grades? Take the lower one, and say why in a note.
""",
)
READY: Final[Mapping[str, Wording]] = {"exact": EXACT, "graded": GRADED}
"""By what forms call them."""


def ensure_ready_guideline(key: str, user: User) -> Guideline:
    """The newest version of a ready text; its first one is made where nobody has used it yet."""
    wording = READY[key]
    return find_latest_guideline(wording.name) or write_guideline_version(wording, user)
