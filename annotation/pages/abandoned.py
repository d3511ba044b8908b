"""What a build could not judge, by cause: how many, an example, what would help, the price of a new try."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.db.models import QuerySet
from django.utils import timezone

from annotation.causes import said
from annotation.models import Abandonment, AgentBill, Build, Case, Price, Tally
from annotation.screening import FIRST
from annotation.stages import Stage

PAGE: Final = 50
MOST_GROUPS: Final = 20


@dataclass(frozen=True, slots=True)
class Group:
    """Cases that were abandoned for one cause; `price` is that of trying all again in nanodollars."""

    cause: str
    words: str
    help: str
    count: int
    left: tuple[tuple[str, int], ...]
    example: Case | None
    price: float | None


@dataclass(frozen=True)
class AbandonedPage:
    """Groups by cause, then the cases in pages of 50; `after` is the cursor of the next page."""

    build: Build
    abandoned: int
    groups: tuple[Group, ...]
    cases: tuple[Case, ...]
    after: int | None
    is_first: bool
    can_retry: bool


def abandoned_page(build: Build, after: int) -> AbandonedPage:
    """The page of abandoned cases behind case `after` (0 = the first)."""
    rows: QuerySet[Case] = Case.objects.filter(build=build, stage=Stage.ABANDONED, pk__gt=after)
    found = list(rows.select_related("pair__query", "pair__snippet").order_by("pk")[: PAGE + 1])
    shown = tuple(found[:PAGE])
    return AbandonedPage(
        build=build,
        abandoned=build.tally.abandoned,
        groups=groups(build, build.tally),
        cases=shown,
        after=shown[-1].pk if len(found) > PAGE else None,
        is_first=not after,
        can_retry=bool(build.tally.abandoned) and build.state != Build.State.CANCELLED,
    )


def groups(build: Build, tally: Tally, most: int = MOST_GROUPS) -> tuple[Group, ...]:
    """The causes with the most cases, the most frequent first; reads counters and one case for each."""
    if not tally.abandoned:
        return ()
    prices = remaining(build, tally)
    causes: dict[str, list[Abandonment]] = {}
    for row in Abandonment.objects.filter(build=build, cases__gt=0).order_by("-cases", "cause", "left"):
        causes.setdefault(row.cause, []).append(row)
    made = [group(build, cause, rows, prices) for cause, rows in list(causes.items())[:most]]
    return tuple(sorted(made, key=lambda one: -one.count))


def group(build: Build, cause: str, rows: list[Abandonment], prices: Mapping[str, float | None]) -> Group:
    words, help_ = said(cause)
    costs = [None if (price := prices.get(row.left)) is None else row.cases * price for row in rows]
    return Group(
        cause=cause,
        words=words,
        help=help_,
        count=sum(row.cases for row in rows),
        left=tuple((row.left.replace("_", " "), row.cases) for row in rows),
        example=Case.objects.filter(build=build, stage=Stage.ABANDONED, cause=cause).order_by("pk").first(),
        price=None if None in costs else sum(cost for cost in costs if cost is not None),
    )


def remaining(build: Build, tally: Tally) -> dict[str, float | None]:
    """Mean nanodollars from each stage to the label, by what this build has paid so far; None: not known.

    Unclear cases cost more than clear ones, so screening counts the rest of the way by the share of them.
    """
    if Price.objects.at(build.model, timezone.now()) is None:
        return {}
    spent = dict(AgentBill.objects.filter(build=build).values_list("agent", "spent"))
    tie_breaker = mean(spent.get("tie_breaker", 0), tally.arbitrated)
    arbiter = plus(mean(spent.get("arbiter"), tally.arbitrated), tie_breaker)
    fixer = mean(spent.get("fixer", 0), tally.programs)
    tested = plus(fixer, arbiter)
    neighbour = mean(spent.get("neighbour_writer", 0), tally.written)
    written = plus(neighbour, mean(spent.get("test_writer"), tally.written), tested)
    read = plus(mean(spent.get("single_llm", 0), tally.unclear), written)
    first = next((spent[agent] for agent in FIRST if agent in spent), None)
    screener = mean(first, tally.screened)
    unclear = tally.unclear / tally.screened if tally.screened else 0.0
    rest = 0.0 if not unclear else None if read is None else unclear * read
    return {
        Stage.SCREENING: plus(screener, rest),
        Stage.READING: read,
        Stage.WRITING_TEST: written,
        Stage.EXECUTING: tested,
        Stage.FIXING: tested,
        Stage.ARBITRATING: arbiter,
        Stage.TIE_BREAKING: tie_breaker,
    }


def mean(spent: int | None, cases: int) -> float | None:
    return spent / cases if spent is not None and cases else None


def plus(*amounts: float | None) -> float | None:
    """Their sum; not known where one is not."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None
