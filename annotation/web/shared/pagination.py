"""Lists by page without offsets: a page begins after a row or ends before one, however far down it lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeAlias, TypeVar

from django.db.models import Model, Q, QuerySet
from django.http import QueryDict

from annotation.review.worklists.keyset import build_keyset_condition

MOST_COUNTED = 1_000
M = TypeVar("M", bound=Model)
Groups: TypeAlias = Sequence[Q]
Menu: TypeAlias = Sequence[tuple[str, str]]
"""Values of a query string, each with its words."""
ALL: Final[Groups] = (Q(),)
"""All rows are one group."""


@dataclass(frozen=True, slots=True)
class Window(Generic[M]):
    """The rows of one page; `previous` and `next` are query strings, empty at an end."""

    rows: Sequence[M]
    previous: str
    next: str


@dataclass(frozen=True, slots=True)
class Anchor:
    """Where a row stands: the place of its group, from 0, and its values of what the rows are ordered by."""

    place: int
    values: Mapping[str, Any]


def whole_number(text: str) -> int:
    """A whole number that every database can hold; -1, which nothing has, for anything else."""
    return int(text) if text.isdecimal() and len(text) < 19 else -1


def pick_menu_values(params: QueryDict, menus: Mapping[str, Menu]) -> dict[str, str]:
    """The value of each menu in a query string; what is not on the menu counts as not given."""
    given = {name: params.get(name, "") for name in menus}
    return {name: value if value in dict(menus[name]) else "" for name, value in given.items()}


def load_page_window(
    rows: QuerySet[M],
    order: Sequence[str],
    params: QueryDict,
    size: int,
    groups: Groups = ALL,
    among: QuerySet[M] | None = None,
) -> Window[M]:
    """The page that `params` asks for by `after` or `before` (a row's id), else the first one.

    `order` names fields or annotations and must end with one that is unique. With `groups`, which part the
    rows, those of the first come first, and `order` is that inside each. A row that is gone, or an id that is
    none, leads to the first page; `among` are the rows that may be named so, by default those of the list.
    """
    back = "before" in params
    known = rows if among is None else among
    anchor = anchor_of(known, order, params.get("before" if back else "after", ""), groups)
    back = back and anchor is not None
    found = load_anchored_rows(rows, order, groups, anchor, size + 1, forward=not back)
    more = len(found) > size
    page = found[:size][::-1] if back else found[:size]
    earlier, later = (more, True) if back else (anchor is not None, more)
    return Window(
        rows=page,
        previous=query_string(params, "before", page[0].pk) if page and earlier else "",
        next=query_string(params, "after", page[-1].pk) if page and later else "",
    )


def load_anchored_rows(
    rows: QuerySet[M],
    order: Sequence[str],
    groups: Groups,
    anchor: Anchor | None,
    most: int,
    *,
    forward: bool = True,
) -> list[M]:
    """Up to `most` rows after the anchor, or before it, the nearest first.

    A group is one look, as each has an index in whose order it can be read, and all together have none.
    """
    found: list[M] = []
    places = range(len(groups)) if forward else range(len(groups) - 1, -1, -1)
    for place in places[places.index(anchor.place) if anchor else 0 :]:
        part = rows.filter(groups[place])
        if anchor and place == anchor.place:
            part = part.filter(build_keyset_condition(order, anchor.values, forward=forward))
        part = part.order_by(*order)
        found += (part if forward else part.reverse())[: most - len(found)]
        if len(found) == most:
            break
    return found


def anchor_of(rows: QuerySet[M], order: Sequence[str], pk: str, groups: Groups = ALL) -> Anchor | None:
    """Where the row with this id stands, or None."""
    row = rows.filter(pk=whole_number(pk))
    values = row.values(*(name.lstrip("-") for name in order)).first() if pk else None
    if values is None:
        return None
    last = len(groups) - 1
    return Anchor(next((n for n in range(last) if row.filter(groups[n]).exists()), last), values)


def query_string(params: QueryDict, name: str = "", value: object = "") -> str:
    """`params` with the place on the list replaced, or without one."""
    copy = params.copy()
    for place in ("after", "before", "count"):  # the last asks for a number, not for every page's
        copy.pop(place, None)
    if name:
        copy[name] = str(value)
    return copy.urlencode()


def format_row_count(rows: QuerySet[M]) -> str:
    """How many rows there are, as far as it is worth counting: `987` or `1,000+`."""
    return said_count(count_some(rows))


def count_some(rows: QuerySet[M]) -> int:
    """How many rows there are; one more than is counted means more."""
    return rows.order_by()[: MOST_COUNTED + 1].count()


def said_count(number: int) -> str:
    return f"{MOST_COUNTED:,}+" if number > MOST_COUNTED else f"{number:,}"
