"""How a build's matches are spread: queries by number of matches, snippets by number of queries answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.core.cache import cache
from django.db.models import Count, QuerySet

from annotation import place_effect
from annotation.models import Build, Case
from annotation.models.cases import OPEN
from annotation.stages import Stage

MOST_BARS = 30
KEPT_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class Bar:
    """How many things have `number` matches. `width` is in percent of the longest bar; `link` filters."""

    number: str
    count: int
    share: float
    width: float
    link: str


@dataclass(frozen=True, slots=True)
class DistributionPage:
    """`unfinished` counts the queries that still have open candidates, whose bars may yet move."""

    build: Build
    queries: int
    matched: int
    matches: int
    mean: float
    several: int
    unfinished: int
    snippets: int
    query_bars: tuple[Bar, ...]
    snippet_bars: tuple[Bar, ...]
    effect: place_effect.Effect | None = None


@dataclass(frozen=True, slots=True)
class Spread:
    """Number of matches → how many queries and snippets have that many, of so many queries."""

    by_query: Counter[int]
    by_snippet: Counter[int]
    queries: int
    unfinished: int


def distribution_page(build: Build) -> DistributionPage:
    """The page; what it counts is kept until the build changes, as it reads every case."""
    counts = kept(build)
    by_query, by_snippet, queries = Counter(counts.by_query), counts.by_snippet, counts.queries
    matched = by_query.total()
    by_query[0] = queries - matched
    found = sum(number * count for number, count in by_query.items())
    return DistributionPage(
        build=build,
        queries=queries,
        matched=matched,
        matches=found,
        mean=found / queries if queries else 0.0,
        several=sum(count for number, count in by_query.items() if number > 1),
        unfinished=counts.unfinished,
        snippets=by_snippet.total(),
        query_bars=tuple(bars(by_query, 0)),
        snippet_bars=tuple(bars(by_snippet, 1)),
        effect=place_effect.effect(build),
    )


def kept(build: Build) -> Spread:
    key = f"distribution:{build.pk}.{build.created_at:%s%f}.{build.tally.version}"
    found: Spread | None = cache.get(key)
    if found is None:
        found = count(build)
        cache.set(key, found, KEPT_SECONDS)
    return found


def count(build: Build) -> Spread:
    """Read from the cases. Four queries of the database."""
    cases = Case.objects.filter(build=build, round=1).order_by()
    matches = cases.filter(stage=Stage.SETTLED, label=1)
    return Spread(
        by_query=spread(matches, "query"),
        by_snippet=spread(matches, "pair__snippet"),
        queries=cases.values("query").distinct().count(),
        unfinished=cases.filter(stage__in=OPEN).values("query").distinct().count(),
    )


def spread(matches: QuerySet[Case], key: str) -> Counter[int]:
    """Number of matches → how many `key`s have that many; those with none do not appear."""
    found = matches.values(key).annotate(found=Count("pk")).values_list("found", flat=True)
    return Counter(found)


def bars(spread: Mapping[int, int], first: int) -> Iterator[Bar]:
    """One bar for each number from `first` to the largest, the last one for all from 30 on."""
    total = sum(spread.values())
    if not total:
        return
    last = min(max(spread), MOST_BARS)
    heights = {number: spread.get(number, 0) for number in range(first, last + 1)}
    heights[last] += sum(count for number, count in spread.items() if number > last)
    longest = max(heights.values())
    for number, count in heights.items():
        open_ended = number == last and max(spread) > last
        label = f"{number}+" if open_ended else str(number)
        yield Bar(label, count, 100 * count / total, round(100 * count / longest, 2), label)
