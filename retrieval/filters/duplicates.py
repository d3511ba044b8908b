"""Exact and near duplicates among snippets, by CodeSearchNet's rule on identifiers (its `dedup_split.py`).

Two snippets are near duplicates if their sets of identifiers have a Jaccard similarity of at least 0.8 and
their multisets one of at least 0.7; what is near by way of others is one group. Snippets of fewer than 10
identifiers are compared as texts alone, blanks aside. No pair is missed, as MinHash would miss some: a set
can only be that similar to another if the rarest few of its identifiers meet those of the other (prefix
filter; Bayardo et al., WWW 2007), so only such pairs are verified.
"""

from __future__ import annotations

import keyword
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

SET_SIMILARITY = 0.8
MULTISET_SIMILARITY = 0.7
FEWEST_IDENTIFIERS = 10
IDENTIFIER = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
KEYWORDS = frozenset(keyword.kwlist)


def identifiers(code: str) -> Counter[str]:
    """How often each identifier stands in code, without Python's keywords."""
    return Counter(word for word in IDENTIFIER.findall(code) if word not in KEYWORDS)


def set_similarity(one: Counter[str], other: Counter[str]) -> float:
    """Jaccard: shared ÷ all distinct identifiers; 1 for two without any."""
    every = len(one.keys() | other.keys())
    return len(one.keys() & other.keys()) / every if every else 1.0


def multiset_similarity(one: Counter[str], other: Counter[str]) -> float:
    """Jaccard of multisets: sum of the smaller ÷ sum of the larger counts; 1 for two without any."""
    larger = (one | other).total()
    return (one & other).total() / larger if larger else 1.0


def groups(codes: Iterable[str]) -> list[list[int]]:
    """The groups of more than one duplicate, each as ascending places in `codes`, by their first.

    The first of a group stands for it: the answer depends on the order of `codes` alone.
    """
    first_of: dict[str, int] = {}
    counted: dict[int, Counter[str]] = {}
    parents: list[int] = []
    for place, code in enumerate(codes):
        parents.append(first_of.setdefault(" ".join(code.split()), place))
        if parents[place] == place and (count := identifiers(code)).total() >= FEWEST_IDENTIFIERS:
            counted[place] = count
    for one, other in near_pairs(counted):
        _join(parents, one, other)
    found = defaultdict[int, list[int]](list)
    for place in range(len(parents)):
        found[_root(parents, place)].append(place)
    return [group for group in found.values() if len(group) > 1]


def near_pairs(counted: dict[int, Counter[str]]) -> Iterator[tuple[int, int]]:
    """Yield each pair of near duplicates once, the lower place first."""
    frequency = Counter(word for count in counted.values() for word in count)
    by_word = defaultdict[str, list[int]](list)
    for place, count in sorted(counted.items(), key=lambda item: (len(item[1]), item[0])):
        rarest = sorted(count, key=lambda word: (frequency[word], word))[: _prefix(len(count))]
        smallest = SET_SIMILARITY * len(count)
        met = {other for word in rarest for other in by_word[word] if len(counted[other]) >= smallest}
        for other in sorted(met):
            if _near(count, counted[other]):
                yield min(place, other), max(place, other)
        for word in rarest:
            by_word[word].append(place)


def _prefix(size: int) -> int:
    """How many of a set's rarest words to look at: two sets that share none of those are less similar."""
    return size - math.ceil(SET_SIMILARITY * size - 1e-9) + 1


def _near(one: Counter[str], other: Counter[str]) -> bool:
    return (
        set_similarity(one, other) >= SET_SIMILARITY
        and multiset_similarity(one, other) >= MULTISET_SIMILARITY
    )


def _root(parents: list[int], place: int) -> int:
    while parents[place] != place:
        parents[place] = parents[parents[place]]
        place = parents[place]
    return place


def _join(parents: list[int], one: int, other: int) -> None:
    low, high = sorted((_root(parents, one), _root(parents, other)))
    parents[high] = low


def representatives(codes: Sequence[str]) -> list[int]:
    """The places of what is left when each group is its first alone."""
    repeated = {place for group in groups(codes) for place in group[1:]}
    return [place for place in range(len(codes)) if place not in repeated]
