"""What a build could not judge, by cause: how many, an example, what would help, the price of a new try."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.db.models import QuerySet
from django.utils import timezone

from annotation.abandonment import describe_abandonment_cause
from annotation.builds.pipeline.screening import FIRST
from annotation.models import Abandonment, AgentBill, Build, Case, Price, Tally
from annotation.stages import Stage

PAGE: Final = 50
MOST_GROUPS: Final = 20


def abandoned_page(build: Build, after: int) -> dict[str, Any]:
    """Groups by cause, then the abandoned cases behind case `after` (0 = the first) in pages of 50."""
    rows: QuerySet[Case] = Case.objects.filter(build=build, stage=Stage.ABANDONED, pk__gt=after)
    found = list(rows.select_related("pair__query", "pair__snippet").order_by("pk")[: PAGE + 1])
    abandoned = build.tally.abandoned
    return {
        "build": build,
        "abandoned": abandoned,
        "groups": group_abandoned_cases(build, build.tally),
        "cases": found[:PAGE],
        "after": found[PAGE - 1].pk if len(found) > PAGE else None,
        "is_first": not after,
        "can_retry": bool(abandoned) and build.state != Build.State.CANCELLED,
    }


def group_abandoned_cases(build: Build, tally: Tally, most: int = MOST_GROUPS) -> list[dict[str, Any]]:
    """The causes with the most cases, the most frequent first; reads counters and one case for each."""
    if not tally.abandoned:
        return []
    prices = estimate_remaining_cost(build, tally)
    causes: dict[str, list[Abandonment]] = {}
    for row in Abandonment.objects.filter(build=build, cases__gt=0).order_by("-cases", "cause", "left_stage"):
        causes.setdefault(row.cause, []).append(row)
    made = [
        build_abandonment_group(build, cause, rows, prices) for cause, rows in list(causes.items())[:most]
    ]
    return sorted(made, key=lambda group: -group["count"])


def build_abandonment_group(
    build: Build, cause: str, rows: list[Abandonment], prices: Mapping[str, float | None]
) -> dict[str, Any]:
    """Cases that were abandoned for one cause; `price` is that of trying all again in nanodollars."""
    words, help_ = describe_abandonment_cause(cause)
    costs = [None if (price := prices.get(row.left_stage)) is None else row.cases * price for row in rows]
    return {
        "cause": cause,
        "words": words,
        "help": help_,
        "count": sum(row.cases for row in rows),
        "left": [(row.left_stage.replace("_", " "), row.cases) for row in rows],
        "example": Case.objects.filter(build=build, stage=Stage.ABANDONED, cause=cause)
        .order_by("pk")
        .first(),
        "price": add_known_costs(*costs),
    }


def estimate_remaining_cost(build: Build, tally: Tally) -> dict[str, float | None]:
    """Mean nanodollars from each stage to the label, by what this build has paid so far; None: not known.

    Unclear cases cost more than clear ones, so screening counts the rest of the way by the share of them.
    """
    if Price.objects.at(build.model, timezone.now()) is None:
        return {}
    spent = dict(AgentBill.objects.filter(build=build).values_list("agent", "spent"))
    tie_breaker = mean_case_cost(spent.get("tie_breaker", 0), tally.arbitrated)
    arbiter = add_known_costs(mean_case_cost(spent.get("arbiter"), tally.arbitrated), tie_breaker)
    fixer = mean_case_cost(spent.get("fixer", 0), tally.programs)
    tested = add_known_costs(fixer, arbiter)
    neighbour = mean_case_cost(spent.get("neighbour_writer", 0), tally.written)
    written = add_known_costs(neighbour, mean_case_cost(spent.get("test_writer"), tally.written), tested)
    read = add_known_costs(mean_case_cost(spent.get("single_llm", 0), tally.unclear), written)
    first = next((spent[agent] for agent in FIRST if agent in spent), None)
    screener = mean_case_cost(first, tally.screened)
    unclear = tally.unclear / tally.screened if tally.screened else 0.0
    rest = 0.0 if not unclear else None if read is None else unclear * read
    return {
        Stage.SCREENING: add_known_costs(screener, rest),
        Stage.READING: read,
        Stage.WRITING_TEST: written,
        Stage.EXECUTING: tested,
        Stage.FIXING: tested,
        Stage.ARBITRATING: arbiter,
        Stage.TIE_BREAKING: tie_breaker,
    }


def mean_case_cost(spent: int | None, cases: int) -> float | None:
    return spent / cases if spent is not None and cases else None


def add_known_costs(*amounts: float | None) -> float | None:
    """Their sum; not known where one is not."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None
