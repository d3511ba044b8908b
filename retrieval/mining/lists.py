"""Lists of hits as arrays: what a part of a mining found, stored as bytes, and merged with other parts."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, islice

import numpy as np
import numpy.typing as npt

from retrieval.index import Hit
from retrieval.index.ties import Keys, keys_of_texts

Doubles = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
QUERIES_AT_ONCE = 1_024


@dataclass(frozen=True, slots=True)
class Lists:
    """Hits of all queries, n of them by m encoders, each query's together.

    `owners`: the query's number; `indices`: the snippet's place among all of the mining; `keys`, shape
    (n, 2): what its text is known by, the same for the same text; `scores`: the means; `entering` and `raw`,
    shape (n, m): each encoder's.
    """

    owners: Indices
    indices: Indices
    keys: Keys
    scores: Doubles
    entering: Doubles
    raw: Doubles

    def __len__(self) -> int:
        return len(self.owners)

    def __getitem__(self, these: Indices | npt.NDArray[np.bool_]) -> Lists:
        return Lists(*(getattr(self, field.name)[these] for field in fields(self)))

    def to_bytes(self) -> bytes:
        stream = io.BytesIO()
        np.savez_compressed(stream, **{field.name: getattr(self, field.name) for field in fields(self)})
        return stream.getvalue()

    @classmethod
    def from_bytes(cls, stored: bytes) -> Lists:
        with np.load(io.BytesIO(stored), allow_pickle=False) as arrays:
            return cls(*(arrays[field.name] for field in fields(cls)))

    def ranks(self) -> Indices:
        """Each hit's rank in its query's list, from 1."""
        starts = np.searchsorted(self.owners, self.owners, side="left")
        return np.arange(len(self)) - starts + 1

    def scores_of(self, names: Sequence[str], row: int) -> Mapping[str, Mapping[str, float]]:
        """What a candidate keeps of each encoder."""
        both = zip(names, self.entering[row].tolist(), self.raw[row].tolist(), strict=True)
        return {name: {"entering": entering, "raw": raw} for name, entering, raw in both}


def lists_of(hits: Iterable[Sequence[Hit]], texts: Sequence[str], start: int, names: Sequence[str]) -> Lists:
    """`hits` of a part whose first snippet is number `start`; `texts` are the part's, as searched.

    Hits become arrays, some queries at a time: as objects they would take ten times the memory.
    """
    parts, queries, iterator = [_some_lists([], texts, start, names)], 0, iter(hits)
    while some := list(islice(iterator, QUERIES_AT_ONCE)):
        found = _some_lists(some, texts, start, names)
        parts.append(replace(found, owners=found.owners + queries))
        queries += len(some)
    return _concatenate(parts)


def _some_lists(
    hits: Sequence[Sequence[Hit]], texts: Sequence[str], start: int, names: Sequence[str]
) -> Lists:
    flat = list(chain.from_iterable(hits))
    shape = (len(flat), len(names))
    indices = np.array([hit.index for hit in flat], dtype=np.int64)
    return Lists(
        owners=np.repeat(np.arange(len(hits)), [len(found) for found in hits]).astype(np.int64),
        indices=indices + start,
        keys=keys_of_texts([texts[hit.index] for hit in flat]),
        scores=np.array([hit.score for hit in flat], dtype=np.float64),
        entering=np.array([[hit.entering[name] for name in names] for hit in flat]).reshape(shape),
        raw=np.array([[hit.raw[name] for name in names] for hit in flat]).reshape(shape),
    )


def _concatenate(parts: Sequence[Lists]) -> Lists:
    return Lists(*(np.concatenate([getattr(one, f.name) for one in parts]) for f in fields(Lists)))


def merge_hit_lists(some: Lists, later: Lists, k: int) -> Lists:
    """The k best of each query of two parts, of which `later` has the later snippets.

    Of one text the first snippet alone stays; equal means come by ascending keys. That is what one search of
    both gives: whatever is among the k best of both is among the k best of its part.
    """
    both = _concatenate([some, later])
    both = both[np.lexsort((both.indices, both.keys[:, 1], both.keys[:, 0], both.owners))]
    same = (np.diff(both.owners) == 0) & (np.diff(both.keys, axis=0) == 0).all(axis=1)
    both = both[np.concatenate([[True], ~same])[: len(both)]]
    both = both[np.lexsort((both.keys[:, 1], both.keys[:, 0], -both.scores, both.owners))]
    return both[both.ranks() <= k]
