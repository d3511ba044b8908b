"""Train, dev and test: shares, seeds, and what stays together."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from retrieval.exporting.splits import PARTS, build_split_report, by_repository, same_queries, split_queries

matches = st.lists(st.integers(0, 4), min_size=1, max_size=120)
seeds = st.integers(0, 2**32)


@given(matches, seeds)
def test_each_number_of_matches_is_shared_out_to_within_one(found: list[int], seed: int) -> None:
    parts = split_queries(range(len(found)), found, seed)
    for number, count in Counter(found).items():
        given_to = Counter(part for part, of in zip(parts, found, strict=True) if of == number)
        for part, share in enumerate((0.8, 0.1, 0.1)):
            assert abs(given_to[part] - share * count) <= 1


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), min_size=1, max_size=80), seeds)
def test_a_group_is_in_one_part_and_a_seed_gives_one_split(rows: list[tuple[int, int]], seed: int) -> None:
    groups, found = [group for group, _ in rows], [number for _, number in rows]
    parts = split_queries(groups, found, seed)
    assert parts == split_queries(groups, found, seed)
    assert set(parts) <= set(range(len(PARTS)))
    assert len(set(zip(groups, parts, strict=True))) == len(set(groups))


def test_another_seed_gives_another_split() -> None:
    assert split_queries(range(100), [1] * 100, 1) != split_queries(range(100), [1] * 100, 2)


def test_queries_in_other_words_are_one_group() -> None:
    queries = [
        "how to sort a list in python",
        "python sort list?",
        "Sort List",
        "reverse a list",
        "read csv file skip first empty header line pandas frame",
        "read csv file skip first empty header line pandas",
        "how to",
        "HOW TO",
    ]
    assert same_queries(queries) == [0, 0, 0, 3, 4, 4, 6, 6]


@given(st.lists(st.text(max_size=30), max_size=20))
def test_groups_are_named_by_their_first_and_hold_equal_queries(queries: list[str]) -> None:
    firsts = same_queries(queries)
    for place, first in enumerate(firsts):
        assert first <= place and firsts[first] == first
        assert firsts[queries.index(queries[place])] == first


def test_queries_with_matches_of_one_repository_are_one_group() -> None:
    assert by_repository([0, 1, 2, 2], [{"a", "b"}, {"b"}, {"c"}, set()]) == [0, 0, 2, 2]
    assert by_repository([0, 1, 2], [{"a"}, {"b"}, {"a", "b"}]) == [0, 0, 0]


def test_the_report_counts_what_parts_share() -> None:
    pairs = [(0, 0, True), (1, 0, True), (2, 1, True), (1, 1, False), (2, 2, False)]
    told = build_split_report([0, 1, 2], [0, 0, 2], [1, 1, 1], pairs, seed=7)
    assert (told.queries, told.groups) == ({"train": 1, "dev": 1, "test": 1}, 1)
    assert (told.shared, told.shared_matches) == (2, 1)
    assert told.strata == {1: {"train": 1, "dev": 1, "test": 1}}
