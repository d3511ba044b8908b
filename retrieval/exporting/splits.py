"""Queries → train, dev and test: stratified by number of matches, seeded, near-same queries kept together.

The authors' `divide_dataset.py` splits 8:1:1 within each number of matches, unseeded, query by query; a
query that is asked twice in other words may then be trained on and tested with. Here such queries are one
group, which goes to a part as a whole.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from retrieval.filters import queries as query_filters
from retrieval.filters.bags import Bags
from retrieval.filters.duplicates import near_pairs

PARTS: Final = ("train", "dev", "test")
SHARES: Final = (0.8, 0.1, 0.1)
WORD = re.compile(r"\w+")
FILLERS: Final = query_filters.FILLERS | {"as", "be", "by", "from"}
"""Words that make no other question of a query: what is asked twice may be mined twice, but no part may see
the other's queries, so that more is near-same here than for the filter of queries."""


def count_query_words(query: str) -> Counter[str]:
    """Its words without case, punctuation and fillers, each with its number; all where nothing is left."""
    every = Counter(WORD.findall(query.casefold()))
    return Counter({word: count for word, count in every.items() if word not in FILLERS}) or every


def same_queries(queries: Sequence[str]) -> list[int]:
    """For each query the first of its group: equal words, or similar ones (Jaccard of at least 0.8)."""
    firsts, parents = dict[tuple[tuple[str, int], ...], int](), list[int]()
    bags = Bags()
    for place, query in enumerate(queries):
        found = count_query_words(query)
        parents.append(firsts.setdefault(tuple(sorted(found.items())), place))
        if parents[place] == place and found:
            bags.add(place, found)
    return join_linked_groups(parents, near_pairs(bags))


def join_linked_groups(parents: list[int], links: Iterable[tuple[int, int]]) -> list[int]:
    """The first of each group when linked ones are one group; `parents` point to an earlier member."""

    def root(place: int) -> int:
        while parents[place] != place:
            parents[place] = parents[parents[place]]
            place = parents[place]
        return place

    for one, other in links:
        low, high = sorted((root(one), root(other)))
        parents[high] = low
    return [root(place) for place in range(len(parents))]


def by_repository(firsts: Sequence[int], repositories: Sequence[Iterable[str]]) -> list[int]:
    """Groups joined further: queries whose matches come from one repository are one group."""
    seen = dict[str, int]()
    links = [
        (place, seen.setdefault(name, place))
        for place, names in enumerate(repositories)
        for name in names
        if name
    ]
    return join_linked_groups(list(firsts), links)


def split_queries(groups: Sequence[int], matches: Sequence[int], seed: int) -> list[int]:
    """The part of each query, as a place in PARTS.

    `groups`: which queries stay together, shape (queries,), any label; `matches`: their numbers of matches,
    by which each part gets its share. Queries of a group of their own are shared out to within one of
    8:1:1 for each number; large groups may make that impossible.
    """
    members = defaultdict[int, list[int]](list)
    for query, group in enumerate(groups):
        members[group].append(query)
    order = list(members.values())
    random.Random(seed).shuffle(order)  # noqa: S311  # a seed is the point
    order.sort(key=len, reverse=True)
    missing = compute_part_targets(matches)
    found = [0] * len(groups)
    for together in order:
        strata = [missing[matches[query]] for query in together]
        part = max(range(len(PARTS)), key=[sum(column) for column in zip(*strata, strict=True)].__getitem__)
        for query in together:
            found[query] = part
            missing[matches[query]][part] -= 1
    return found


def compute_part_targets(matches: Sequence[int]) -> dict[int, list[float]]:
    """By number of matches how many queries each part is to get."""
    return {number: [share * count for share in SHARES] for number, count in Counter(matches).items()}


@dataclass(frozen=True, slots=True)
class Report:
    """What a split is like: queries by part, by number of matches and part, and snippets that parts share.

    `shared` counts snippets that stand in pairs of more than one part, `shared_matches` those that match
    queries of more than one part. `groups` have more than one query. Without a seed it is the split that the
    source published.
    """

    seed: int | None
    queries: Mapping[str, int]
    strata: Mapping[int, Mapping[str, int]]
    groups: int
    shared: int
    shared_matches: int


def build_split_report(
    found: Sequence[int],
    groups: Sequence[int],
    matches: Sequence[int],
    pairs: Iterable[tuple[int, int, bool]],
    seed: int | None,
) -> Report:
    """`pairs`: (query, snippet, whether it matches), each with its number."""
    strata = defaultdict[int, Counter[str]](Counter)
    for place, part in enumerate(found):
        strata[matches[place]][PARTS[part]] += 1
    touching, matching = defaultdict[int, int](int), defaultdict[int, int](int)
    for query, snippet, matched in pairs:
        touching[snippet] |= 1 << found[query]
        matching[snippet] |= (1 << found[query]) * matched
    whole = Counter(PARTS[part] for part in found)
    return Report(
        seed,
        {part: whole[part] for part in PARTS},
        {number: {part: counts[part] for part in PARTS} for number, counts in sorted(strata.items())},
        sum(count > 1 for count in Counter(groups).values()),
        sum(mask.bit_count() > 1 for mask in touching.values()),
        sum(mask.bit_count() > 1 for mask in matching.values()),
    )
