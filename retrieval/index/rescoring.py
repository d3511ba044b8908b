"""The few that could be among the best, in float64."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from retrieval.encoders.base import Doubles
from retrieval.index.signals import DECIMALS, Cosines, Hit, Lexical, Terms
from retrieval.product import Indices


def rescored(
    signals: Sequence[Cosines | Terms],
    lexical: Mapping[str, Lexical],
    block: range,
    found: Sequence[Indices],
    k: int,
) -> Iterator[list[Hit]]:
    """Score the candidates of a block of queries in float64 and yield the k best of each."""
    counts = [len(one) for one in found]
    owners, flat = np.repeat(np.array(block, dtype=np.int64), counts), np.concatenate(found)
    cosines = {s.name: s.raw(owners, flat) for s in signals if isinstance(s, Cosines)}
    ends = np.cumsum(counts)
    for row, query in enumerate(block):
        entering, raw = dict[str, Doubles](), dict[str, Doubles]()
        for signal in signals:
            if isinstance(signal, Cosines):
                raw[signal.name] = cosines[signal.name][ends[row] - counts[row] : ends[row]]
                entering[signal.name] = signal.entering(query, raw[signal.name])
            else:
                raw[signal.name] = lexical[signal.name].scores.raw[row, found[row]]
                entering[signal.name] = lexical[signal.name].entering(row, found[row])
        yield _best(found[row], entering, raw, k)


def _best(indices: Indices, entering: Mapping[str, Doubles], raw: Mapping[str, Doubles], k: int) -> list[Hit]:
    """The k best of ascending `indices`."""
    means: Doubles = np.round(np.array(list(entering.values())).mean(axis=0), DECIMALS)
    best = np.argsort(-means, kind="stable")[:k]
    enters = zip(*(values[best].tolist() for values in entering.values()), strict=True)
    raws = zip(*(values[best].tolist() for values in raw.values()), strict=True)
    rows = zip(indices[best].tolist(), means[best].tolist(), enters, raws, strict=True)
    return [
        Hit(index, mean, dict(zip(entering, entered, strict=True)), dict(zip(raw, plain, strict=True)))
        for index, mean, entered, plain in rows
    ]
