"""One page of the list: its rows, the other lists to choose, and the experts to assign."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import OperationalError
from django.db.models import Q, QuerySet
from django.http import QueryDict

from annotation.accounts.roles import Role
from annotation.models import Basis, Build, Case, PairTag, Review, ReviewAssignment, SavedList
from annotation.review.hidden_labels import find_hidden_pairs, hides_labels_from
from annotation.review.tags import filter_known_tags, tag_name
from annotation.review.worklists.case_list import (
    ORDERS,
    FilteredList,
    ListFilters,
    filter_listed_cases,
    with_order,
)
from annotation.review.worklists.code_search import MOST_FOUND, MOST_READ, find_code
from annotation.review.worklists.list_changes import last_change
from annotation.web.cases.code import first_line
from annotation.web.cases.row_counts import CANCELLED, at_most
from annotation.web.review.words import describe_lines, said_sign
from annotation.web.shared.pagination import Window, count_some, load_page_window, said_count
from annotation.web.shared.words import Sign, label_sign
from annotation.web.worklist.filters import BASIS_WORDS, MENUS, SMART_WORDS, filters_of

PAGE_SIZE: Final = 50
SECONDS: Final = 4.0
"""A list that takes longer is stopped, and the page says so."""
NAMED: Final = re.compile(r"(?:async\s+def|def|class)\s+(\w+)")
NOTHING: Final[Window[Case]] = Window((), "", "")


@dataclass(frozen=True, slots=True)
class ListRow:
    """One pair. `in_force`: the label that counts, where it is not the agents' and may be shown.

    `lines` are those of the function that `mine` marks as its reason.
    """

    case: Case
    function: str
    by: str
    in_force: Sign | None
    mine: Sign | None
    lines: str
    tags: tuple[str, ...]
    assigned: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FoundRows:
    """The cases of a page, by their keys alone; `stopped`: it took too long, and nothing is known."""

    window: Window[Case]
    count: str
    stopped: bool = False


def list_page(user: User, build: Build, params: QueryDict) -> dict[str, Any]:
    """The page that an address asks for; the number of queries is the same however many rows it has."""
    filters = filters_of(params)
    found = find_rows(user, build, filters, params)
    undo = last_change(user, build)
    return {
        "build": build,
        "filters": filters,
        "rows": list_rows(user, build, [case.pk for case in found.window.rows]),
        "count": found.count,
        "stopped": found.stopped,
        "search_note": describe_search(build, filters),
        "previous": found.window.previous,
        "next": found.window.next,
        "smart_lists": [(smart.value, name, told) for smart, (name, told) in SMART_WORDS.items()],
        "options": MENUS,
        "queue": FilteredList(filters),
        "saved": saved_lists(user, build),
        "experts": list_experts(),
        "undo": undo and undo.get_kind_display(),
        "hides": hides_labels_from(user, build),
    }


def find_rows(
    user: User, build: Build, filters: ListFilters, params: QueryDict, size: int = PAGE_SIZE
) -> FoundRows:
    """The rows of the page and about how many there are, within a time."""
    rows = filter_listed_cases(user, build, filters)
    among = with_order(Case.objects.filter(build=build), user, build, filters.sort)
    try:
        with at_most(SECONDS):
            number = count_some(rows)
            order = ORDERS[filters.sort]
            window = load_page_window(rows, order, params, size, among=among) if number else NOTHING
    except OperationalError as error:
        if any(word in str(error) for word in CANCELLED):
            return FoundRows(NOTHING, "", stopped=True)
        raise
    return FoundRows(window, said_count(number))


def describe_search(build: Build, filters: ListFilters) -> str:
    """What the search left out, if anything."""
    if not filters.q or (found := find_code(build.snippets, filters.q)).is_whole:
        return ""
    if len(found.texts) >= MOST_FOUND:
        return f"More than {MOST_FOUND:,} functions contain this. Only the first {MOST_FOUND:,} count."
    return f"Code was searched in the first {MOST_READ:,} functions only."


def list_rows(user: User, build: Build, ids: Sequence[int]) -> list[ListRow]:
    """The rows of these cases, in this order. Five queries."""
    related = "pair__query", "pair__snippet", "execution"
    cases = Case.objects.select_related(*related).order_by().in_bulk(ids)
    pairs = [case.pair_id for case in cases.values()]
    hidden = find_hidden_pairs(user, build, pairs)
    reviews = load_reviews(pairs)
    tags, assigned = load_list_tags(pairs), load_assignments(ids)
    return [
        list_row(user, cases[pk], reviews, tags, assigned, hidden=cases[pk].pair_id in hidden)
        for pk in ids
        if pk in cases
    ]


def list_row(
    user: User,
    case: Case,
    reviews: Mapping[int, Sequence[Review]],
    tags: Mapping[int, Sequence[PairTag]],
    assigned: Mapping[int, Sequence[str]],
    *,
    hidden: bool,
) -> ListRow:
    """One row, without what others said of a pair that is `hidden`."""
    of_pair = [said for said in reviews[case.pair_id] if not hidden or said.rater_id == user.pk]
    marks = [mark for mark in tags[case.pair_id] if not hidden or mark.added.user_id == user.pk]
    mine = next((said for said in of_pair if said.rater_id == user.pk), None)
    names = [tag for said in of_pair for tag in said.tags] + [mark.tag for mark in marks]
    differs = case.label_in_force != case.label and not hidden
    return ListRow(
        case,
        function_name(case.pair.snippet.head),
        BASIS_WORDS[Basis(case.basis)] if case.basis else "",
        label_sign(case.label_in_force) if differs else None,
        said_sign(mine.label) if mine else None,
        describe_lines(mine) if mine else "",
        tuple(map(tag_name, filter_known_tags(names))),
        tuple(assigned[case.pk]),
    )


def function_name(code: str) -> str:
    """The name of the function or class; where there is none, the line that says most."""
    line = first_line(code)
    found = NAMED.match(line)
    return found[1] if found else line


def load_reviews(pairs: Sequence[int]) -> dict[int, list[Review]]:
    """The reviews that stand, by pair. One query."""
    found: dict[int, list[Review]] = defaultdict(list)
    for said in Review.objects.current().filter(pair__in=pairs).order_by("pk"):
        found[said.pair_id].append(said)
    return found


def load_list_tags(pairs: Sequence[int]) -> dict[int, list[PairTag]]:
    """The tags that lists gave, by pair. One query."""
    found: dict[int, list[PairTag]] = defaultdict(list)
    rows = PairTag.objects.filter(pair__in=pairs, removed=None).select_related("added")
    for mark in rows.order_by("pk"):
        found[mark.pair_id].append(mark)
    return found


def load_assignments(cases: Sequence[int]) -> dict[int, list[str]]:
    """Who is to review them: names by case. One query."""
    found: dict[int, list[str]] = defaultdict(list)
    rows = ReviewAssignment.objects.filter(case__in=cases, removed=None)
    for case, name in rows.order_by("expert__username").values_list("case", "expert__username"):
        found[case].append(name)
    return found


def saved_lists(user: User, build: Build) -> QuerySet[SavedList]:
    """The person's own lists of the build, and those that others share."""
    mine_or_shared = Q(user=user) | Q(shared=True)
    return SavedList.objects.filter(mine_or_shared, build=build).select_related("user")


def list_experts() -> QuerySet[User]:
    """The people who can review, by name."""
    roles = Q(groups__name__in=[Role.EXPERT.value, Role.ADMIN.value]) | Q(is_superuser=True)
    return User.objects.filter(roles, is_active=True).distinct().order_by("username")
