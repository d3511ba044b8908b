"""Multisets of words of many texts as arrays: some ten bytes a word, where a dictionary takes a hundred."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

Indices: TypeAlias = npt.NDArray[np.int64]
Numbers: TypeAlias = npt.NDArray[np.int32]
Counts: TypeAlias = npt.NDArray[np.uint16]

LARGEST_COUNT: Final = 2**16 - 1
"""A word that a text has more often counts as so many."""
BAGS_AT_ONCE: Final = 10_000
WORDS_AT_ONCE: Final = 500_000


@dataclass(frozen=True, slots=True)
class AllBags:
    """n bags by ascending number of distinct words, then place.

    `places`, `sizes` and `totals`, shape (n,): the text's place, its distinct words and all of its words.
    Bag i has `words[starts[i]:starts[i + 1]]`, ids below `vocabulary`, as often as `counts` says.
    """

    places: Indices
    sizes: Indices
    totals: Indices
    starts: Indices
    words: Numbers
    counts: Counts
    vocabulary: int

    def __len__(self) -> int:
        return len(self.places)

    def bag(self, number: int) -> tuple[Numbers, Counts]:
        """The words of a bag, and how often each is in it."""
        part = slice(self.starts[number], self.starts[number + 1])
        return self.words[part], self.counts[part]

    def joined(self, numbers: Indices) -> tuple[Indices, Indices]:
        """Where the words of some bags are, one bag's after another's, and where each begins among these."""
        sizes = self.sizes[numbers]
        begins = np.cumsum(sizes) - sizes
        return np.repeat(self.starts[numbers] - begins, sizes) + np.arange(sizes.sum()), begins


class Bags:
    """Bags that are added one by one, each of at least one word.

    A word is kept as its hash of 64 bits, 8 bytes instead of a text and its place in a dictionary: of two
    million words any two have the same with a chance of one in ten million.
    """

    def __init__(self) -> None:
        self.places, self.sizes = array("q"), array("q")
        self.hashes, self.counts = array("q"), array("H")

    def add(self, place: int, counted: Mapping[str, int]) -> None:
        """Add the bag of the text at a place."""
        self.places.append(place)
        self.sizes.append(len(counted))
        self.hashes.extend(map(hash, counted))
        self.counts.extend([min(count, LARGEST_COUNT) for count in counted.values()])

    def taken(self) -> AllBags:
        """All of them, ordered, and none left here; words are numbered by how few bags have them."""
        places, sizes = np.array(self.places, dtype=np.int64), np.array(self.sizes, dtype=np.int64)
        hashes, counts = np.asarray(self.hashes, dtype=np.int64), np.asarray(self.counts, dtype=np.uint16)
        self.places, self.sizes = array("q"), array("q")
        self.hashes, self.counts = array("q"), array("H")
        words, vocabulary = _numbered(hashes)
        del hashes
        added = AllBags(places, sizes, sizes, np.cumsum(sizes) - sizes, words, counts, vocabulary)
        return _ordered(added, _rarity(words, vocabulary))


def _numbered(hashes: Indices) -> tuple[Numbers, int]:
    """The words as numbers from 0, and how many there are."""
    parts = [slice(start, start + WORDS_AT_ONCE) for start in range(0, len(hashes), WORDS_AT_ONCE)]
    known = np.empty(0, dtype=np.int64)
    for part in parts:
        known = np.union1d(known, hashes[part])
    words = np.empty(len(hashes), dtype=np.int32)
    for part in parts:
        words[part] = np.searchsorted(known, hashes[part])
    return words, len(known)


def _rarity(words: Numbers, vocabulary: int) -> Numbers:
    """The new number of each word."""
    frequency = np.zeros(vocabulary, dtype=np.int64)
    for start in range(0, len(words), WORDS_AT_ONCE):
        frequency += np.bincount(words[start : start + WORDS_AT_ONCE], minlength=vocabulary)
    rank = np.empty(vocabulary, dtype=np.int32)
    rank[np.argsort(frequency, kind="stable")] = np.arange(vocabulary, dtype=np.int32)
    return rank


def _ordered(added: AllBags, rank: Numbers) -> AllBags:
    """The bags by ascending size, then place, moved a few thousand at a time."""
    order = np.lexsort((added.places, added.sizes))
    ends = np.append(0, np.cumsum(added.sizes[order]))
    words, counts = np.empty_like(added.words), np.empty_like(added.counts)
    totals = np.empty(len(order), dtype=np.int64)
    for first in range(0, len(order), BAGS_AT_ONCE):
        some = slice(first, min(first + BAGS_AT_ONCE, len(order)))
        moved, begins = added.joined(order[some])
        to = slice(ends[some.start], ends[some.stop])
        words[to], counts[to] = rank[added.words[moved]], added.counts[moved]
        totals[some] = np.add.reduceat(counts[to], begins, dtype=np.int64)
    return AllBags(added.places[order], added.sizes[order], totals, ends, words, counts, added.vocabulary)


class Prefixes:
    """The rarest words of each bag: as many as two sets of that similarity must have one in common of."""

    def __init__(self, whole: AllBags, similarity: float) -> None:
        sizes = whole.sizes
        lengths = sizes - np.ceil(similarity * sizes - 1e-9).astype(np.int64) + 1
        self.starts = np.append(0, np.cumsum(lengths))
        self.words = np.empty(self.starts[-1], dtype=np.int32)
        for number in range(len(whole)):
            rarest = np.sort(whole.bag(number)[0])[: lengths[number]]
            self.words[self.starts[number] : self.starts[number + 1]] = rarest
        owners = np.repeat(np.arange(len(whole), dtype=np.int32), lengths)
        order = np.argsort(self.words, kind="stable")  # owners ascend already
        self.owners = owners[order]
        self.own = np.empty(len(order), dtype=np.int32)
        self.own[order] = np.arange(len(order), dtype=np.int32)
        self.begins = np.searchsorted(self.words[order], np.arange(whole.vocabulary, dtype=np.int32))
        least = [math.ceil(similarity * size) for size in sizes.tolist()]
        self.least = np.searchsorted(sizes, least)

    def met(self, number: int) -> Indices:
        """The bags before one that share a rarest word with it and are not too small, ascending."""
        part = slice(self.starts[number], self.starts[number + 1])
        found = []
        for word, end in zip(self.words[part].tolist(), self.own[part].tolist(), strict=True):
            some = self.owners[self.begins[word] : end]
            found.append(some[np.searchsorted(some, self.least[number]) :])
        return np.unique(np.concatenate(found))
