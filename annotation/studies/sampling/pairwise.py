"""Pairwise samples, as in the paper: queries with a match in both benchmarks, one random match of each.

CoSQA+ (test-driven agents, RQ1): "for CoSQA+, a query may have multiple correct codes, so we randomly select
one that differs from the corresponding query's code in CoSQA".
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from annotation.models import Build, Case
from annotation.schemas.studies.studies import SampleWish
from annotation.studies.sampling.draw import Drawn, Sample, Stratum
from annotation.studies.sampling.frame import CHUNK, Unit
from annotation.studies.sampling.sample_order import SampleRefused, refuse_impossible_sample
from retrieval.models import Annotator, Label

Matches = Mapping[int, list["Match"]]


@dataclass(frozen=True, slots=True)
class Match:
    """A pair that a benchmark calls a match; `case` where a build judged it."""

    pair: int
    snippet: int
    case: int | None = None


def matches_of_build(build: Build) -> Matches:
    """The build's matches of the first round, by query."""
    rows = Case.objects.filter(build=build, round=1, label=1).order_by("query_id", "pair_id")
    return by_query(rows.values_list("query_id", "pair_id", "pair__snippet_id", "pk").iterator(CHUNK))


def matches_of_labels(annotator: Annotator) -> Matches:
    """The matches of imported labels, as each pair's last round has them, by query."""
    rows = Label.objects.filter(annotator=annotator).order_by("pair_id", "round")
    last = {
        pair: (query, snippet, value)
        for query, pair, snippet, value in rows.values_list(
            "pair__query_id", "pair_id", "pair__snippet_id", "value"
        ).iterator(CHUNK)
    }
    return by_query(
        (query, pair, snippet, None) for pair, (query, snippet, value) in last.items() if value == 1
    )


def by_query(rows: Iterable[tuple[int, int, int, int | None]]) -> Matches:
    found: dict[int, list[Match]] = defaultdict(list)
    for query, pair, snippet, case in rows:
        found[query].append(Match(pair, snippet, case))
    return found


def draw_pairwise(
    first: Matches, second: Matches, wish: SampleWish, without: Collection[int] = frozenset()
) -> Sample:
    """Of so many queries one comparison each: a match of the first, and another snippet of the second.

    Every comparison of a query is as likely: p = (n / Q) · 1 / (number of the query's comparisons), where Q
    counts queries with at least one. Raises SampleRefused.
    """
    refuse_impossible_sample(wish)
    if wish.per_query != 1 or wish.strata:
        raise SampleRefused("A pairwise sample takes one comparison a query, without strata.")
    kept = {
        query: (exclude_matches(first[query], without), exclude_matches(second[query], without))
        for query in first.keys() & second.keys()
    }
    counts = {query: count_snippet_comparisons(*kept[query]) for query in sorted(kept)}
    queries = [query for query, count in counts.items() if count]
    if not queries:
        raise SampleRefused("No query has a match in both benchmarks whose functions differ.")
    chance = random.Random(wish.seed)  # noqa: S311 – a reproducible draw, no secret
    chosen = chance.sample(queries, min(wish.size, len(queries)))
    part = len(chosen) / len(queries)
    drawn = [Drawn(chance.choice(units_of(query, *kept[query])), part / counts[query]) for query in chosen]
    population = sum(counts.values())
    stratum = Stratum("", population, len(drawn))
    return Sample(tuple(drawn), (stratum,), len(drawn), population, len(queries), room=len(queries))


def exclude_matches(found: Sequence[Match], without: Collection[int]) -> list[Match]:
    return [match for match in found if match.pair not in without]


def count_snippet_comparisons(first: Sequence[Match], second: Sequence[Match]) -> int:
    """How many comparisons of two different snippets there are."""
    alike = {match.snippet for match in first} & {match.snippet for match in second}
    return len(first) * len(second) - len(alike)


def units_of(query: int, first: Sequence[Match], second: Sequence[Match]) -> list[Unit]:
    return [
        Unit(query, one.pair, one.case, "", two.pair)
        for one, two in product(first, second)
        if one.snippet != two.snippet
    ]
