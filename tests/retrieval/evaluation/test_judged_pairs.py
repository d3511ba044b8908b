from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from retrieval.evaluation.judged_pairs import JudgedPairs


@given(
    st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=20),
    st.dictionaries(st.integers(0, 5), st.lists(st.integers(0, 7), max_size=5)),
)
def test_without_drops_these_places_of_these_queries_alone(
    judged: set[tuple[int, int]], dropped: dict[int, list[int]]
) -> None:
    table = np.array(sorted(judged), dtype=np.int64).reshape(len(judged), 2)
    pairs = JudgedPairs(table[:, 0], table[:, 1], np.arange(len(table), dtype=np.float64), {})
    left = pairs.without({query: np.array(places, dtype=np.int64) for query, places in dropped.items()})
    kept = [pair for pair in sorted(judged) if pair[1] not in dropped.get(pair[0], [])]
    assert list(zip(left.query.tolist(), left.place.tolist(), strict=True)) == kept
    assert [sorted(judged)[int(number)] for number in left.relevance] == kept
