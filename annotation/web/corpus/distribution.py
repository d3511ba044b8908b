"""How a build's matches are spread: queries by number of matches, snippets by number of queries answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from django.core.cache import cache
from django.db.models import Count, QuerySet

from annotation.builds.results import position_bias
from annotation.models import Build, Case
from annotation.models.builds.cases import OPEN
from annotation.web.corpus.plots import bin_counts

MOST_BARS = 30
KEPT_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class Spread:
    """Number of matches → how many queries and snippets have that many, of so many queries."""

    by_query: Counter[int]
    by_snippet: Counter[int]
    queries: int
    unfinished: int

    @property
    def of_all_queries(self) -> Counter[int]:
        """`by_query`, with those that have none."""
        return self.by_query + Counter({0: self.queries - self.by_query.total()})


def distribution_page(build: Build, label: str = "label_in_force") -> dict[str, Any]:
    """The page, by that column of cases; what it counts is kept until the build changes, as it reads all.

    `unfinished` counts the queries that still have open candidates, whose bars may yet move.
    """
    counts = load_cached_spread(build, label)
    by_query, queries, matched = counts.of_all_queries, counts.queries, counts.by_query.total()
    found = sum(number * count for number, count in by_query.items())
    return {
        "build": build,
        "is_in_force": label != "label",
        "queries": queries,
        "matched": matched,
        "matches": found,
        "mean": found / queries if queries else 0.0,
        "several": sum(count for number, count in by_query.items() if number > 1),
        "unfinished": counts.unfinished,
        "snippets": counts.by_snippet.total(),
        "query_bars": build_spread_bars(by_query, 0),
        "snippet_bars": build_spread_bars(counts.by_snippet, 1),
        "effect": position_bias.get_position_bias(build),
    }


def load_cached_spread(build: Build, label: str) -> Spread:
    key = f"distribution:{build.pk}.{build.created_at:%s%f}.{build.tally.version}.{label}"
    return cast(Spread, cache.get_or_set(key, lambda: count_match_spread(build, label), KEPT_SECONDS))


def count_match_spread(build: Build, label: str = "label_in_force") -> Spread:
    """Read from the cases, by that column of theirs. Four queries of the database."""
    cases = Case.objects.filter(build=build, round=1).order_by()
    matches = cases.filter(**{label: 1})
    return Spread(
        by_query=count_matches_by_key(matches, "query"),
        by_snippet=count_matches_by_key(matches, "pair__snippet"),
        queries=cases.values("query").distinct().count(),
        unfinished=cases.filter(stage__in=OPEN).values("query").distinct().count(),
    )


def count_matches_by_key(matches: QuerySet[Case], key: str) -> Counter[int]:
    """Number of matches → how many `key`s have that many; those with none do not appear."""
    found = matches.values(key).annotate(found=Count("pk")).values_list("found", flat=True)
    return Counter(found)


def build_spread_bars(spread: Mapping[int, int], first: int) -> list[dict[str, Any]]:
    """How many things have each number of matches, from `first` to the largest, the last for all from 30 on.

    `share` is in percent of all, `width` in percent of the longest bar.
    """
    total = sum(spread.values())
    if not total:
        return []
    bins = bin_counts(spread, first, min(max(spread), MOST_BARS))
    longest = max(count for _, count in bins)
    return [
        {
            "number": number,
            "count": count,
            "share": 100 * count / total,
            "width": round(100 * count / longest, 2),
        }
        for number, count in bins
    ]
