"""Duplicates: every pair that the rule names is found, and the first of a group stands for it."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.filters import bags as bags_module
from retrieval.filters.bags import Bags
from retrieval.filters.duplicates import (
    FEWEST_IDENTIFIERS,
    MULTISET_SIMILARITY,
    SET_SIMILARITY,
    count_identifiers,
    find_duplicate_groups,
    near_pairs,
)

LONG = "def total(prices, rate, region, month, year, table, key, extra): return rate * prices + region"
TEXTS = st.lists(st.sampled_from("abcdefghijkl"), min_size=8, max_size=14).map(" ".join)


def _jaccard(one: Counter[str], other: Counter[str]) -> float:
    """Of multisets: sum of the smaller ÷ sum of the larger counts; of sets, where each count is 1."""
    return (one & other).total() / (one | other).total()


@given(codes=st.lists(TEXTS, max_size=12))
def test_no_near_pair_is_missed(codes: list[str]) -> None:
    counted = {place: count_identifiers(code) for place, code in enumerate(codes)}
    expected = {
        (one, other)
        for one, other in combinations(counted, 2)
        if _jaccard(Counter(set(counted[one])), Counter(set(counted[other]))) >= SET_SIMILARITY
        and _jaccard(counted[one], counted[other]) >= MULTISET_SIMILARITY
    }
    bags = Bags()
    for place, count in counted.items():
        bags.add(place, count)
    with pytest.MonkeyPatch.context() as smaller:
        smaller.setattr(bags_module, "BAGS_AT_ONCE", 2)
        smaller.setattr(bags_module, "WORDS_AT_ONCE", 5)
        found = list(near_pairs(bags))
    assert set(found) == expected
    assert len(found) == len(expected)


@given(codes=st.lists(TEXTS, max_size=10))
def test_groups_part_the_snippets_and_keep_their_firsts(codes: list[str]) -> None:
    found = find_duplicate_groups(codes)
    places = [place for group in found for place in group]
    assert len(places) == len(set(places))
    assert all(group == sorted(group) and len(group) > 1 for group in found)


def test_blanks_do_not_matter_and_renaming_one_of_many_does_not() -> None:
    codes = ["x = 1", "x  =\n1", LONG, "y = 2", LONG.replace("month", "week"), LONG.replace("rate", "r")]
    assert find_duplicate_groups(codes) == [[0, 1], [2, 4, 5]]


def test_short_snippets_are_compared_as_texts() -> None:
    short = "a b c d"
    assert count_identifiers(short).total() < FEWEST_IDENTIFIERS
    assert find_duplicate_groups([short, "a b c d e", short]) == [[0, 2]]


def test_bags_are_used_up_and_a_count_is_capped() -> None:
    bags = Bags()
    bags.add(0, {"a": 70_000, "b": 1})
    bags.add(1, {"b": 1})
    taken = bags.taken()
    assert (taken.places.tolist(), taken.sizes.tolist(), taken.totals.tolist()) == (
        [1, 0],
        [1, 2],
        [1, 65_536],
    )
    assert taken.words.tolist() == [1, 0, 1], "the rarest word has the lowest number"
    assert len(bags.taken()) == 0
