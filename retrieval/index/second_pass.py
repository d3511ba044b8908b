"""The few that could be among the best, in float64."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import numpy as np

from retrieval.encoders.base import Doubles
from retrieval.index.product import Indices
from retrieval.index.signals import DECIMALS, Cosines, Hit, Options, PairScores, Terms


def rescore_candidates(
    signals: Sequence[Cosines | Terms],
    lexical: Mapping[str, PairScores],
    block: range,
    found: Sequence[Indices],
    k: int,
    options: Options | None = None,
) -> Iterator[list[Hit]]:
    """Score the candidates of a block of queries in float64 and yield the k best of each.

    `found` holds each query's candidates in ascending order. All pairs of the block are worked on at once, as
    what is done query by query holds the interpreter. Where terms alone count, a snippet that shares none
    with the query is not found.
    """
    rows, flat = np.repeat(np.arange(len(block)), [len(one) for one in found]), np.concatenate(found)
    entering, raw = dict[str, Doubles](), dict[str, Doubles]()
    for signal in signals:
        if isinstance(signal, Cosines):
            raw[signal.name] = signal.raw(rows + block.start, flat)
            entering[signal.name] = signal.entering(rows + block.start, raw[signal.name])
        else:
            of = lexical[signal.name]
            raw[signal.name] = of.raw(rows, flat)
            entering[signal.name] = of.entering(rows, raw[signal.name])
    means: Doubles = np.round(np.array(list(entering.values())).mean(axis=0), DECIMALS)
    best = first_of_each(rows, means, (options or Options()).order_of(flat), k)
    if not any(isinstance(signal, Cosines) for signal in signals):
        best = best[np.any([raw[name][best] > 0 for name in raw], axis=0)]
    scores = _by_pair(entering, best), _by_pair(raw, best)
    hits = list(map(Hit, flat[best].tolist(), means[best].tolist(), *scores))
    ends = np.searchsorted(rows[best], np.arange(len(block) + 1)).tolist()
    for start, stop in pairwise(ends):
        yield hits[start:stop]


def first_of_each(rows: Indices, means: Doubles, ties: Indices, k: int) -> Indices:
    """Where the k largest means of each row are, by row and descending; of equal ones the lower tie first.

    `rows` ascend.
    """
    order = np.lexsort((ties, -means, rows))
    place = np.arange(len(rows)) - np.searchsorted(rows, rows)
    return order[place < k]


def _by_pair(scores: Mapping[str, Doubles], pairs: Indices) -> list[dict[str, float]]:
    """Of some pairs each encoder's score, by its name."""
    columns = (values[pairs].tolist() for values in scores.values())
    return [dict(zip(scores, row, strict=True)) for row in zip(*columns, strict=True)]
