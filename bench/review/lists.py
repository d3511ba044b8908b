"""The list of cases by every order and filter, on the first page and 50,000 rows in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlencode

from annotation.models import Build, Case
from annotation.web.cases.filters import SORTS

DEEP: Final = 50_000
FILTERS: Final[Mapping[str, str]] = {
    "settled": "stage=settled",
    "abandoned": "stage=abandoned",
    "match": "label=1",
    "no match": "label=0",
    "no label": "label=none",
    "differs": "differs=experts",
    "frequent word": "q=python",
    "word": "q=flatten",
    "absent word": "q=zzzz",
    "two letters": "q=zq",
    "word and label": "q=flatten&label=1",
}


def list_case_addresses(build: Build) -> dict[str, str]:
    """Addresses by what they show; the deep ones begin beside a row that lies so far down in that order."""
    base, found = f"/builds/{build.pk}/cases/", {}
    for name in SORTS:
        deep = row_at(build, name, min(DEEP, build.tally.total // 2))
        found[name] = f"{base}?sort={name}"
        found[f"{name}, deep"] = f"{base}?sort={name}&after={deep}"
        found[f"{name}, back"] = f"{base}?sort={name}&before={deep}"
    for word, query in {**FILTERS, "rare words": urlencode({"q": find_rare_query(build)})}.items():
        found |= {f"{name}, {word}": f"{base}?sort={name}&{query}" for name in SORTS}
    return found


def find_rare_query(build: Build) -> str:
    """A query's whole text: what a search for it lists is as long in a small build as in a large one."""
    middle = build.cases.select_related("query").order_by("pk")[build.tally.total // 2]
    return middle.query.head


def row_at(build: Build, name: str, place: int) -> int:
    """The key of the row at a place of an order without filter; all cases of the build are settled."""
    rows = Case.objects.filter(build=build).order_by(*SORTS[name].order)
    parts = [rows.filter(group) for group in SORTS[name].groups]
    while len(parts) > 1 and place >= (passed := parts[0].count()):
        place -= passed
        parts.pop(0)
    return int(parts[0].values_list("pk", flat=True)[place])
