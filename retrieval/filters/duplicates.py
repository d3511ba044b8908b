"""Exact and near duplicates among snippets, by CodeSearchNet's rule on identifiers (its `dedup_split.py`).

Two snippets are near duplicates if their sets of identifiers have a Jaccard similarity of at least 0.8 and
their multisets one of at least 0.7; what is near by way of others is one group. Snippets of fewer than 10
identifiers are compared as texts alone, blanks aside. No pair is missed, as MinHash would miss some: a set
can only be that similar to another if the rarest few of its identifiers meet those of the other (prefix
filter; Bayardo et al., WWW 2007), so only such pairs are verified.
"""

from __future__ import annotations

import hashlib
import keyword
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from retrieval.filters.bags import AllBags, Bags, Prefixes

SET_SIMILARITY = 0.8
MULTISET_SIMILARITY = 0.7
FEWEST_IDENTIFIERS = 10
IDENTIFIER = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
KEYWORDS = frozenset(keyword.kwlist)

Compared: TypeAlias = Callable[[int, int], None]
"""Called with (snippets compared with those before them, all of them)."""


def count_identifiers(code: str) -> Counter[str]:
    """How often each identifier stands in code, without Python's keywords."""
    return Counter(word for word in IDENTIFIER.findall(code) if word not in KEYWORDS)


def find_duplicate_groups(codes: Iterable[str], compared: Compared | None = None) -> list[list[int]]:
    """The groups of more than one duplicate, each as ascending places in `codes`, by their first.

    The first of a group stands for it: the answer depends on the order of `codes` alone. `codes` are read
    once and not kept; memory is about 0.6 kB for each that differs.
    """
    found = defaultdict[int, list[int]](list)
    for place, first in enumerate(find_group_firsts(codes, compared)):
        found[first].append(place)
    return [group for group in found.values() if len(group) > 1]


def find_group_firsts(codes: Iterable[str], compared: Compared | None = None) -> list[int]:
    """For each of `codes` the place of the first of its group: its own where it has no duplicate before."""
    first_of: dict[bytes, int] = {}
    bags = Bags()
    parents = array("q")
    for place, code in enumerate(codes):
        parents.append(first_of.setdefault(digest_code(code), place))
        if parents[place] == place and (count := count_identifiers(code)).total() >= FEWEST_IDENTIFIERS:
            bags.add(place, count)
    first_of.clear()  # what follows takes the memory
    for one, other in near_pairs(bags, compared):
        _join(parents, one, other)
    return [_root(parents, place) for place in range(len(parents))]


def near_pairs(bags: Bags, compared: Compared | None = None) -> Iterator[tuple[int, int]]:
    """Yield each pair of near duplicates once, the lower place first; the bags are used up."""
    whole = bags.taken()
    prefixes = Prefixes(whole, SET_SIMILARITY)
    counts = np.zeros(whole.vocabulary, dtype=np.int64)
    for number in range(len(whole)):
        met = prefixes.met(number)
        if len(met):
            for other in met[_near(whole, number, met, counts)].tolist():
                low, high = sorted((int(whole.places[number]), int(whole.places[other])))
                yield low, high
        if compared is not None:
            compared(number + 1, len(whole))


def _near(
    whole: AllBags, number: int, met: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Which of some bags are near one; `counts`, all 0 before and after, has a place for each word."""
    words, own = whole.bag(number)
    counts[words] = own
    theirs, starts = whole.joined(met)
    mine = counts[whole.words[theirs]]
    shared = np.add.reduceat(mine > 0, starts, dtype=np.int64)
    smaller = np.add.reduceat(np.minimum(mine, whole.counts[theirs]), starts)
    counts[words] = 0
    every = len(words) + whole.sizes[met] - shared
    larger = own.sum(dtype=np.int64) + whole.totals[met] - smaller
    alike: npt.NDArray[np.bool_] = np.logical_and(
        shared / every >= SET_SIMILARITY, smaller / larger >= MULTISET_SIMILARITY
    )
    return alike


def digest_code(code: str) -> bytes:
    """What texts that are the same but for blanks have in common; 128 bits, no two of which ever met."""
    text = " ".join(code.split())
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _root(parents: array[int], place: int) -> int:
    while parents[place] != place:
        parents[place] = parents[parents[place]]
        place = parents[place]
    return place


def _join(parents: array[int], one: int, other: int) -> None:
    low, high = sorted((_root(parents, one), _root(parents, other)))
    parents[high] = low
