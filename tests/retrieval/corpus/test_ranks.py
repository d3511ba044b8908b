from __future__ import annotations

from collections import Counter

import pytest

from retrieval.corpus.ranks import Counted, by_rank, of_benchmark
from retrieval.models import Benchmark


def test_shares_by_rank() -> None:
    counted = [Counted(2, 4, 4, 1), Counted(1, 4, 2, 1), Counted(3, 4, 0, 0)]
    first, second, third = by_rank(counted, Counter({1: 1, 2: 1}), 4)
    assert (first.match, first.reached, first.new) == (0.5, 0.25, 1)
    assert (second.match, second.reached, second.new) == (0.25, 0.5, 1)
    assert (third.match, third.reached) == (None, 0.5)  # unjudged is not 0


def test_nothing_is_nothing() -> None:
    assert by_rank([], Counter(), 0) == []


@pytest.mark.django_db
def test_a_benchmark_without_a_mining_has_no_ranks() -> None:
    assert of_benchmark(Benchmark(mining_id=None)) == []
