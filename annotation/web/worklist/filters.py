"""The filters of the list in an address, with their words.

The address of a review page names a list, too.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from binascii import Error as NotEncoded
from collections.abc import Mapping
from typing import Final

from django.http import QueryDict

from annotation.models import Basis
from annotation.review.tags import Tag, tag_name
from annotation.review.worklists.case_list import (
    MOST_SAMPLED,
    NO_TEST,
    SAMPLED,
    FilteredList,
    ListFilters,
    SmartList,
    Sort,
)
from annotation.web.shared.pagination import Menu, pick_menu_values, whole_number
from annotation.web.shared.words import OUTCOMES
from sandbox.reports.report import Outcome

LONGEST_SEARCH: Final = 200
LARGEST_SEED: Final = 999_999
SMART_WORDS: Final[Mapping[SmartList, tuple[str, str]]] = {
    SmartList.UNTESTED: ("No test", "Pairs with a verdict that no test was run for."),
    SmartList.FAILED_MATCH: ("Test failed, but match", "The agents said match although the test failed."),
    SmartList.PASSED_NO_MATCH: ("Test passed, but no match", "The agents said no match although it passed."),
    SmartList.AGENTS_DISAGREE: ("Agents disagree", "Two agents, or two rounds, gave different verdicts."),
    SmartList.EXPERTS_DISAGREE: ("Experts disagree", "One expert says match, another one says no match."),
    SmartList.WEAK_EVIDENCE: (
        "Weak test",
        "The test did not touch the function, proved nothing, passed on wrong code or failed on right code.",
    ),
    SmartList.FEW_TOUCHING: (
        "Few assertions",
        "In the run, at most one line of the test checked what the function gave.",
    ),
    SmartList.MISSES_BUGS: (
        "Test misses bugs",
        "The strength of the test was checked, and it missed at least half of the planted bugs.",
    ),
    SmartList.SAMPLE: (
        "Random sample",
        "Pairs drawn at random. The same seed gives the same pairs.",
    ),
}
"""Each list in one to three words, and what it has in a sentence."""
BASIS_WORDS: Final[Mapping[Basis, str]] = {
    Basis.CLEAR: "screener",
    Basis.SINGLE: "one model",
    Basis.TESTED: "arbiter",
    Basis.AGREED: "reader and arbiter",
    Basis.DISPUTED: "after a dispute",
}
"""Who decided a verdict."""
MENUS: Final[Mapping[str, Menu]] = {
    "smart": [(smart.value, name) for smart, (name, _) in SMART_WORDS.items()],
    "label": (("1", "match"), ("0", "no match"), ("none", "no verdict")),
    "basis": [(basis.value, word) for basis, word in BASIS_WORDS.items()],
    "outcome": [
        (NO_TEST, "no test"),
        *((end.value, OUTCOMES[end].word) for end in Outcome if end is not Outcome.UNAVAILABLE),
    ],
    "mine": (("none", "none yet"), ("any", "any"), ("1", "match"), ("0", "no match"), ("unsure", "unsure")),
    "tag": [(tag.value, tag_name(tag)) for tag in Tag],
    "assigned": (("me", "to me"), ("others", "to others"), ("none", "to nobody")),
    "sort": (
        (Sort.QUERY.value, "by query"),
        (Sort.INFORMATION.value, "most to learn first"),
        (Sort.RANK.value, "by rank"),
        (Sort.SCORE.value, "highest score first"),
        (Sort.CHANGED.value, "last changed first"),
    ),
}


def filters_of(params: QueryDict) -> ListFilters:
    """The filters in a query string; what is not on the menu counts as not given."""
    picked = pick_menu_values(params, MENUS)
    seed, size = (whole_number(params.get(name, "")) for name in ("seed", "size"))
    sort = Sort(picked.pop("sort") or Sort.QUERY)
    return ListFilters(
        **picked,
        sort=sort,
        q=params.get("q", "").replace("\x00", "").strip()[:LONGEST_SEARCH],
        seed=seed if 0 <= seed <= LARGEST_SEED else 0,
        size=size if 1 <= size <= MOST_SAMPLED else SAMPLED,
    )


def list_named(encoded: str) -> FilteredList | None:
    """The list whose filters the address of a review page carries; None for anything else."""
    try:
        query = urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode()
    except (NotEncoded, UnicodeDecodeError, ValueError):
        return None
    return FilteredList(filters_of(QueryDict(query)))


def describe_filters(filters: ListFilters) -> str:
    """The list's name in words, such as `No test, tagged partial, to me`; `all pairs` without a filter."""
    words = [f"“{filters.q}”"] if filters.q else []
    for name, words_of in MENUS.items():
        value = getattr(filters, name)
        if name != "sort" and value:
            words.append(f"{PREFIXES.get(name, '')}{dict(words_of)[value]}")
    if filters.is_sample:
        words.append(f"seed {filters.seed}")
    return ", ".join(words) or "all pairs"


PREFIXES: Final[Mapping[str, str]] = {
    "label": "agents: ",
    "outcome": "test: ",
    "mine": "my label: ",
    "tag": "tag: ",
    "assigned": "assigned ",
}
