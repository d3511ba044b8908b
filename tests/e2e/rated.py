"""`python -m tests.e2e.rated`: studies with a rater each; prints the studies' ids by name."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import django

if TYPE_CHECKING:
    from annotation.models import Case, Study
    from retrieval.models import Pair

QUERIES = ("put the items of a list in reverse", "turn a list around", "list backwards in place")
CODE = (
    "def turned(items):\n"
    '    """Turn the list around.\n\n    In place, and returned as well.\n    """\n'
    "    left, right = 0, len(items) - 1\n"
    "    while left < right:\n"
    "        items[left], items[right] = items[right], items[left]\n"
    "        left, right = left + 1, right - 1\n"
    "    return items\n"
)
OTHER = "def turned(items):\n    return list(reversed(items))\n"
PROGRAM = (
    "def test_should_fail():\n"
    "    # the candidate is wrong\n"
    "    assert turned([1, 2]) == [2, 1]\n\n\n"
    "test_should_fail()\n"
)
RULES = "# Rules\n\nA **match** does all that is asked.\n\n| asked | done |\n| --- | --- |\n| a | b |\n"
RATERS = {
    "session": ("rita", "own_tests"),
    "reveal": ("rosa", "reveal"),
    "second_look": ("rada", "second_look"),
    "pairwise": ("rolf", "own_tests"),
    "tabs": ("rudi", "reading"),
    "offline": ("ruth", "reading"),
    "reached": ("rina", "reading"),
    "keeping": ("rahel", "reading"),
    "skipping": ("rufa", "reading"),
    "logged_out": ("rene", "reading"),
    "stopped": ("ralf", "reading"),
    "stepped": ("rosi", "own_tests"),
    "sent": ("rhea", "reading"),
    "drafts": ("rieke", "own_tests"),
    "undone": ("rune", "reading"),
    "timed": ("runa", "reading"),
    "beating": ("rahel", "reading"),
    "edited": ("romy", "own_tests"),
    "arranged": ("rona", "own_tests"),
    "replaced": ("rixa", "own_tests"),
    "marked": ("resi", "reading"),
    "rate_own": ("rick", "own_tests"),
    "rate_agents": ("rick", "agents_tests"),
    "rate_pairwise": ("rick", "own_tests"),
}
"""By the study's name, its rater and condition: none disturbs another."""


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cosqa_site.settings")
    django.setup()
    from cosqa_site.service import startup

    startup.prepare_database()
    print(json.dumps({name: made(name) for name in RATERS}))


def made(name: str) -> int:
    """A study with its rater, who has an account."""
    from django.contrib.auth.models import User

    from tests import studies
    from tests.e2e.prepare import hashed_password

    who, kind = RATERS[name]
    if not User.objects.filter(username=who).exists():
        User.objects.create(username=who, password=hashed_password())
    judged = kind in {"reveal", "agents_tests", "second_look"}
    of = cases(name) if judged else []
    study = studies.study(
        name,
        [kind],
        [case.pair for case in of] if judged else pairs(CODE),
        information="You can stop at **any** time.",
        guideline=studies.guideline(name="what is a match", text=RULES),
        **columns(name),
    )
    draw(study, name, of)
    studies.rater(who, study)
    return study.pk


def columns(name: str) -> dict[str, Any]:
    if name.endswith("pairwise"):
        return {"kind": "pairwise", "scale": "preference", "ties": True}
    docstrings = {"rate_own": "folded", "marked": "hidden"}
    return {"docstring": docstrings[name]} if name in docstrings else {}


def pairs(code: str) -> list[Pair]:
    from retrieval.models import Pair, Text

    queries, snippets = Text.objects.keep_all(QUERIES), Text.objects.keep_all([code])
    return [Pair.objects.get_or_create(query=query, snippet=snippets[0])[0] for query in queries]


def cases(name: str) -> Sequence[Case]:
    """Cases of a build of its own, each with a test that tells what its writer thought."""
    from tests import factories

    queries = factories.queries(QUERIES, name)
    mining = factories.mining(queries, factories.snippets([CODE, OTHER, "def a():\n    pass\n"], name), k=1)
    build = factories.launched(name, mining=mining, opened=True, state="done")  # no worker takes its cases
    texts = [member.text for member in build.queries.members.select_related("text")]
    code = build.snippets.members.select_related("text").order_by("position")[0].text
    opened = [factories.open_case(build, factories.candidate(mining, text, code, 1)) for text in texts]
    return [factories.examined(case, 0, source=PROGRAM) for case in opened]


def draw(study: Study, name: str, of: Sequence[Case]) -> None:
    """What the study's pairs were drawn from, and the second snippets of pairs of two."""
    for sampled, case in zip(study.pairs.order_by("number"), of, strict=False):
        sampled.case = case
        sampled.save()
    if name.endswith("pairwise"):
        for sampled, other in zip(study.pairs.order_by("number"), pairs(OTHER), strict=True):
            sampled.other = other
            sampled.save()


if __name__ == "__main__":
    main()
