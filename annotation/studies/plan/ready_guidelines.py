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
BOTH_CRITERIA: Final = Wording(
    "Exact match and 50 % match",
    """# Exact match and 50 % match

The two criteria of CoSQA+'s first version, asked as one question: how much of what the query asks for does
the code do?

| choose | the code | exact match | 50 % match |
| --- | --- | --- | --- |
| **all of it** | does everything that the query asks for. It may do more. | match | match |
| **at least half** | does half or more of what is asked, and something is missing. | no match | match |
| **less** | does less than half, or another task. | no match | no match |

1. Read the query and write down what it demands: the task, the input, the result, each condition it names.
2. Take the demands one by one. Does the code meet it? A demand that the query does not make does not count.
3. Count. All met: *all of it*. Half or more: *at least half*. Fewer: *less*.

Judge what the code does, not how well it is written. A name from the code's own project that is not shown is
assumed to do what it says.
""",
    worked_cases=(
        {
            "query": "python read json file and sort by date",
            "code": "def load(path):\n    rows = json.load(open(path))\n"
            "    return sorted(rows, key=lambda row: row['date'])",
            "value": "2",
            "why": "It reads the file and sorts by date: both demands are met.",
        },
        {
            "query": "python read json file and sort by date",
            "code": "def load(path):\n    return json.load(open(path))",
            "value": "1",
            "why": "One of two demands is met: half. By exact match this is no match.",
        },
        {
            "query": "python read json file and sort by date",
            "code": "def dump(rows, path):\n    json.dump(rows, open(path, 'w'))",
            "value": "0",
            "why": "It writes a file: none of the demands is met.",
        },
    ),
)
READY: Final[Mapping[str, Wording]] = {
    "exact": EXACT,
    "steps": BOTH_CRITERIA,
    "graded": GRADED,
}
"""By what forms call them."""


def ensure_ready_guideline(key: str, user: User) -> Guideline:
    """The newest version of a ready text; its first one is made where nobody has used it yet."""
    wording = READY[key]
    return find_latest_guideline(wording.name) or write_guideline_version(wording, user)
