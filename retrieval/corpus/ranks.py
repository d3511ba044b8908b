"""How likely a candidate matches by its rank, and at least one up to a rank (CoSQA+, Figure 2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet

from retrieval.models import Benchmark, BenchmarkLabel, Candidate

MOST_RANKS = 100


@dataclass(frozen=True, slots=True)
class Counted:
    """What is at one rank: candidates, the judged ones, and the matches among these."""

    rank: int
    candidates: int
    judged: int
    matches: int


@dataclass(frozen=True, slots=True)
class AtRank:
    """`new` queries have their first match at this rank; `reached` is the share of queries with one so far.

    `match` is matches ÷ judged, None where nothing is judged. An unjudged candidate may still match, so
    `reached` can only be too low.
    """

    rank: int
    candidates: int
    judged: int
    matches: int
    new: int
    match: float | None
    reached: float


def by_rank(counted: Iterable[Counted], first: Counter[int], queries: int) -> list[AtRank]:
    """One row a rank; `first` says for how many queries a rank is the first that matches."""
    rows: list[AtRank] = []
    reached = 0
    for one in sorted(counted, key=lambda row: row.rank)[:MOST_RANKS]:
        reached += first[one.rank]
        share = one.matches / one.judged if one.judged else None
        so_far = reached / queries if queries else 0.0
        rows.append(AtRank(one.rank, one.candidates, one.judged, one.matches, first[one.rank], share, so_far))
    return rows


def of_benchmark(benchmark: Benchmark) -> list[AtRank]:
    """Of the minings that a benchmark was made of; nothing where there is none. Four statements."""
    if benchmark.mining_id is None:
        return []
    label = BenchmarkLabel.objects.filter(benchmark=benchmark, pair=OuterRef("pair"))
    found = (
        _candidates(benchmark)
        .order_by()
        .annotate(is_judged=Exists(label), is_match=Exists(label.filter(relevance__gt=0)))
    )
    rows = found.values("rank").annotate(
        candidates=Count("pk"),
        judged=Count("pk", filter=Q(is_judged=True)),
        matches=Count("pk", filter=Q(is_match=True)),
    )
    first = found.filter(is_match=True).values("query").annotate(first=Min("rank"))
    queries = found.values("query").distinct().count()
    return by_rank((Counted(**row) for row in rows), Counter(first.values_list("first", flat=True)), queries)


def _candidates(benchmark: Benchmark) -> QuerySet[Candidate]:
    """Each pair once, at the rank that the first of the minings gave it."""
    minings = benchmark.minings
    rows = Candidate.objects.filter(mining__in=minings)
    if len(minings) < 2:
        return rows
    earlier = Candidate.objects.filter(
        mining__in=minings, pair=OuterRef("pair"), mining__lt=OuterRef("mining")
    )
    return rows.exclude(Exists(earlier))
