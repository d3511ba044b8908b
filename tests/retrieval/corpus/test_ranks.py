from __future__ import annotations

from collections import Counter

import pytest

from retrieval.corpus.ranks import Counted, by_rank, of_benchmark
from retrieval.evaluation.publication import Order, publish_benchmark
from retrieval.models import Annotator, Benchmark, Label, Pool
from tests import factories


def test_shares_by_rank() -> None:
    counted = [Counted(2, 4, 4, 1), Counted(1, 4, 2, 1), Counted(3, 4, 0, 0)]
    first, second, third = by_rank(counted, Counter({1: 1, 2: 1}), 4)
    assert (first.match, first.reached, first.new) == (0.5, 0.25, 1)
    assert (second.match, second.reached, second.new) == (0.25, 0.5, 1)
    assert (third.match, third.reached) == (None, 0.5)  # unjudged is not 0


def test_nothing_is_nothing() -> None:
    assert by_rank([], Counter(), 0) == []


@pytest.mark.django_db
def test_candidates_of_further_minings_count_once_at_the_rank_of_the_first() -> None:
    first = factories.mining()
    second = factories.mining()
    query = first.queries.members.get(position=0).text
    code = [member.text for member in first.snippets.members.order_by("position")]
    for rank in (1, 2):
        factories.candidate(first, query, code[rank], rank)
    for rank in (1, 2, 3):
        factories.candidate(second, query, code[3 - rank], rank)
    said = Annotator.objects.version(Annotator.Kind.AGENTS, "agents", {})
    found = first.candidates.get(rank=2)
    Label.objects.create(pair=found.pair, annotator=said, value=1)
    order = Order("made", first.queries, first.snippets, "a rule", first, [second], Pool.COLLECTION)
    made = publish_benchmark(order, Label.objects.all())
    told = [(row.rank, row.candidates, row.judged, row.matches) for row in of_benchmark(made)]
    assert told == [(1, 1, 0, 0), (2, 1, 1, 1), (3, 1, 0, 0)]


@pytest.mark.django_db
def test_a_benchmark_without_a_mining_has_no_ranks() -> None:
    assert of_benchmark(Benchmark(mining_id=None)) == []
