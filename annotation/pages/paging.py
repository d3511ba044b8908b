"""Lists by page without offsets: a page begins after a row or ends before one, however far down it lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db.models import Model, Q, QuerySet
from django.http import QueryDict

MOST_COUNTED = 10_000
M = TypeVar("M", bound=Model)


@dataclass(frozen=True, slots=True)
class Window(Generic[M]):
    """The rows of one page; `previous` and `next` are query strings, empty at an end."""

    rows: Sequence[M]
    previous: str
    next: str


def whole_number(text: str) -> int:
    """A whole number that every database can hold; -1, which nothing has, for anything else."""
    return int(text) if text.isdecimal() and len(text) < 19 else -1


def window(rows: QuerySet[M], order: Sequence[str], params: QueryDict, size: int) -> Window[M]:
    """The page that `params` asks for by `after` or `before` (a row's id), else the first one.

    `order` names fields or annotations and must end with one that is unique. A row that is gone, or an id
    that is none, leads to the first page.
    """
    back = "before" in params
    anchor = anchor_of(rows, order, params.get("before" if back else "after", ""))
    wanted = rows.filter(beyond(order, anchor, forward=not back)) if anchor else rows
    found = list(wanted.order_by(*(turned(order) if anchor and back else order))[: size + 1])
    more = len(found) > size
    page = found[:size][::-1] if anchor and back else found[:size]
    earlier, later = (more, True) if anchor and back else (anchor is not None, more)
    return Window(
        rows=page,
        previous=query_string(params, "before", page[0].pk) if page and earlier else "",
        next=query_string(params, "after", page[-1].pk) if page and later else "",
    )


def anchor_of(rows: QuerySet[M], order: Sequence[str], pk: str) -> Mapping[str, Any] | None:
    """The ordering values of the row with this id, or None."""
    if not pk.isdecimal() or len(pk) > 18:
        return None
    return rows.filter(pk=int(pk)).values(*(name.lstrip("-") for name in order)).first()


def beyond(order: Sequence[str], anchor: Mapping[str, Any], *, forward: bool) -> Q:
    """Rows that come after the anchor in `order`, or before it."""
    wanted, equal = Q(), Q()
    for name in order:
        field = name.lstrip("-")
        comparison = "gt" if forward != name.startswith("-") else "lt"
        wanted |= equal & Q(**{f"{field}__{comparison}": anchor[field]})
        equal &= Q(**{field: anchor[field]})
    return wanted


def turned(order: Sequence[str]) -> list[str]:
    return [name[1:] if name.startswith("-") else f"-{name}" for name in order]


def query_string(params: QueryDict, name: str, value: object) -> str:
    """`params` with the place on the list replaced."""
    copy = params.copy()
    for place in ("after", "before"):
        copy.pop(place, None)
    copy[name] = str(value)
    return copy.urlencode()


def counted(rows: QuerySet[M]) -> str:
    """How many rows there are, as far as it is worth counting: `9,876` or `10,000+`."""
    number = rows.order_by()[: MOST_COUNTED + 1].count()
    return f"{MOST_COUNTED:,}+" if number > MOST_COUNTED else f"{number:,}"
