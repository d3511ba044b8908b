"""The order of a rater who takes every pair, as a pure choice: how far apart pairs of one query come."""

from __future__ import annotations

import random
from itertools import chain, repeat

import pytest

from annotation.studies.enrolment.pair_order import GAP, Offer, choose_spaced_offer, pressed_queries


def closest(sizes: list[int], seed: int) -> int:
    """The fewest places between two pairs of a query; `sizes` are how many pairs each query has."""
    queries = chain.from_iterable(repeat(query, size) for query, size in enumerate(sizes))
    offers = [Offer(key, key, query, 0) for key, query in enumerate(queries)]
    order: list[int] = []
    while offers:
        chosen = choose_spaced_offer(offers, order[::-1][: GAP - 1], seed, len(offers))
        assert chosen
        offers.remove(chosen)
        order.append(chosen.query)
    places = dict[int, int]()
    gaps = []
    for place, query in enumerate(order):
        gaps += [place - places[query]] if query in places else []
        places[query] = place
    return min(gaps)


@pytest.mark.parametrize("sizes", [[4] * 100, [5] * 31, [10] * 30, [20] + [1] * 600])
def test_pairs_of_a_query_are_thirty_apart_where_they_can_be(sizes: list[int]) -> None:
    assert closest(sizes, 3) >= GAP


@pytest.mark.parametrize("seed", range(12))
def test_queries_of_unlike_sizes_are_kept_apart_too(seed: int) -> None:
    chance = random.Random(seed)
    sizes = [5] * 4 + [chance.choice([1, 2, 3, 4]) for _ in range(60)]
    assert closest(sizes, seed) >= GAP


def test_one_pair_a_query_presses_nothing() -> None:
    assert pressed_queries([Offer(key, key, key, 0) for key in range(50)]) == frozenset()


def test_of_two_queries_that_both_have_to_come_both_are_named_in_time() -> None:
    pairs = [1, 1, 2, 2, *range(3, 31)]
    offers = [Offer(key, key, query, 0) for key, query in enumerate(pairs)]
    assert len(offers) == GAP + 2
    assert pressed_queries(offers) == {1, 2}, "one in the first place, one in the second"
