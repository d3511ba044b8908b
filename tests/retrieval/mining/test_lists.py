"""Lists of parts, merged, are those of one search of everything."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.index import encode_in_memory, mine_best_snippets
from retrieval.mining.lists import Lists, lists_of, merge_hit_lists

TEXTS = [f"text {number}" for number in range(12)]


class Made:
    """Vectors of two dimensions drawn by the text: many of them are alike."""

    name, identity, dimension = "made", "made", 2

    def encode(self, texts, kind, progress=None):  # type: ignore[no-untyped-def]
        turns = np.array([sum(map(ord, text.strip())) % 5 for text in texts], dtype=np.float32)
        return np.stack([np.cos(turns), np.sin(turns)], axis=1).astype(np.float32)


def searched(snippets: list[str], start: int, k: int) -> Lists:
    encoder = Made()
    hits = mine_best_snippets(["a", "bc", "d"], snippets, [encoder], k, vectorise=encode_in_memory)
    return lists_of(hits, snippets, start, ["made"])


def rows(lists: Lists) -> list[tuple[int, int, int, float]]:
    return [
        (int(owner), int(rank), int(index), float(score))
        for owner, rank, index, score in zip(
            lists.owners, lists.ranks(), lists.indices, lists.scores, strict=True
        )
    ]


@given(st.lists(st.sampled_from(TEXTS), min_size=2, max_size=40), st.integers(1, 8), st.data())
@settings(max_examples=60)
def test_merged_parts_are_one_search(snippets: list[str], k: int, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(1, len(snippets) - 1), min_size=1, max_size=3)))
    edges = [0, *cuts, len(snippets)]
    found = searched(snippets[: edges[1]], 0, k)
    for start, stop in pairwise(edges[1:]):
        found = merge_hit_lists(found, searched(snippets[start:stop], start, k), k)
    whole = searched(snippets, 0, k)
    assert rows(found) == rows(whole)
    assert found.scores_of(["made"], 0) == whole.scores_of(["made"], 0)


def test_lists_are_stored_and_read_back() -> None:
    lists = searched(TEXTS, 7, 3)
    again = Lists.from_bytes(lists.to_bytes())
    assert rows(again) == rows(lists)
    assert (again.keys == lists.keys).all() and again.keys.dtype == np.uint64


def test_nothing_merges_with_nothing() -> None:
    nothing = lists_of([[], []], [], 0, ["made"])
    assert rows(merge_hit_lists(nothing, nothing, 3)) == []
    assert rows(merge_hit_lists(nothing, searched(TEXTS, 0, 2), 2)) == rows(searched(TEXTS, 0, 2))
