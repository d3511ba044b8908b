"""`python -m tests.e2e.real_pairs FILE COUNT SEED`: a build of pairs that are drawn from CoSQA's file.

Each pair has the label that people gave it. Every second one has a test. Prints the build's id.
"""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import django

if TYPE_CHECKING:
    from retrieval.models import Collection, Text

NAME: Final = "real pairs"
REASON: Final = (
    "The query asks for one thing, and the function does it for the usual input: each value is visited once, "
    "and what is returned is what was asked for. Empty input gives an empty result, as one would expect."
)
"""As long as the longest beginning of a reason that the page shows at once."""


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cosqa_site.settings")
    django.setup()
    from cosqa_site.service import startup

    startup.prepare_database()
    file, count, seed = sys.argv[1:]
    rows = json.loads(Path(file).read_text())
    random.Random(int(seed)).shuffle(rows)
    print(build_of(distinct(rows)[: int(count)]))


def distinct(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Those whose query and whose function did not come before."""
    by_query = {row["doc"]: row for row in reversed(rows)}
    by_code = {row["code"]: row for row in reversed(by_query.values())}
    return [row for row in rows if by_code.get(row["code"]) is row]


def build_of(rows: list[dict[str, str]]) -> int:
    """A build that is done, of these queries with one function each."""
    from annotation.models import Build
    from tests import factories

    queries = factories.queries([row["doc"] for row in rows], NAME)
    snippets = factories.snippets([row["code"] for row in rows], NAME)
    mining = factories.mining(queries, snippets, k=1)
    made = factories.launched(NAME, mining=mining, opened=True)
    pairs = zip(texts_of(queries), texts_of(snippets), strict=True)
    for number, ((query, snippet), row) in enumerate(zip(pairs, rows, strict=True)):
        case = factories.open_case(made, factories.candidate(mining, query, snippet, 1))
        if number % 2:
            factories.examined(case, int(row["label"]))
        else:
            factories.settled(case, int(row["label"]), REASON)
    Build.objects.filter(pk=made.pk).update(state=Build.State.DONE)
    return made.pk


def texts_of(collection: Collection) -> list[Text]:
    """The texts in their order."""
    return [member.text for member in collection.members.select_related("text").order_by("position")]


if __name__ == "__main__":
    main()
