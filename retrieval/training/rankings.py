"""Measures of queries that search the whole code base; needs no torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from retrieval.encoders.lexical.bm25 import BM25
from retrieval.metrics.from_ranks import Ranked, per_query
from retrieval.training.data import MeasuredPart, TrainingData

MEASURES: Final = ("ndcg@10", "mrr", "mmrr")
QUERIES_AT_ONCE: Final = 100
Ints = npt.NDArray[np.int64]
Rows: TypeAlias = Callable[[int, int], npt.NDArray[np.floating]]
"""Scores of the queries from one place up to another, shape (queries, searched snippets)."""


def average_measures(data: TrainingData, part: MeasuredPart, rows: Rows) -> dict[str, float]:
    """The means of MEASURES over the part's queries."""
    column = {place: number for number, place in enumerate(data.searched)}
    matches = [sorted(column[place] for place in part.matches[query]) for query in part.queries]
    asked, ranks = rank_matches(rows, matches)
    ranked, ones = Ranked.of(asked, ranks, len(matches)), np.ones(len(asked), dtype=np.float64)
    return {name: float(np.mean(per_query(name, ranked, ones))) for name in MEASURES}


def rank_matches(rows: Rows, matches: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """The query and the rank of each match, shape (matches,); of equal scores the first snippet is first."""
    asked, ranks = list[int](), list[int]()
    for start in range(0, len(matches), QUERIES_AT_ONCE):
        scored = rows(start, min(start + QUERIES_AT_ONCE, len(matches)))
        for row, scores in enumerate(scored, start):
            for place in matches[row]:
                before = int((scores > scores[place]).sum()) + int((scores[:place] == scores[place]).sum())
                asked.append(row)
                ranks.append(before + 1)
    return np.array(asked, dtype=np.int64), np.array(ranks, dtype=np.int64)


def score_bm25(data: TrainingData, part: MeasuredPart) -> dict[str, float]:
    """What BM25, which learns nothing, reaches on the same queries and snippets."""
    index = BM25().fit([data.snippets[place] for place in data.searched])
    queries = [data.queries[query] for query in part.queries]
    return average_measures(data, part, lambda start, end: index.scores(queries[start:end]).raw)
