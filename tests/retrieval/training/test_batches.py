"""A batch of a query with two matches and one with a judged non-match."""

from __future__ import annotations

import numpy as np

from retrieval.training.batches import Collator, TokenizedExample


def tokens(*ids: int) -> np.ndarray:
    return np.array(ids, dtype=np.int32)


FIRST = TokenizedExample(tokens(5), [tokens(1, 2, 3), tokens(9)], [10, 12], frozenset({10, 11}))
SECOND = TokenizedExample(tokens(5, 6), [tokens(4)], [11], frozenset({10, 11}))
"""The same query's other match."""


def test_a_batch_is_padded_and_has_non_matches_behind_the_matches() -> None:
    batch = Collator(0, masks_matches=False)([FIRST, SECOND])
    assert batch["query_ids"].tolist() == [[5, 0], [5, 6]]
    assert batch["query_mask"].tolist() == [[1, 0], [1, 1]]
    assert batch["snippet_ids"].tolist() == [[1, 2, 3], [4, 0, 0], [9, 0, 0]]
    assert "ignored" not in batch


def test_other_matches_of_a_query_are_masked_and_its_own_one_never() -> None:
    batch = Collator(0, masks_matches=True)([FIRST, SECOND])
    # columns are the snippets 10, 11, 12: each query's other match is the other's column
    assert batch["ignored"].tolist() == [[False, True, False], [True, False, False]]
