"""The cases behind a number on a build's page: one list with filters, by page, each with its evidence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.db.models import QuerySet
from django.http import QueryDict

from annotation.abandonment import describe_abandonment_cause
from annotation.builds.launch.launcher import MOST_ROUNDS
from annotation.models import Build
from annotation.stages import Stage
from annotation.web.browse.page import LONGEST_SEARCH
from annotation.web.builds.figures import AGENTS
from annotation.web.cases.filters import SORTS, Filters, filter_build_cases, find_case_page, load_listed_cases
from annotation.web.cases.row_counts import Number, number_of
from annotation.web.review.tags import TAG_WORDS
from annotation.web.shared.pagination import Menu, format_row_count, pick_menu_values, whole_number
from annotation.web.shared.words import OUTCOMES
from sandbox.reports.report import Outcome

PAGE_SIZE: Final = 50
LONGEST_CAUSE: Final = 130

STAGES: Final = tuple((stage.value, stage.replace("_", " ")) for stage in Stage)
LABELS: Final = (("1", "match"), ("0", "no match"), ("none", "no label"))
OTHER_BY: Final = (("test", "after a test"), ("screener", "by the screener"))
CANARY_WORDS: Final = (
    ("drawn", "of the canary"),
    ("finished", "of the canary, finished"),
    ("refused", "of the canary, that the model declined"),
)
MENUS: Final[Mapping[str, Menu]] = {
    "stage": STAGES,
    "reached": (
        ("screened", "screened"),
        ("clear", "clear to the screener"),
        ("unclear", "unclear to the screener"),
        ("read", "judged by the reader"),
        ("written", "has its test program"),
        ("executed", "was executed"),
        ("second", "had a second test executed"),
        ("second_tested", "whose second test used the function"),
        ("fixed", "lacked a module"),
        ("arbitrated", "arbitrated"),
        ("disputed", "reader and arbiter differ"),
    ),
    "label": LABELS,
    "outcome": [(end.value, OUTCOMES[end].word) for end in Outcome if end is not Outcome.UNAVAILABLE],
    "ran": (
        ("yes", "ran"),
        ("no", "did not run"),
        ("tested", "tested the function"),
        ("untested", "did not test the function"),
    ),
    "agent": [(agent, agent.replace("_", " ")) for agent in AGENTS.values()],
    "differs": (("experts", "expert disagrees"),),
    "tag": TAG_WORDS,
    "left": STAGES,
    "round": [(str(number), f"round {number}") for number in range(1, MOST_ROUNDS + 1)],
    "other": LABELS,
    "other_by": OTHER_BY,
    "canary": CANARY_WORDS,
    "sort": [(name, sort.word) for name, sort in SORTS.items()],
}


TITLES: Final[Mapping[str, str]] = {
    "stage": "stage",
    "reached": "got as far as",
    "label": "agents’ label",
    "outcome": "outcome of the test",
    "ran": "test program",
    "agent": "agent",
    "tag": "tagged by a person",
    "cause": "cause",
    "left": "abandoned at",
    "q": "query contains",
    "differs": "disagreement",
    "round": "round",
    "against": "compared with build",
    "other": "its label",
    "other_by": "decided by",
    "canary": "canary",
    "extension": "extension",
}
"""What each filter is called, as on the page."""


def cases_number(build: Build, visible: QuerySet[Build], params: QueryDict) -> Number:
    """How many cases pass the filters, alone."""
    rows = filter_build_cases(build, visible, filters_of(params))
    return number_of(format_row_count(rows), rows, params)


def filters_of(params: QueryDict) -> Filters:
    """The filters in a query string; what is not on the menu counts as not given."""
    picked = pick_menu_values(params, MENUS)
    against, extension = (whole_number(params.get(name, "")) for name in ("against", "extension"))
    return Filters(
        **picked | {"sort": picked["sort"] or "made"},
        cause=params.get("cause", "").replace("\x00", "")[:LONGEST_CAUSE],
        q=params.get("q", "").replace("\x00", "").strip()[:LONGEST_SEARCH],
        against=str(against) if against > 0 else "",
        extension=str(extension) if extension > 0 and picked["canary"] else "",
    )


def describe_filters(filters: Filters) -> str:
    """The filters in words, such as `stage “settled”, agents’ label “match”`."""
    given = ((title, getattr(filters, name), dict(MENUS.get(name, ()))) for name, title in TITLES.items())
    return ", ".join(f"{title} “{menu.get(value, value)}”" for title, value, menu in given if value)


def cases_page(build: Build, visible: QuerySet[Build], params: QueryDict) -> dict[str, Any]:
    """One page of the build's cases that pass the filters; `visible` are the builds whose reviews count.

    What the page shows of its cases is read once it is known which they are.
    """
    filters = filters_of(params)
    page = find_case_page(build, visible, filters, params, PAGE_SIZE)
    return {
        "build": build,
        "filters": filters,
        "cases": load_listed_cases([case.pk for case in page.window.rows]),
        "number": number_of(page.count, filter_build_cases(build, visible, filters), params),
        "previous": page.window.previous,
        "next": page.window.next,
        "cause": describe_abandonment_cause(filters.cause)[0] if filters.cause else "",
        "beside": beside_words(visible, filters),
        "canary": canary_words(build, filters),
        "options": MENUS,
    }


def beside_words(visible: QuerySet[Build], filters: Filters) -> str:
    """What another build said of these pairs: `that autumn called match after a test`; empty without one."""
    build = visible.filter(pk=int(filters.against)).first() if filters.against else None
    if build is None:
        return ""
    if not filters.other:
        return f"whose pair {build.name} has too"
    word = "gave no label" if filters.other == "none" else f"called {dict(LABELS)[filters.other]}"
    return f"that {build.name} {word} {dict(OTHER_BY).get(filters.other_by, '')}".rstrip()


def canary_words(build: Build, filters: Filters) -> str:
    """Which cases of the canary these are; empty where none are asked for."""
    words = dict(CANARY_WORDS).get(filters.canary, "")
    if filters.extension:
        words = words.replace("the canary", f"the canary of extension {filters.extension}")
    return f"{words}, round 1" if words and build.rounds > 1 else words
